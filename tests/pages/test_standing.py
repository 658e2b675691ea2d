"""The page on Saddle's standing: kinds of failures, profiles, exponents and verdicts, from figures that are known."""
import math
import pathlib
import tempfile
import unittest

import fixture  # noqa: F401  (finds the pages)
import comparison
import content
import inexact
import model
import page
import profiles
import solvers
import standing
from model import Choice, Result, Results

NUMBERS = ("analysis", "factor", "solve", "solve_refined", "peak_bytes", "negative", "backward_error", "backward_error_refined",
           "refactor", "device_bytes")


def peer(seconds=1.0, error=1e-15, negative=3, told="", megabytes=10):
    """What a peer told; seconds is analysis, factorization and solve together."""
    if told:
        return {"ran": False, "error": told, "version": None, **dict.fromkeys(NUMBERS)}
    return {"ran": True, "error": None, "version": "Peer 1", "analysis": seconds / 2, "factor": seconds / 4,
            "solve": seconds / 8,
            "solve_refined": seconds / 4, "peak_bytes": 1e6 * megabytes, "negative": negative, "backward_error": 10 * error,
            "backward_error_refined": error, "refactor": seconds / 5, "device_bytes": 2e6 * megabytes}


def saddle(seconds=1.0, error=1e-16, negative=3, told="", certain=1, reached=1, megabytes=10):
    own = {"once": 3 * seconds / 4, "certain": certain, "reached": reached, "flops": 1e6, "certain_negative": None,
           "backward_error_verified": None}
    return {**peer(seconds, error, negative, megabytes=megabytes), **own, "error": told or None}


def row(name, group="kkt", n=100, **of):
    every = {s.key: peer(told="") | {"ran": False} for s in solvers.CPU[1:]}
    for known in every.values():
        known.update(dict.fromkeys(NUMBERS), version=None)
    return {"name": name, "group": group, "n": n, "nnz": 5 * n, **every, **of}


def results_of(rows, choice=Choice(), failures=()):
    found = [Result(f"{r['group']}/{r['name']}", {"rows": [r]}) for r in rows]
    return Results(found + [Result(name, None, why) for name, why in failures], choice)


def with_inertia(test, lines):
    """A folder of matrices that has nothing but INERTIA.tsv."""
    folder = tempfile.TemporaryDirectory(prefix="saddle-pages.")
    test.addCleanup(folder.cleanup)
    text = "file\tn\tpositive\tnegative\tzero\n" + "".join(f"{name}\t100\t{100 - k}\t{k}\t0\n" for name, k in lines)
    pathlib.Path(folder.name, "INERTIA.tsv").write_text(text)
    return Choice(matrices=folder.name)


