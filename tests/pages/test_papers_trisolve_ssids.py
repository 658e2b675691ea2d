#!/usr/bin/env python3
"""The judges of bench/pages/papers/trisolve.py and ssids.py on made-up results: what they read, and how they decide.

    python3 tests/pages/test_papers_trisolve_ssids.py
"""
import pathlib
import sys
import unittest

PAGES = pathlib.Path(__file__).resolve().parents[2] / "bench" / "pages"
sys.path.insert(0, str(PAGES))
sys.dont_write_bytecode = True

import draw  # noqa: E402, F401  an interpreter that has matplotlib
import content  # noqa: E402
import judging  # noqa: E402
import matrices  # noqa: E402
from model import FAILS, HOLDS, PARTLY, UNMEASURED, Choice, Result, Results  # noqa: E402
from papers import ssids, ssids_claims, ssids_problems, ssids_results  # noqa: E402
from papers import trisolve, trisolve_claims, trisolve_matrices, trisolve_results  # noqa: E402


def results(found, device=""):
    return Results(Result(step, data, "", 1.0, f"saddle bench {step} {device}") for step, data in found.items())


def exact(iterations=10, solve=1.0, solved=True, levels=100):
    return {"solved": solved, "iterations": iterations, "solve": solve, "levels": levels, "application": 0.1}


def sweeps(points):
    """[(iterations, seconds, residual)] with 1, 2 ... sweeps, as Saddle counts them."""
    return [{"sweeps": k, "iterations": i, "solve": s, "trisolve_residual": r, "why": None} for k,
            (i, s, r) in enumerate(points, 1)]


def figure(name, series, matrix="m"):
    """Of Figures 1 to 5: series [(level, block, exact, points)]."""
    return {name: [{"name": matrix, "n": 100, "late": False, "series": [
        {"level": level, "block_size": block, "exact": e, "sweeps": sweeps(p)} for level, block, e, p in series]}]}


def way(solved=True, sweeps_=4, solve=0.5, late=False, iterations=12):
    return {"solved": solved, "late": late, "sweeps": sweeps_ if solved else None, "solve": solve if solved else None,
            "iterations": iterations, "blocking": None, "failed": {} if solved else {"adjacent": "3 sweeps: iteration limit"}}


def table1(rows):
    """Rows (name, level, shifted, entries, blocks)."""
    return {"table1": {"rows": [{"name": n, "level": k, "shifted": s, "exact": exact(), "entries": e, "blocks_12": b}
                                for n, k, s, e, b in rows]}}


