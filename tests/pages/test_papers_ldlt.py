"""The judges of Stretching Jacobi and of batched Gauss-Huard, on results that nobody measured."""
import pathlib
import sys
import unittest

PAGES = pathlib.Path(__file__).resolve().parents[2] / "bench" / "pages"
sys.path.insert(0, str(PAGES))
sys.dont_write_bytecode = True

from model import FAILS, HOLDS, PARTLY, UNMEASURED, Choice, Result, Results  # noqa: E402
from papers import huard, huard_claims, stretching, stretching_claims  # noqa: E402


def row(name, seconds, version="default", **more):
    return {"part": "kernels", "work": "factor", "who": "saddle", "name": name, "version": version, "precision": "single", "size": 32,
            "batch": 10000, "rows": 320000, "seconds": seconds, "bytes": 8e7, "flops": 2e8, "residual": 1e-7, "replaced": 0,
            "two_by_two": 0, "nanoseconds_a_block": 1e5 * seconds, "copies": 1e3 * seconds, "peer": "getrf", "times_as_fast": 1.41e-3 / seconds,
            "percent_of_peak": 30.0, "percent_of_floor": 50.0, **more}


def blocks(rows, device="cpu", solves=(), break_even=()):
    return {"device": device, "machine": "a machine", "rows": list(rows), "solves": list(solves), "break_even": list(break_even)}


def results(**steps):
    return Results(Result(name.replace("__", "/"), data) for name, data in steps.items())


def solve(kernel, size, iterations, factor=1.0, time=1.0, solved=True):
    return {"kernel": kernel, "block_size": size, "solved": solved, "iterations": iterations, "factor": factor, "solve": time, "n": 10,
            "replaced": 0, "reason": "took too long" if not solved else "converged"}


def ablation(name="lap2d_5", jacobi=1.0, ldlt=1.0, **more):
    def method(error):
        return {"epsilon": [error] * 4, "block_size": [error] * 6, "table": {"backward_error": error, "relative_residual": error, "setup": 1.0},
                "static": [error] * 2, "bunch-kaufman": [error] * 2, "complete": [error] * 2, "pivoting": [
                    {"pivot": p, "push_back": b, "blocks": 9, "pushed_back": 2, "generations": 1, "levels": 3, "perturbed": 0,
                     "reconstruction_error": error} for p in ("static", "bunch-kaufman", "complete") for b in (True, False)]}
    one = {"name": name, "dominance_grid": [-9.0, -3.0, 1.0], "dominance_clusters": [-2.0, 1.0, 2.0], "jacobi": method(jacobi),
           "ldlt": method(ldlt), "defaults": {"backward_error": 1e-15, "relative_residual": 1e-15, "setup": 1.0}, "sweeps": {
               o: {"error": [jacobi] * 16, "pattern_residual": [jacobi] * 16} for o in ("block", "row")},
           "factor_seconds": {"exact": 1.0, "block sweeps": 8.0, "row sweeps": 8.0, "ldlt, defaults": 1.0}}
    one["factor_again_seconds"] = dict(one["factor_seconds"])
    return {"device": "cpu", "rows": [{**one, **more}]}


class Stretching(unittest.TestCase):
    def kernels(self, full, device="cpu", more=()):
        return results(kernels__32=blocks([row("ldu", 0.28e-3), row("ldu-partial", 0.39e-3), row("ldu-full", full),
                                           row("getrf", 1.41e-3, who="lapack"), *more], device))

    def test_the_papers_own_times_hold(self):
        found = self.kernels(0.60e-3)
        for judge in (stretching_claims.full_over_partial, stretching_claims.partial_over_static, stretching_claims.on_par,
                      stretching_claims.faster_than_peer("ldu-partial", 3.6, "0.39")):
            self.assertEqual(judge(found).verdict, HOLDS)

    def test_a_slow_full_pivoting_does_not_hold_and_says_why(self):
        judged = stretching_claims.full_over_partial(self.kernels(1.2e-3))
        self.assertEqual(judged.verdict, FAILS)
        self.assertIn("3.08 times", judged.figures)
        self.assertTrue(judged.why)
        self.assertEqual(stretching_claims.full_over_partial(self.kernels(0.7e-3)).verdict, PARTLY)

    def test_full_pivoting_beside_static(self):
        rows = [row(n, s, precision=p, two_by_two=t) for p in ("single", "double")
                for n, s, t in (("ldlt-static", 1e-3, 80000), ("ldlt-complete", 2e-3, 40000))]
        judged = stretching_claims.complete_over_static(self.kernels(0.6e-3, more=rows))
        self.assertEqual(judged.verdict, FAILS)
        self.assertIn("At 32 rows static pivoting takes 1.0 copies of the batch, full pivoting 2.0; 33 % of the one's", judged.why)
        self.assertIn("14 % of the other's", judged.why)

    def test_versions_are_of_a_gpu(self):
        self.assertEqual(stretching_claims.registers_win(self.kernels(0.6e-3)).verdict, UNMEASURED)
        both = [row(n, s, v) for n in stretching_claims.LDU_LLT for v, s in (("registers", 1e-3), ("shared", 2e-3))]
        self.assertEqual(stretching_claims.registers_win(self.kernels(0.6e-3, "cuda", both)).verdict, HOLDS)
        worse = [row(n, s, v) for n in stretching_claims.LDU_LLT for v, s in (("registers", 3e-3), ("shared", 2e-3))]
        self.assertEqual(stretching_claims.registers_win(self.kernels(0.6e-3, "cuda", worse)).verdict, FAILS)

    def test_sweeps_beside_the_exact_schedule(self):
        same, worse = results(ablate__Lin=ablation()), results(ablate__Lin=ablation(jacobi=1e3))
        for judge in (stretching_claims.some_setting, stretching_claims.same_in_gmres, stretching_claims.indefinite_converges):
            self.assertEqual(judge(same).verdict, HOLDS)
            self.assertEqual(judge(worse).verdict, FAILS)
            self.assertIn("7 lap2d_5*", judge(worse).why)
        broken = results(ablate__Lin=ablation(jacobi=None))
        self.assertEqual(stretching_claims.some_setting(broken).verdict, FAILS)
        self.assertEqual(stretching_claims.accelerated(same).verdict, UNMEASURED)
        self.assertEqual(stretching_claims.accelerated(results(ablate__Lin={**ablation(), "device": "cuda"})).verdict, FAILS)

    def test_published_errors_are_those_of_the_papers_matrices(self):
        self.assertEqual(stretching_claims.published(results(ablate__mario001=ablation())).verdict, UNMEASURED)
        self.assertEqual(stretching_claims.published(results(ablate__mario001=ablation("mario001", 0.5, 0.5))).verdict, HOLDS)
        self.assertEqual(stretching_claims.published(results(ablate__boyd1=ablation("boyd1_saddle", 0.5, 0.5))).verdict, FAILS)

    def test_every_claim_and_part_bears_any_result(self):
        for found in (results(), results(ablate__Lin=ablation()), results(ablate__Lin=ablation(jacobi=None, ldlt=None)), self.kernels(1e-3)):
            for claim in stretching.SUBJECT.claims:
                self.assertIn(claim.judge(found).verdict, (HOLDS, PARTLY, FAILS, UNMEASURED))
            for part in stretching.SUBJECT.parts:
                part.show(found)