class Kinds(unittest.TestCase):
    def of(self, figures, key="mumps", expected=3, group="kkt", name="a"):
        one = next(s for s in solvers.CPU if s.key == key)
        inertia = {} if expected is None else {(group, name): expected}
        return solvers.problem(row(name, group, saddle=saddle(), **{key: figures}), (one,), inertia, False).outcomes.get(key)

    def test_a_peer_fails_in_four_ways(self):
        for figures, kind in ((peer(), ""), (peer(told="INFOG(1) = -9"), solvers.NO_ANSWER), (peer(error=1e-3), solvers.WRONG),
                              (peer(error=math.nan), solvers.WRONG), (peer(negative=4), solvers.INERTIA),
                              (peer(told="took too long"), solvers.TIME)):
            self.assertEqual(self.of(figures).failure, kind)
        self.assertEqual(self.of(peer(negative=4)).said, "4 negative eigenvalues, not 3")

    def test_an_inertia_that_is_disputed_or_not_told_is_no_failure(self):
        self.assertEqual(self.of(peer(negative=4), expected=None).failure, "")
        self.assertEqual(self.of(peer(negative=None), key="superlu").failure, "")

    def test_refusing_another_kind_of_matrix_is_no_failure(self):
        self.assertIsNone(self.of(peer(told="a zero pivot"), key="qdldl"))
        self.assertIsNone(self.of(peer(told="not positive definite"), key="cholmod", group="spd"))
        self.assertEqual(self.of(peer(told="not positive definite"), key="cholmod", group="spd", expected=0).failure,
                         solvers.NO_ANSWER)

    def test_settings_are_asked_for_what_they_are_for(self):
        asked = {s.key: [solvers.is_asked(s, row(name, group)) for name, group in (
            ("a", "kkt"), ("a", "spd"), ("lap2d_10", "generated"), ("lap2d_10:1.5", "generated"))] for s in solvers.CPU}
        self.assertEqual(asked["mumps"], [True] * 4)
        self.assertEqual(asked["mumps_posdef"], [False, True, True, False])
        self.assertEqual(asked["mumps_compressed"], [True, False, False, True])
        self.assertEqual(asked["cholmod"], [False, True, True, False])

    def ours(self, expected=3, **more):
        return solvers.of_saddle(saddle(**more), expected, False)

    def test_saddle_is_judged_alike_and_may_doubt(self):
        self.assertEqual(self.ours().failure, "")
        self.assertEqual(self.ours().total, 1.0)
        self.assertEqual(self.ours(told="out of memory").failure, solvers.NO_ANSWER)
        self.assertEqual(self.ours(error=1e-3).failure, solvers.WRONG)
        self.assertEqual(self.ours(error=1e-3, reached=0).failure, solvers.NO_ANSWER)
        self.assertEqual(self.ours(error=math.nan, reached=None).failure, solvers.NO_ANSWER)
        self.assertEqual(self.ours(negative=4).failure, solvers.INERTIA)
        doubted = self.ours(negative=4, certain=0)
        self.assertEqual((doubted.failure, doubted.doubt), ("", True))

    def test_a_step_without_figures_is_a_failure_of_saddle(self):
        late = solvers.cut_short(Result("kkt/a", None, "time"))
        self.assertEqual((late.name, late.group, late.outcomes["saddle"].failure), ("a", "kkt", solvers.TIME))
        self.assertEqual(solvers.cut_short(Result("kkt/a", None, "killed")).outcomes["saddle"].failure, solvers.NO_ANSWER)


class Profiles(unittest.TestCase):
    VALUES = [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 1.0}, {"a": 1.0}, {"a": 5.0, "b": 5.0}, {}]

    def test_shares_are_those_of_dolan_and_more(self):
        ratios, count = profiles.ratios(self.VALUES)
        self.assertEqual((ratios, count), ({"a": [1.0, 1.0, 1.0, 3.0], "b": [1.0, 1.0, 2.0]}, 4))
        self.assertEqual([profiles.share(ratios["a"], count, f) for f in (1, 2, 3)], [0.75, 0.75, 1.0])
        self.assertEqual([profiles.share(ratios["b"], count, f) for f in (1, 2, 100)], [0.5, 0.75, 0.75])

    def test_a_staircase_ends_at_what_is_answered(self):
        ratios, count = profiles.ratios(self.VALUES)
        self.assertEqual(profiles.staircase(ratios["b"], count, 10), [(1.0, 0.5), (2.0, 0.5), (2.0, 0.75), (10, 0.75)])
        self.assertEqual(profiles.staircase(ratios["a"], count, 2), [(1.0, 0.75), (2, 0.75)])

    def test_an_exponent_is_found_again(self):
        self.assertAlmostEqual(profiles.exponent([(n, 2.5 * n**1.5) for n in (10, 30, 100, 400)]), 1.5)
        self.assertIsNone(profiles.exponent([(10, 1.0), (20, 2.0)]))
        self.assertIsNone(profiles.exponent([(10, 1.0), (10, 2.0), (10, 3.0)]))

    def test_a_geometric_mean_leaves_out_what_is_not_known(self):
        self.assertAlmostEqual(profiles.geometric_mean([1.0, 4.0, math.nan]), 2.0)
        self.assertTrue(math.isnan(profiles.geometric_mean([])))