class Judging(unittest.TestCase):
    def test_rank_correlation_takes_ties_and_refuses_too_little(self):
        self.assertAlmostEqual(judging.rank_correlation([(1, 10), (2, 30), (3, 90)]), 1)
        self.assertAlmostEqual(judging.rank_correlation([(1, 9), (2, 5), (3, 1)]), -1)
        self.assertAlmostEqual(judging.rank_correlation([(1, 1), (1, 2), (2, 3), (2, 4)]), 0.8944271909999159)
        self.assertIsNone(judging.rank_correlation([(1, 2), (2, 3)]))
        self.assertIsNone(judging.rank_correlation([(1, 2), (2, 2), (3, 2)]))

    def test_verdicts_by_thresholds(self):
        self.assertEqual([judging.graded(v, 2, 1) for v in (2, 1.5, 0.5)], [HOLDS, PARTLY, FAILS])
        self.assertEqual([judging.all_or_some(t) for t in ([1, 1], [1, 0], [0, 0])], [HOLDS, PARTLY, FAILS])

    def test_reasons_are_for_what_does_not_hold(self):
        judged = [judging.by_share(s, "figures", "why") for s in (0.9, 0.5, 0.4)]
        self.assertEqual([(j.verdict, j.why) for j in judged], [(HOLDS, ""), (PARTLY, "why"), (FAILS, "why")])
        judged = [judging.by_factor(f, 5, "figures", "why") for f in (4.0, 1.05, 1.0)]
        self.assertEqual([(j.verdict, j.why) for j in judged], [(HOLDS, ""), (PARTLY, "why"), (FAILS, "why")])

    def test_words(self):
        self.assertEqual([judging.times(v) for v in (None, 0.451, 1.62, 12.3, 3e6, float("inf"))],
                         ["–", "0.45", "1.6", "12", "3e+06", "∞"])
        self.assertEqual([judging.span(v) for v in ([1.6, 0.45], [2.0, 2.0])], ["0.45 to 1.6", "2.0"])
        self.assertEqual([judging.listed("abc", most) for most in (3, 2)], ["a, b, c", "a, b and 1 more"])
        self.assertEqual([judging.median(v for v in some) for some in ((), (1, 4, 2))], [None, 2])

    def test_no_results_no_verdict(self):
        for subject in (trisolve.SUBJECT, ssids.SUBJECT):
            for claim in subject.claims:
                self.assertEqual(claim.judge(Results([])).verdict, UNMEASURED, claim.text)
            for part in subject.parts:
                self.assertEqual(part.show(Results([])), [], part.number)

    def test_every_claim_leads_to_a_part_and_every_step_to_one(self):
        for subject in (trisolve.SUBJECT, ssids.SUBJECT):
            numbers = [p.number for p in subject.parts]
            self.assertEqual([c.part for c in subject.claims if c.part not in numbers], [])
            for device in ("cpu", "cuda"):
                steps = subject.steps(Choice(device=device))
                self.assertEqual(len({s.name for s in steps}), len(steps))
                self.assertEqual([s.name for s in steps if s.name.split("/")[0] not in ("first", "second")
                                  and not any(content.reads(p, s) for p in subject.parts)], [])
                self.assertTrue(all(s.limit < 100 for s in steps if "cuda" in s.words))


