#!/usr/bin/env python3
"""Fits the model of device auto (src/solver/policy.h) to measured times, and says what it is worth.

    bench/device_model.py [FIGURES]     tests/data/device/figures.tsv, which says where its figures are from
    bench/device_model.py RUN.json      what `saddle bench direct --device cuda --part auto --json RUN.json` measured

Prints the constants of a fit to all systems, those of src/solver/policy.c; for each system with both times what they
predict and how much longer the device that they choose takes than the better one; and the same of fits to one half of the
systems for the other half. Errors are relative, constants not negative. The costs of an operation where there are very
many are not fitted but measured: 454 Gflop/s (lap3d_60, 16 threads) and 19 Tflop/s (lap3d_120 on the GPU). Systems
whose small pivots were looked at are left out of the fit: what that costs is in their times but not in the model of
the CPU. (A run does not tell them: there all are fitted.)
"""
import json
import pathlib
import random
import sys

HOST, GPU = ("rows", "entries", "critical"), ("one", "fronts", "levels", "critical", "delayed")
FLOP = {HOST: 2.2e-9, GPU: 5.2e-11}  # milliseconds
SUSPECT, AGAIN = 0.04, 400.0  # milliseconds of the GPU: lp_bnl2, mip_air04
FIRST = 35  # systems of the figures with both times in one run


def read_run(path):
    """Systems of a benchmark; its tables count each entry of the diagonal once, the model twice."""
    def system(row):
        own = row["saddle"]
        return {"system": row["name"], "one": 1.0, "rows": row["n"], "entries": row["nnz"] + row["n"],
                "fronts": own["fronts"], "levels": own["levels"], "flops": own["flops"],
                "critical": own["critical_flops"], "delayed": own["delayed"], "suspects": 0, "again": 0,
                "cpu": 1e3 * own["on_cpu"], "gpu": 1e3 * own["on_gpu"]}
    rows = json.load(open(path))["rows"]
    return [system(row) for row in rows if row["saddle"]["on_cpu"]]


def read(path):
    names, systems = None, []
    for line in open(path):
        fields = line.rstrip("\n").lstrip("#").split("\t")
        if line.startswith("#system"):
            names = fields
        elif not line.startswith("#"):
            one = {name: float("nan") if field == "-" else float(field) for name, field in zip(names[1:], fields[1:])}
            systems.append({"system": fields[0], "one": 1.0, **one})
    return systems


def fit(systems, counts, time):
    """Constants of the counts, not negative: coordinate by coordinate, which is enough for so few."""
    used = [s for s in systems if s[time] == s[time]]
    rows = [[s[c] / s[time] for c in counts] for s in used]
    rest = [1 - FLOP[counts] * s["flops"] / s[time] for s in used]
    gram = [[sum(r[a] * r[b] for r in rows) for b in range(len(counts))] for a in range(len(counts))]
    right = [sum(r[a] * q for r, q in zip(rows, rest)) for a in range(len(counts))]
    x = [0.0] * len(counts)
    for _ in range(5000):
        for k in (k for k in range(len(x)) if gram[k][k] > 0):
            x[k] = max(0.0, x[k] + (right[k] - sum(g * v for g, v in zip(gram[k], x))) / gram[k][k])
    return x


def predict(constants, counts, s):
    time = FLOP[counts] * s["flops"] + sum(k * s[c] for k, c in zip(constants, counts))
    return time + (SUSPECT * s["suspects"] + AGAIN * s["again"] if counts is GPU else 0)


def losses(host, gpu, systems):
    """(how much longer than the better device, system, predicted on CPU and GPU), the worst first."""
    def loss(s):
        cpu, other = predict(host, HOST, s), predict(gpu, GPU, s)
        return (s["gpu"] if other < cpu else s["cpu"]) / min(s["cpu"], s["gpu"]), s["system"], cpu, other, s
    return sorted((loss(s) for s in systems), key=lambda one: -one[0])


def main(path):
    run = str(path).endswith(".json")
    systems = read_run(path) if run else read(path)
    first, large = (systems, []) if run else (systems[:FIRST], systems[FIRST:])
    plain = [s for s in first if s["suspects"] == 0]
    host, gpu = fit(plain + large, HOST, "cpu"), fit(plain + large, GPU, "gpu")
    print("ms on the CPU: " + ", ".join(f"{c} {k:.3g}" for c, k in zip(HOST, host)))
    print("ms on the GPU: " + ", ".join(f"{c} {k:.3g}" for c, k in zip(GPU, gpu)))
    print(f"\n{'system':28s}{'CPU':>9s}{'predicted':>11s}{'GPU':>9s}{'predicted':>11s}  goes to  / better")
    for ratio, name, cpu, other, s in losses(host, gpu, first):
        where = "GPU" if other < cpu else "CPU"
        print(f"{name:28s}{s['cpu']:9.2f}{cpu:11.2f}{s['gpu']:9.2f}{other:11.2f}  {where:7s}{ratio:10.2f}")
    print("\nfitted to half of the systems (and the large ones), the worst of the other half:")
    random.seed(1)
    worst = []
    for _ in range(30):
        random.shuffle(plain)
        half = plain[:len(plain) // 2] + large
        others = plain[len(plain) // 2:]
        worst.append(losses(fit(half, HOST, "cpu"), fit(half, GPU, "gpu"), others)[0][:2])
    worst.sort(reverse=True)
    print(f"{sum(ratio <= 1.3 for ratio, _ in worst)} of {len(worst)} halves at most 1.3; the worst: "
          + ", ".join(f"{name} {ratio:.2f}" for ratio, name in worst[:3]))


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    main(sys.argv[1] if len(sys.argv) > 1 else here / "tests/data/device/figures.tsv")