class Claims(unittest.TestCase):
    def verdict(self, judge, rows, **more):
        return judge(results_of(rows, **more))

    def test_the_fastest_at_factor_1(self):
        ahead = [row("a", saddle=saddle(1), mumps=peer(2)), row("b", saddle=saddle(1), mumps=peer(2)),
                 row("c", saddle=saddle(3), mumps=peer(1))]
        judge = comparison.fastest("kkt", "total")
        said = self.verdict(judge, ahead)
        self.assertEqual((said.verdict, said.figures), (model.HOLDS, "Best on: Saddle 67\u00a0%, MUMPS 33\u00a0% of 3."))
        behind = [row("a", saddle=saddle(4), mumps=peer(1)), row("b", saddle=saddle(1), mumps=peer(2)),
                  row("c", saddle=saddle(4), mumps=peer(1))]
        said = self.verdict(judge, behind)
        self.assertEqual(said.verdict, model.FAILS)
        self.assertIn("On the 2 where another solver is faster, Saddle takes 4.00 times as long", said.why)
        self.assertEqual(self.verdict(judge, [row("a", saddle=saddle(1))]).verdict, model.UNMEASURED)
        self.assertEqual(self.verdict(judge, []).verdict, model.UNMEASURED)

    def test_a_wrong_answer_is_not_fast(self):
        rows = [row("a", saddle=saddle(4), mumps=peer(1, error=1e-2)),
                row("b", saddle=saddle(4), mumps=peer(1, told="took too long"))]
        self.assertEqual(self.verdict(comparison.fastest("kkt", "total"), rows).verdict, model.UNMEASURED)
        rows.append(row("c", saddle=saddle(4), mumps=peer(1)))
        self.assertEqual(self.verdict(comparison.fastest("kkt", "total"), rows).figures,
                         "Best on: Saddle 67\u00a0%, MUMPS 33\u00a0% of 3.")

    def test_beside_solvers_that_pivot(self):
        rows = [row("a", saddle=saddle(2), mumps=peer(3), qdldl=peer(1)),
                row("b", n=5000, saddle=saddle(2), mumps=peer(3), qdldl=peer(3))]
        self.assertEqual(self.verdict(comparison.fastest_of_pivoting("kkt", "total"), rows).figures,
                         "Best on: Saddle 100\u00a0%, MUMPS 0\u00a0% of 2.")
        self.assertEqual(self.verdict(comparison.fastest("large", "total"), rows).figures,
                         "Best on: Saddle 100\u00a0%, MUMPS 0\u00a0%, QDLDL 0\u00a0% of 1.")

    def test_settings_of_a_peer_count_together_where_that_is_asked(self):
        rows = [row("a", saddle=saddle(1), mumps=peer(2)),
                row("b", saddle=saddle(1), mumps=peer(2)),
                row("c", saddle=saddle(2), mumps=peer(1), mumps_compressed=peer(3)),
                row("d", saddle=saddle(2), mumps=peer(3), mumps_compressed=peer(1)),
                row("e", saddle=saddle(2), mumps=peer(3), mumps_compressed=peer(1))]
        self.assertIn("Saddle 40\u00a0%, MUMPS (compressed) 40\u00a0%, MUMPS 20\u00a0%",
                      self.verdict(comparison.fastest("kkt", "total"), rows).figures)
        together = self.verdict(comparison.fastest_beside_best("kkt", "total"), rows)
        self.assertEqual((together.verdict, together.figures),
                         (model.FAILS, "Best on: MUMPS 60\u00a0%, Saddle 40\u00a0% of 5."))

    def test_the_fewest_failures(self):
        choice = with_inertia(self, [("kkt/a.mtx.gz", 3), ("kkt/b.mtx.gz", 3)])
        rows = [row("a", saddle=saddle(), mumps=peer(negative=4)), row("b", saddle=saddle(), mumps=peer()),
                row("disputed", saddle=saddle(negative=7), mumps=peer(negative=8))]
        said = self.verdict(comparison.fewest_failures, rows, choice=choice)
        self.assertEqual((said.verdict, said.figures), (model.HOLDS, "Saddle 0 of 3, MUMPS 1 of 3."))
        late = [("kkt/c", "time"), ("kkt/d", "saddle: out of memory")]
        said = self.verdict(comparison.fewest_failures, rows, choice=choice, failures=late)
        self.assertEqual((said.verdict, said.figures), (model.FAILS, "MUMPS 1 of 3, Saddle 2 of 5."))
        # of a peer that is asked for some matrices only, what counts is these
        fewer = [row("a", saddle=saddle(negative=4), mumps=peer(negative=4)),
                 row("b", saddle=saddle(), mumps=peer(), qdldl=peer())]
        said = self.verdict(comparison.fewest_failures, fewer, choice=choice)
        self.assertEqual((said.verdict, said.figures), (model.HOLDS, "QDLDL 0 of 1, Saddle 1 of 2, MUMPS 1 of 2."))
        self.assertIn("QDLDL (Saddle: 0)", said.why)
        self.assertEqual(self.verdict(comparison.no_wrong, rows, choice=choice).verdict, model.HOLDS)
        rows[1]["saddle"]["negative"] = 5
        self.assertEqual(self.verdict(comparison.no_wrong, rows, choice=choice).verdict, model.FAILS)

    def test_growth_beside_peers(self):
        def rows(ours, theirs):
            return [row(f"kktz_{k}", "generated", n, saddle=saddle(1e-3 * n**ours), mumps=peer(1e-3 * n**theirs))
                    for k, n in enumerate((100, 400, 1600), 10)]
        self.assertEqual(self.verdict(comparison.grows_least, rows(1.2, 1.5)).verdict, model.HOLDS)
        said = self.verdict(comparison.grows_least, rows(1.5, 1.2))
        self.assertEqual((said.verdict, said.figures), (model.FAILS, "In 0 of 1 families; not in kktz (1.50, MUMPS 1.20)."))
        self.assertIn("Saddle takes 9.15 (kktz, 1,600 unknowns) times as long as that peer", said.why)
        self.assertEqual(self.verdict(comparison.grows_least, rows(1.5, 1.2)[:2]).verdict, model.UNMEASURED)

    def test_growth_where_nobody_tells_its_memory(self):
        rows = [row(f"kktz_{k}", "generated", n, saddle=saddle(1e-5 * n) | {"peak_bytes": None})
                for k, n in enumerate((100, 400, 1600), 10)]
        found = [part for part in comparison.growth(results_of(rows)) if isinstance(part, model.Table)]
        self.assertEqual([len(table.rows) for table in found], [1])

    def test_memory_counts_where_it_is_large_enough_to_be_told(self):
        rows = [row("a", saddle=saddle(megabytes=30), mumps=peer(megabytes=10)),
                row("b", saddle=saddle(megabytes=9), mumps=peer(megabytes=1))]
        said = self.verdict(comparison.within("kkt", "memory", 2, 0.9), rows)
        self.assertEqual((said.verdict, said.figures),
                         (model.FAILS, "On 0\u00a0% of 1 within a factor of 2; the largest factor is 3.0."))
        for judge in (comparison.within("kkt", "memory", 2, 0.9), comparison.fastest("kkt", "memory")):
            said = self.verdict(judge, rows[1:])
            self.assertEqual((said.verdict, said.figures),
                             (model.UNMEASURED, "No problem was measured for which every solver tells 4 MB or more."))

    def test_on_a_gpu_the_factorization_and_the_verified_solve_are_of_two_steps(self):
        factored = {"name": "a", "group": "kkt", "n": 9000, "nnz": 50000, "saddle": {
            **peer(1.0), "error": None, "flops": 1e9, "certain": None, "certain_negative": None, "backward_error_verified": None},
            "cudss": peer(2.0), "cudss_matching": peer(4.0, negative=4)}
        verified = {**factored, "saddle": {**dict.fromkeys(factored["saddle"]), "certain": 1, "certain_negative": 3,
                                           "backward_error_verified": 1e-17}}
        choice = Choice("cuda", with_inertia(self, [("kkt/a.mtx.gz", 3)]).matrices)
        s = comparison.standing(Results([Result("kkt/1", {"rows": [factored]}), Result("verified/kkt-1", {"rows": [verified]})],
                                        choice))
        self.assertEqual({key: o.failure for key, o in s.problems[0].outcomes.items()},
                         {"saddle": "", "cudss": "", "cudss_matching": solvers.INERTIA})
        ours, theirs = s.problems[0].outcomes["saddle"], s.problems[0].outcomes["cudss"]
        self.assertEqual((ours.error, ours.total, theirs.total, theirs.memory), (1e-17, 0.875, 1.65, 2e7))

    def test_small_calls(self):
        calls = {"rows": [{"name": "ocp", "n": 60, "qdldl": peer(1e-6), "lapack": peer(8e-6), **{
            way: {"seconds": 2e-6} for way in ("all", "uncertified", "unrefined", "once")}}]}
        said = inexact.judge_calls(Results([Result("calls", calls)]))
        self.assertEqual((said.verdict, said.figures),
                         (model.FAILS, "By its defaults Saddle takes 4 to 4 times QDLDL's and 0.5 to 0.5 times dsysv's time "
                                       "(1 sizes)."))