class Trisolve(unittest.TestCase):
    def judge(self, claim, found, device=""):
        verdict = claim(results(found, device))
        return verdict.verdict, verdict

    def test_sweeps_are_counted_as_in_the_paper(self):
        curve = trisolve_results.curves(results({"figure1/m": figure("figure1",
                                                                     [(0, 0, exact(), [(20, 2.0, 0.5), (10, 0.8, 0.2)])])}),
                                        "figure1")[0]
        self.assertEqual([p.sweeps for p in curve.points], [0, 1])
        self.assertEqual((curve.best().sweeps, curve.matching(), curve.speedup()), (1, 1, 1.25))

    def test_iterations_approach_those_of_exact_solves(self):
        both = {"figure1/m": figure("figure1", [(0, 0, exact(10), [(40, 2, 0.5), (11, 1, 0.1)])]),
                "figure2/k": figure("figure2", [(0, 0, exact(10), [(40, 2, 0.5), (11, 1, 0.01)])], "k")}
        for names, verdict in ((("figure1/m",), HOLDS), (("figure2/k",), FAILS), (tuple(both), PARTLY)):
            said = trisolve_claims.inaccurate_solves_do(results({n: both[n] for n in names}))
            self.assertEqual(said.verdict, verdict)
        self.assertEqual(said.figures, "m: divided by 5.0 after 1 sweep (0.5 to 0.1); k: divided by 50 after 1 sweep (0.5 to "
                                       "0.01).")
        good = {"figure1/m": figure("figure1", [(0, 0, exact(10), [(40, 1, 0.5), (11, 1, 0.1)])])}
        self.assertEqual(self.judge(trisolve_claims.approaches_exact, good)[0], HOLDS)
        bad = {"figure2/m": figure("figure2", [(0, 0, exact(10), [(40, 1, 0.5), (30, 1, 0.1)])])}
        self.assertEqual(self.judge(trisolve_claims.approaches_exact, bad)[0], FAILS)
        self.assertEqual(self.judge(trisolve_claims.approaches_exact, {**good, **bad})[0], PARTLY)

    def test_speed_is_judged_on_a_gpu_alone(self):
        found = {"figure1/m": figure("figure1", [(0, 0, exact(10, 4.0), [(12, 1.0, 0.5)])])}
        self.assertEqual(self.judge(trisolve_claims.examples_speed, found)[0], UNMEASURED)
        self.assertIn("4.00", self.judge(trisolve_claims.examples_speed, found)[1].figures)
        self.assertEqual(self.judge(trisolve_claims.examples_speed, found, "--device cuda")[0], HOLDS)
        slow = {"figure1/m": figure("figure1", [(0, 0, exact(10, 1.0), [(12, 2.0, 0.5)])]),
                "cusparse/m": {"cusparse": [{"level": 0, "sweep": 0.01, "exact": exact(), "cusparse": {"application": 1.0}}]}}
        verdict = self.judge(trisolve_claims.examples_speed, slow, "--device cuda")
        self.assertEqual(verdict[0], FAILS)
        self.assertIn("50 ms", verdict[1].why)
        self.assertEqual(self.judge(trisolve_claims.cheap_sweep, slow, "--device cuda")[0], HOLDS)

    def test_entries_diverge_and_blocks_do_not(self):
        entries, blocks = [(None, None, 1.0), (None, None, 1e6), (None, None, None)], [(None, None, 1.0), (None, None, 5.0)]
        found = {"figure3/m": figure("figure3", [(1, 0, exact(), entries), (1, 12, exact(), blocks)])}
        self.assertEqual(self.judge(trisolve_claims.scalar_diverges_first, found)[0], HOLDS)
        self.assertIn("from 2 on", self.judge(trisolve_claims.scalar_diverges_first, found)[1].figures)
        self.assertEqual(self.judge(trisolve_claims.blocks_grow_less, found)[0], HOLDS)
        tame = {"figure3/m": figure("figure3", [(1, 0, exact(), blocks), (1, 12, exact(), blocks)])}
        self.assertEqual(self.judge(trisolve_claims.scalar_diverges_first, tame)[0], FAILS)
        self.assertTrue(self.judge(trisolve_claims.scalar_diverges_first, tame)[1].why)
        self.assertEqual(self.judge(trisolve_claims.blocks_grow_less, tame)[0], UNMEASURED)
        wild = {"figure3/m": figure("figure3", [(1, 0, exact(), entries), (1, 12, exact(), entries)])}
        self.assertEqual(self.judge(trisolve_claims.blocks_grow_less, wild)[0], FAILS)
        self.assertIn("bcsstk24 is missing", self.judge(trisolve_claims.blocks_grow_less, wild)[1].why)

    def test_levels_of_fill(self):
        def level(k, needed):
            return (k, 0, exact(10), [(30 if s < needed else 10, 1.0 + abs(s - needed), 0.1) for s in range(1, 9)])
        grows = {"figure5/m": figure("figure5", [level(0, 2), level(1, 4), level(2, 6)])}
        for judge in (trisolve_claims.more_fill_more_sweeps, trisolve_claims.more_fill_best_sweeps):
            self.assertEqual(self.judge(judge, grows)[0], HOLDS)
        falls = {"figure5/m": figure("figure5", [level(0, 6), level(1, 4)])}
        for judge in (trisolve_claims.more_fill_more_sweeps, trisolve_claims.more_fill_best_sweeps):
            self.assertEqual(self.judge(judge, falls)[0], FAILS)

    def test_table_1_leaves_out_what_is_shifted_and_counts_what_is_not_decided_as_not_solved(self):
        rows = [("a", 0, False, way(), way()), ("b", 0, False, way(False, late=True), way()),
                ("c", 0, True, way(False), way(False))]
        found = {"table1/x": table1(rows)}
        share, text = trisolve_claims.shares(results(found), 0)
        self.assertEqual(share, {"entries": 50, "blocks_12": 100})
        self.assertIn("1 not decided", text)
        judge = trisolve_claims.table1(0, {"entries": 84, "blocks_12": 94})
        self.assertEqual(self.judge(judge, found)[0], PARTLY)
        self.assertEqual(self.judge(judge, {"table1/x": table1(rows[:1])})[0], HOLDS)
        self.assertEqual(self.judge(trisolve_claims.blocks_are_more_robust, found)[0], HOLDS)
        other = {"table1/x": table1([("a", 0, False, way(), way(False)), ("a", 1, False, way(), way())])}
        verdict = self.judge(trisolve_claims.blocks_are_more_robust, other)
        self.assertEqual(verdict[0], FAILS)
        self.assertIn("iteration limit", verdict[1].why)

    def test_speed_ups_by_device(self):
        rows = [(str(k), level, False, way(solve=0.05), way(solve=0.04)) for k in range(5) for level in (0, 1)]
        found = {"best/x": table1(rows)}
        self.assertEqual(self.judge(trisolve_claims.large_speedups, found)[0], UNMEASURED)
        self.assertEqual(self.judge(trisolve_claims.large_speedups, found, "--device cuda")[0], HOLDS)
        self.assertEqual(self.judge(trisolve_claims.low_parallelism, found)[0], FAILS)
        slow = {"best/x": table1([(n, k, s, way(solve=2), way(solve=3)) for n, k, s, _, _ in rows])}
        self.assertEqual(self.judge(trisolve_claims.low_parallelism, slow)[0], HOLDS)
        self.assertEqual(self.judge(trisolve_claims.low_parallelism, slow, "--device cuda")[0], UNMEASURED)
        self.assertEqual(self.judge(trisolve_claims.blocks_slow_fewer, slow, "--device cuda")[0], FAILS)

    def test_orders(self):
        def order(title, iterations, levels, points):
            return {"level": 0, "order": title, "exact": exact(iterations, levels=levels), "sweeps": [
                {"sweeps": k, "iterations": i, "solve": s} for k, (i, s) in enumerate(points, 1)]}
        found = {"orders/m": {"tables2to5": [{"name": "m", "n": 9, "orders": [
            order("RCM", 10, 100, [(12, 1)]), order("PB", 20, 50, [(40, 1), (21, 0.5)]), order("PBD", 30, 150, [(60, 1)]),
            order("METIS", 30, 90, [(60, 2)])]}]}}
        self.assertEqual(self.judge(trisolve_claims.rcm_needs_fewest, found)[0], HOLDS)
        self.assertEqual(self.judge(trisolve_claims.orders_change_levels, found)[0], HOLDS)
        self.assertEqual(self.judge(trisolve_claims.under_ten_sweeps, found)[0], PARTLY)
        self.assertEqual(self.judge(trisolve_claims.metis_slower, found)[0], HOLDS)
        self.assertEqual(self.judge(trisolve_claims.orders_speed, found, "--device cuda")[0], PARTLY)
        for part in ("Table 2", "Table 3", "Figure 9"):
            self.assertTrue(next(p for p in trisolve.SUBJECT.parts if p.number == part).show(results(found)), part)

    def test_the_lists_of_the_paper(self):
        self.assertEqual([sum(level in m[3] for m in trisolve_matrices.PAPER) for level in "01"], [69, 78])
        tested = trisolve_matrices.tested(Choice())
        self.assertEqual(len(tested), len({matrices.label(o) for o in tested}))