class Huard(unittest.TestCase):
    def setup_rows(self, jordan, huard_seconds):
        return results(setup=blocks([row(n, s, part="setup", precision="double", size=size, who=w, times_as_fast=None if w == "lapack" else 1.0 / s)
                                     for size in (16, 32) for n, s, w in (("jordan", jordan, "saddle"), ("huard", huard_seconds, "saddle"),
                                                                         ("huard-t", 1.18 * huard_seconds, "saddle"),
                                                                         ("getrf", 1.0, "lapack"), ("copy", 0.01, "machine"))]))

    def test_factors_over_lu(self):
        found = self.setup_rows(1 / 8, 1 / 12)
        self.assertEqual(huard_claims.factor("huard", 32, 10)(found).verdict, HOLDS)
        self.assertEqual(huard_claims.factor("jordan", 32, 20)(found).verdict, PARTLY)
        slow = huard_claims.factor("huard", 32, 10)(self.setup_rows(2.0, 3.0))
        self.assertEqual(slow.verdict, FAILS)
        self.assertIn("100 times as fast", slow.why)
        self.assertEqual(huard_claims.transposed(32, 1.08, 1.3)(found).verdict, HOLDS)
        self.assertEqual(huard_claims.transposed(16, 0.9, 1.1)(found).verdict, PARTLY)

    def solved(self, *pairs):
        """Iterations of the inverse and of Gauss-Huard, a matrix each."""
        return results(**{f"solve__m{k}": blocks([], solves=[solve(n, size, i) for size in (8, 16, 32) for n, i in zip(("jordan", "huard"), pair)])
                          for k, pair in enumerate(pairs)})

    def test_iterations(self):
        self.assertEqual(huard_claims.centre(self.solved((5, 5), (6, 6), (7, 9))).verdict, HOLDS)
        self.assertEqual(huard_claims.centre(self.solved((5, 6), (6, 5), (7, 9))).verdict, FAILS)
        self.assertIn("The inverse takes 5 iterations (median) where they are equal, 40 where they are not.",
                      huard_claims.centre(self.solved((5, 5), (40, 47), (40, 41))).why)
        self.assertEqual(huard_claims.symmetric(self.solved((5, 6), (6, 5))).verdict, HOLDS)
        self.assertEqual(huard_claims.symmetric(self.solved(*((5, 6) for _ in range(9)))).verdict, FAILS)

    def test_every_claim_and_part_bears_any_result(self):
        unsolved = results(solve__m=blocks([], solves=[solve(n, 16, 5, solved=False) for n in huard.KERNELS]))
        for found in (results(), self.solved((5, 5)), unsolved, self.setup_rows(1.0, 1.0)):
            for claim in huard.SUBJECT.claims:
                self.assertIn(claim.judge(found).verdict, (HOLDS, PARTLY, FAILS, UNMEASURED))
            for part in huard.SUBJECT.parts:
                part.show(found)


class Steps(unittest.TestCase):
    def test_each_has_a_limit_and_a_name_of_its_own(self):
        for subject in (stretching.SUBJECT, huard.SUBJECT):
            for choice in (Choice(), Choice(quick=True), Choice(device="cuda")):
                steps = subject.steps(choice)
                self.assertEqual(len({s.name for s in steps}), len(steps))
                self.assertTrue(all(s.limit <= 400 and "{json}" in s.words and choice.device in s.words for s in steps))
                self.assertTrue(all(any(s.name == n or s.name.startswith(n + "/") for p in subject.parts for n in p.steps) for s in steps))


if __name__ == "__main__":
    unittest.main()