def ldlt_run(solved=True, seconds=0.1, iterations=5, **more):
    """Of `bench ldlt --part symildl`, Saddle's or, with its own keys, SYM-ILDL's."""
    return {"solved": solved, "why": None, "stored": 1000, "analysis": seconds / 2, "factor": seconds / 4, "right_hand_sides": [
        {"rhs": rhs, "iterations": count, "told_residual": 1e-9, "solve": seconds / k}
        for rhs, count, k in (("A1", 1, 8), ("random", iterations, 4))]} | more


def symildl_run(solved=True, seconds=0.2, iterations=20, **more):
    return {**ldlt_run(solved, seconds, iterations), "run": True, "setup": 3 * seconds / 4, "stored": 500, "fill": 3.0,
            "drop_tol": 1e-3, "asked_residual": 1e-8} | more


def beside_symildl(*rows, absent=None):
    return Results([Result(f"symmetric/{k}", {"absent": absent, "rows": [
        {"name": str(k), "saddle": ours, "symildl": {"default": default, "equal": equal}}]})
        for k, (ours, default, equal) in enumerate(rows)])


class SymIldl(unittest.TestCase):
    def test_counts_iterations_entries_and_times_of_what_both_solve(self):
        lost = symildl_run(False, right_hand_sides=[])  # an error: no solution
        found = beside_symildl((ldlt_run(), symildl_run(), symildl_run(seconds=0.4)),
                               (ldlt_run(False), symildl_run(), symildl_run(iterations=80)),
                               (ldlt_run(), symildl_run(False), lost),
                               (ldlt_run(), symildl_run(seconds=0.005, iterations=80), symildl_run(seconds=0.4)))
        table, = inexact.incomplete(found)
        by_default, equal = table.rows
        self.assertEqual(by_default[:7], ("its defaults", 4, 3, 3, 1, 1, 1))
        self.assertEqual(equal[:7], ("at most as many entries", 4, 3, 3, 1, 1, 0))
        for told, known in ((by_default[7:], (8.0, 0.5, 2.0)), (equal[7:], (4.0, 0.5, 4.0))):
            for one, other in zip(told, known):
                self.assertAlmostEqual(one, other)

    def test_a_verdict_on_equal_fill(self):
        for rows, verdict in (([(ldlt_run(), symildl_run(), symildl_run())], model.HOLDS),
                              ([(ldlt_run(), symildl_run(), symildl_run(seconds=0.05))], model.PARTLY),
                              ([(ldlt_run(), symildl_run(), symildl_run(seconds=0.05)),
                                (ldlt_run(False), symildl_run(), symildl_run())], model.FAILS),
                              ([(ldlt_run(), symildl_run(), symildl_run(False))], model.HOLDS)):
            self.assertEqual(inexact.judge_incomplete(beside_symildl(*rows)).verdict, verdict)
        said = inexact.judge_incomplete(beside_symildl((ldlt_run(), symildl_run(), symildl_run(seconds=0.05))))
        self.assertEqual(said.figures, "Solved of 1 symmetric matrices: Saddle 1, SYM-ILDL 1 with at most as many entries, which "
                                       "takes 0.50 times as long; by its defaults 1 (Saddle 1) in 2.00 times the time. spilu was "
                                       "not measured.")

    def test_both_peers_make_one_verdict(self):
        one = {"solved": True, "run": True, "setup": 1.0, "solve": 1.0}
        general = {"unsymmetric": {"rows": [{"why": None, **{form: {"saddle": one, "spilu": {**one, "setup": 2.0}}
                                                            for form in inexact.FORMS}}]}}
        for seconds, verdict in ((0.2, model.HOLDS), (0.05, model.PARTLY)):
            found = Results([Result("unsymmetric/a", general), Result("symmetric/0", beside_symildl(
                (ldlt_run(), symildl_run(), symildl_run(seconds=seconds))).get("symmetric/0"))])
            said = inexact.judge_incomplete(found)
            self.assertEqual(said.verdict, verdict)
            self.assertIn("spilu takes 1.50 times as long. Solved of 1 symmetric", said.figures)

    def test_where_it_is_not_there_the_page_says_so(self):
        found = Results([Result("symmetric/a", {"absent": "its program was not found", "rows": []})])
        self.assertEqual([block.text for block in inexact.incomplete(found)],
                         ["SYM-ILDL is not on this page: its program was not found."])
        self.assertEqual(inexact.judge_incomplete(found).verdict, model.UNMEASURED)
        self.assertEqual(inexact.incomplete(Results([])), [])