def direct(factor, mumps=None, ldl=None, ll=None, negative=0, delayed=0, flops=1e9, n=1000, error=1e-15):
    s = {"error": None, "factor": factor, "flops": flops, "solve": 1e-3, "factor_ldlt": ldl, "factor_cholesky": ll,
         "negative": negative,
         "delayed": delayed, "two_by_two": 0, "backward_error": error, "backward_error_refined": 1e-16, "factor_nnz": 5}
    return {"rows": [{"name": "m", "n": n, "saddle": s, "mumps": {"factor": mumps, "solve": 2e-3}, "dgemm_gigaflops": 50}]}


def tree(fronts, entries, flops=(30, 1, 69)):
    """fronts: [(from, count, flops)]."""
    return {"rows": [{"name": "m", "n": 100, "fronts": sum(c for _, c, _ in fronts), "leaves": 1, "largest": fronts[-1][0],
                      "factor_nnz": 10,
                      "flops": dict(zip(("factor", "assembly", "contribution"), flops)),
                      "entries": dict(zip(("all", "none", "one", "several", "waiting"), entries)),
                      "sizes": [{"from": f, "to": 2 * f - 1, "fronts": c, "flops": w} for f, c, w in fronts]}]}


class Ssids(unittest.TestCase):
    def verdict(self, claim, found):
        return claim(results(found)).verdict

    def test_what_failed_is_left_out(self):
        bad = direct(1.0)
        bad["rows"][0]["saddle"]["error"] = "singular"
        self.assertEqual(ssids_results.rows(results({"direct/m": bad, "direct/k": direct(1.0)}), "direct").keys(), {"k"})

    def test_the_gpu_beside_the_cpu(self):
        found = {f"{kind}/{k}": direct(t * (1 if kind == "direct" else 0.1), flops=10.0**(9 + k))
                 for k, t in enumerate((1.0, 3.0, 5.0)) for kind in ("direct", "factor")}
        self.assertEqual([round(t.faster) for t in ssids_results.times(results(found))], [10, 10, 10])
        self.assertEqual(self.verdict(ssids_claims.faster_than_cpu, found), HOLDS)
        self.assertEqual(self.verdict(ssids_claims.most_twice, found), HOLDS)
        alone = {k: v for k, v in found.items() if k.startswith("direct")}
        self.assertEqual(self.verdict(ssids_claims.faster_than_cpu, alone), UNMEASURED)
        self.assertEqual(self.verdict(ssids_claims.rate_grows, alone), HOLDS)
        slow = {k: direct(1.0) for k in found}
        self.assertEqual(self.verdict(ssids_claims.faster_than_cpu, slow), FAILS)
        self.assertEqual(self.verdict(ssids_claims.most_twice, slow), FAILS)

    def test_cost_of_pivoting(self):
        self.assertEqual(self.verdict(ssids_claims.cost_on_cpu, {"direct/m": direct(1, ldl=1.1, ll=1)}), HOLDS)
        self.assertEqual(self.verdict(ssids_claims.cost_on_cpu, {"direct/m": direct(1, ldl=1.25, ll=1)}), PARTLY)
        self.assertEqual(self.verdict(ssids_claims.cost_on_cpu, {"direct/m": direct(1, ldl=1.9, ll=1)}), FAILS)
        self.assertEqual(self.verdict(ssids_claims.cost_on_gpu, {"direct/m": direct(1, ldl=1.1, ll=1)}), UNMEASURED)
        self.assertEqual(self.verdict(ssids_claims.cost_on_gpu, {"pivoting/m": direct(1, ldl=1.12, ll=1)}), HOLDS)

    def test_delays_of_indefinite_problems(self):
        few, many = direct(1, negative=5, delayed=10), direct(1, negative=5, delayed=400)
        definite = direct(1, negative=0, delayed=0)
        self.assertEqual(self.verdict(ssids_claims.delays_are_few, {"direct/a": few, "direct/b": definite}), HOLDS)
        self.assertEqual(self.verdict(ssids_claims.delays_are_few, {"direct/a": few, "direct/b": many}), PARTLY)
        self.assertEqual(self.verdict(ssids_claims.delays_are_few, {"direct/b": many, "direct/c": definite}), FAILS)

    def test_the_tree(self):
        like_paper = {"fronts/m": tree([(4, 90, 1), (64, 9, 4), (128, 1, 95)], (100, 20, 77, 3, 60))}
        other = {"fronts/m": tree([(64, 9, 50), (128, 9, 50)], (100, 20, 40, 40, 1), (80, 1, 19))}
        for claim in (ssids_claims.many_small_few_large, ssids_claims.several_children_rare, ssids_claims.waiting_common,
                      ssids_claims.contributions_dominate):
            self.assertEqual(self.verdict(claim, like_paper), HOLDS, claim)
            self.assertEqual(self.verdict(claim, other), FAILS, claim)

    def test_the_split_of_the_time(self):
        profile = direct(1)
        profile["rows"][0]["saddle"].update(profile_factor=6, profile_assembly=1, profile_contribution=2, profile_other=1,
                                            tiles=[0, 0, 0, 0, 0, 0, 0, 30, 70])
        found = {"profile/m": profile, "fronts/m": tree([(4, 1, 1)], (1, 1, 0, 0, 0), (20, 1, 79))}
        self.assertEqual(self.verdict(ssids_claims.columns_take_longest, found), HOLDS)
        self.assertEqual(self.verdict(ssids_claims.contributions_run_faster, found), HOLDS)
        self.assertEqual(self.verdict(ssids_claims.tiles_accepted, found), HOLDS)
        profile["rows"][0]["saddle"].update(profile_factor=2, profile_contribution=50, tiles=[60, 0, 0, 0, 0, 0, 0, 0, 40])
        for claim in (ssids_claims.columns_take_longest, ssids_claims.contributions_run_faster, ssids_claims.tiles_accepted):
            self.assertEqual(self.verdict(claim, found), FAILS, claim)

    def test_presolve(self):
        def presolve(factor, solve):
            row = direct(1)
            row["rows"][0]["saddle"]["presolve"] = {"off": {"factor": 1.0, "solve": 0.1}, "band": {"factor": 1.0, "solve": 0.1},
                                                    "whole": {"factor": factor, "solve": solve}}
            return {"presolve/m": row}
        self.assertEqual(ssids_results.presolves(results(presolve(1.2, 0.08)))[0].pays_at(), (1.2 - 1.0) / (0.1 - 0.08))
        self.assertEqual(self.verdict(ssids_claims.presolve_price, presolve(1.2, 0.05)), HOLDS)
        self.assertEqual(self.verdict(ssids_claims.presolve_price, presolve(2.0, 0.05)), FAILS)
        self.assertEqual(self.verdict(ssids_claims.presolve_pays, presolve(1.3, 0.04)), HOLDS)
        self.assertEqual(self.verdict(ssids_claims.presolve_pays, presolve(1.3, 0.2)), FAILS)

    def test_bits(self):
        found = {"first/m": direct(1), "second/m": direct(2)}
        self.assertEqual(self.verdict(ssids_claims.same_bits, found), HOLDS)
        found["second/m"] = direct(1, error=1.0000000000000002e-15)
        self.assertEqual(self.verdict(ssids_claims.same_bits, found), FAILS)

    def test_stability(self):
        self.assertEqual(self.verdict(ssids_claims.stable, {"direct/m": direct(1)}), HOLDS)
        self.assertEqual(self.verdict(ssids_claims.stable, {"direct/m": direct(1, error=1e-3)}), FAILS)

    def test_what_stands_in_for_what(self):
        self.assertEqual(ssids_problems.problem_of("ncvxqp3").number, 7)
        self.assertEqual(ssids_problems.problem_of("lap2d_1000").name, "ecology1")
        self.assertIsNone(ssids_problems.problem_of("unknown"))
        self.assertEqual(len(ssids_problems.PAPER), 35)
        found = results({"fronts/lap3d_60": tree([(4, 1, 1)], (1, 1, 0, 0, 0))})
        apache = next(p for p in ssids_problems.PAPER if p.name == "apache2")
        self.assertEqual(ssids_problems.run_for(apache, found, "fronts"), "lap3d_60")


if __name__ == "__main__":
    unittest.main()
