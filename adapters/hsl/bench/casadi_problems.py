#!/usr/bin/env python3
"""The problems of ipopt-problems through CasADi, whose wheel has an Ipopt 3.14 and derivatives of its own.

    casadi_problems.py --library libsaddle_hsl.so --problems PROGRAM [--size quick|full] [--group G] [--starts N] [NAME ...]

PROGRAM is ipopt-problems, which writes each problem as a list of terms (--write). Ipopt is run with mumps, and with
ma97 and ma27 through the option hsllib. Fails as ipopt-problems does. Where there is no CasADi (pip install
casadi) it exits with 77.

--starts N solves each problem from N starts, the given one and others that differ from it by 1e-15 of each number, and
compares the means: where iterations part by rounding, one start says nothing about a solver.
"""
import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import casadi as ca
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing} (pip install casadi)")
    sys.exit(77)

FUNCTIONS = [lambda x: x, lambda x: x**2, lambda x: x**3, lambda x: x**4, ca.sin, ca.cos, ca.exp, ca.log,
             lambda x: 1 / x, ca.sqrt]


def read_problem(path):
    """Bounds, start, and f and g as expressions: terms of the same shape are one vector."""
    with open(path, encoding="ascii") as file:
        n, m, terms, unique = map(int, file.readline().split())
        x_bounds = np.loadtxt(file, max_rows=n, ndmin=2)
        g_bounds = np.loadtxt(file, max_rows=m, ndmin=2) if m else np.zeros((0, 2))
        shapes = {}
        for _ in range(terms):
            words = file.readline().split()
            phi = tuple(int(w) for w in words[2::2])
            shapes.setdefault(phi, []).append((int(words[0]), float(words[1]), *map(int, words[3::2])))
    x = ca.MX.sym("x", n)
    f, g = ca.MX(0), ca.MX.zeros(m)
    for phi, rows in shapes.items():
        row = np.array([r[0] for r in rows])
        value = ca.MX(ca.DM([r[1] for r in rows]))
        for k, function in enumerate(phi):
            value = value * FUNCTIONS[function](x[[r[2 + k] for r in rows]])
        objective = [int(k) for k in np.flatnonzero(row < 0)]
        inside = [int(k) for k in np.flatnonzero(row >= 0)]
        if objective:
            f = f + ca.sum1(value[objective])
        if inside:
            collect = ca.DM.triplet([int(r) for r in row[inside]], list(range(len(inside))), ca.DM.ones(len(inside)),
                                    m, len(inside))
            g = g + ca.mtimes(collect, value[inside])
    return {"x": x, "f": f, "g": g}, x_bounds, g_bounds, bool(unique)


def starts_of(x_bounds, count):
    """The start, and others of which nobody can say that they are not the same."""
    random = np.random.default_rng(1)
    start = x_bounds[:, 2]
    return [start] + [start * (1 + 1e-15 * random.standard_normal(len(start))) for _ in range(count - 1)]


def run_all(nlp, x_bounds, g_bounds, solver, library, seconds, starts):
    """The first of the starts, with the mean iterations and seconds of all of them; solved if all are."""
    found = [run(nlp, start, x_bounds, g_bounds, solver, library, seconds) for start in starts]
    for name in ("iterations", "seconds"):
        found[0][name] = sum(one[name] for one in found) / len(found)
    found[0]["ok"] = all(one["ok"] for one in found)
    return found[0]


def run(nlp, start, x_bounds, g_bounds, solver, library, seconds):
    options = {"print_time": False, "record_time": True, "error_on_fail": False, "ipopt.print_level": 0, "ipopt.sb": "yes",
               "ipopt.linear_solver": solver, "ipopt.max_cpu_time": seconds}
    if solver != "mumps":
        options["ipopt.hsllib"] = library
    solve = ca.nlpsol("solve", "ipopt", nlp, options)
    found = solve(x0=start, lbx=x_bounds[:, 0], ubx=x_bounds[:, 1], lbg=g_bounds[:, 0], ubg=g_bounds[:, 1])
    stats = solve.stats()
    evaluations = sum(v for k, v in stats.items() if k.startswith("t_wall_nlp_"))
    return {"ok": stats["return_status"] in ("Solve_Succeeded", "Solved_To_Acceptable_Level"),
            "status": stats["return_status"], "iterations": stats["iter_count"],
            "seconds": stats["t_wall_total"] - evaluations, "f": float(found["f"]), "x": np.array(found["x"]).ravel()}


def fault(one, reference, unique):
    if not reference["ok"]:
        return None
    if not one["ok"]:
        return "not solved: " + one["status"]
    if abs(one["f"] - reference["f"]) > 1e-6 * max(1.0, abs(reference["f"])):
        return f"another objective, {one['f']:.9g} beside {reference['f']:.9g}"
    apart = np.max(np.abs(one["x"] - reference["x"])) / max(1.0, np.max(np.abs(reference["x"])))
    return f"another solution, by {apart:.1e}" if unique and apart > 1e-4 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--problems", required=True)
    parser.add_argument("--size", default="quick")
    parser.add_argument("--group")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("name", nargs="*")
    arguments = parser.parse_args()
    solvers = ["mumps", "ma97", "ma27"]
    digits = 0 if arguments.starts == 1 else 2
    iterations, wrong, ratios = dict.fromkeys(solvers, 0), 0, {s: [] for s in solvers}
    with tempfile.TemporaryDirectory() as folder:
        chosen = ["--group", arguments.group] if arguments.group else []
        subprocess.run([arguments.problems, "--library", "-", "--write", folder, "--size", arguments.size, *chosen,
                        *arguments.name], check=True)
        paths = sorted(pathlib.Path(folder).iterdir())
        print(f"{'problem':18s} {'n':>7s} {'m':>7s}" + "".join(f"  {s:>5s}  seconds" for s in solvers))
        for path in paths:
            nlp, x_bounds, g_bounds, unique = read_problem(path)
            starts = starts_of(x_bounds, arguments.starts)
            results = {s: run_all(nlp, x_bounds, g_bounds, s, arguments.library, arguments.seconds, starts) for s in solvers}
            reference = results["mumps"]
            line = f"{path.name[3:]:18s} {len(x_bounds):7d} {len(g_bounds):7d}"
            for s in solvers:
                one, what = results[s], fault(results[s], reference, unique)
                line += f"  {one['iterations']:5.{digits}f} {one['seconds']:8.3f}" + ("" if one["ok"] else f" ({one['status']})")
                line += f" FAILED: {what}" if what else ""
                wrong += bool(what)
                if one["ok"] and reference["ok"]:
                    iterations[s] += one["iterations"]
                    if len(x_bounds) >= 10000:
                        ratios[s].append(one["seconds"] / reference["seconds"])
            print(line, flush=True)
    for s in solvers:
        print(f"{s}: {iterations[s]:.{digits}f} iterations where MUMPS solves too" +
              (f", seconds outside evaluations beside MUMPS' {math.exp(np.mean(np.log(ratios[s]))):.3f} in the geometric "
               f"mean of {len(ratios[s])} large ones" if s != "mumps" and ratios[s] else ""))
        if iterations[s] > iterations["mumps"]:
            print(f"FAILED: {s} takes more iterations than MUMPS in the sum")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