class Steps(unittest.TestCase):
    def test_every_step_is_read_by_a_part_and_has_a_limit(self):
        for choice in (Choice(), Choice(quick=True), Choice("cuda"), Choice("cuda", quick=True)):
            steps = standing.SUBJECT.steps(choice)
            self.assertEqual(len({s.name for s in steps}), len(steps))
            read = [n for part in standing.SUBJECT.parts for n in part.steps]
            self.assertEqual([s.name for s in steps if s.name.split("/")[0] not in read], [])
            self.assertTrue(all("{json}" in s.words and s.limit > s.cost for s in steps))
            if choice.device == "cuda":
                self.assertLessEqual(max(s.limit for s in steps), 100)

    def test_the_page_is_made_of_what_there_is(self):
        """From nothing, from one matrix with Saddle alone, and from several sets beside peers."""
        full = [row(f"{kind}{k}", kind, 100 + k, saddle=saddle(1 + 2 * k), mumps=peer(2), superlu=peer(3, negative=None),
                    pardiso=peer(1, told="took too long")) for kind in ("kkt", "indefinite", "spd") for k in range(3)]
        for found in (Results([]), results_of([row("a", saddle=saddle())]), results_of(full)):
            records = [{"step": r.step, "data": r.data, "failure": "", "seconds": 1.0, "command": "", "machine": "", "date": "",
                        "version": "", "commit": "", "asked": ""} for r in found._by_name.values()]
            steps = [model.Step(r["step"], ()) for r in records]
            made = content.evaluate(standing.SUBJECT, Choice(), steps, records, "")
            self.assertEqual(made.troubles, [])
            self.assertIn("Where Saddle stands", page.page(made))
        self.assertIn("not Saddle (33\u00a0%) but MUMPS (67\u00a0%) is the fastest most often", " ".join(made.sentences))
        self.assertIn("Saddle fails on 0 of 9 matrices", " ".join(made.sentences))

    def test_the_summary_names_four_peers_and_what_is_true_of_the_others(self):
        for last, words in ((peer(2), "the others on no smaller share of theirs"),
                            (peer(2, told="INFOG(1) = -9"), "the others on a larger share of theirs")):
            several = dict.fromkeys(("mumps", "mumps_compressed", "pardiso", "pardiso_matching"), peer(2))
            s = comparison.standing(results_of([row("a", saddle=saddle(1), superlu=last, **several)]))
            self.assertTrue(comparison.failures_clause(s).endswith("PARDISO (matching) on 0 of 1, " + words))


if __name__ == "__main__":
    unittest.main()
