"""The matrices of E. Chow, H. Anzt, J. Scott and J. Dongarra, Using Jacobi iterations and blocking for solving sparse
triangular systems in incomplete factorization preconditioning (J. Parallel Distrib. Comput. 119, 2018), Tables 6 and 7, and
what is run in place of those that are missing.
"""
import matrices
from model import Choice, Table

# Name, rows, nonzeros, and whether it is in the tests of IC(0), of IC(1), or of both.
PAPER = (
    ("1138_bus", 1_138, 4_054, "01"), ("Chem97ZtZ", 2_541, 7_361, "01"), ("bcsstk08", 1_074, 12_960, "01"),
    ("mhd3200b", 3_200, 18_316, "01"), ("bcsstm12", 1_473, 19_659, "01"), ("bcsstk10", 1_086, 22_070, "1"),
    ("msc01050", 1_050, 26_198, "1"), ("mhd4800b", 4_800, 27_520, "01"), ("plbuckle", 1_282, 30_644, "01"),
    ("Trefethen_2000", 2_000, 41_906, "0"), ("bcsstk27", 1_224, 56_126, "01"), ("bcsstk14", 1_806, 63_454, "1"),
    ("nasa2146", 2_146, 72_250, "01"), ("fv1", 9_604, 85_264, "01"), ("fv2", 9_801, 87_025, "01"),
    ("msc04515", 4_515, 97_707, "1"), ("crystm01", 4_875, 105_339, "01"), ("bcsstk15", 3_948, 117_816, "1"),
    ("bodyy4", 17_546, 121_550, "01"), ("aft01", 8_205, 125_567, "01"), ("bodyy5", 18_589, 128_853, "01"),
    ("bodyy6", 19_366, 134_208, "01"), ("ted_B", 10_605, 144_579, "01"), ("ted_B_unscaled", 10_605, 144_579, "01"),
    ("bcsstk24", 3_562, 159_910, "1"), ("Muu", 7_102, 170_134, "01"), ("t2dah_e", 11_445, 176_117, "01"),
    ("obstclae", 40_000, 197_608, "01"), ("torsion1", 40_000, 197_608, "01"), ("jnlbrng1", 40_000, 199_200, "01"),
    ("minsurfo", 40_806, 203_622, "01"), ("s3rmt3m3", 5_357, 207_123, "1"), ("s1rmt3m1", 5_489, 217_651, "01"),
    ("s3rmt3m1", 5_489, 217_669, "1"), ("s2rmt3m1", 5_489, 217_681, "01"), ("Dubcova1", 16_129, 253_009, "01"),
    ("s1rmq4m1", 5_489, 262_411, "01"), ("s3rmq4m1", 5_489, 262_943, "1"), ("s2rmq4m1", 5_489, 263_351, "01"),
    ("bcsstk16", 4_884, 290_378, "01"), ("crystm02", 13_965, 322_905, "01"), ("shallow_water1", 81_920, 327_680, "01"),
    ("shallow_water2", 81_920, 327_680, "01"), ("Kuu", 7_102, 340_200, "01"), ("gyro_m", 17_361, 340_431, "01"),
    ("wathen100", 30_401, 471_601, "01"), ("gridgena", 48_962, 512_084, "01"), ("apache1", 80_800, 542_184, "01"),
    ("Trefethen_20000", 20_000, 554_466, "0"), ("wathen120", 36_441, 565_761, "01"), ("thermal1", 82_654, 574_458, "01"),
    ("crystm03", 24_696, 583_770, "01"), ("finan512", 74_752, 596_992, "01"), ("cbuckle", 13_681, 676_515, "1"),
    ("thermomech_TC", 102_158, 711_558, "01"), ("thermomech_TK", 102_158, 711_558, "01"),
    ("Pres_Poisson", 14_822, 715_804, "01"), ("G2_circuit", 150_102, 726_674, "01"), ("bundle1", 10_581, 770_811, "01"),
    ("Dubcova2", 65_025, 1_030_225, "01"), ("thermomech_dM", 204_316, 1_423_116, "01"),
    ("t2cubes_sphere", 101_492, 1_647_264, "01"), ("qa8fm", 66_127, 1_660_579, "01"), ("cfd1", 70_656, 1_825_580, "0"),
    ("nd3k", 9_000, 3_279_690, "1"), ("Dubcova3", 146_689, 3_636_643, "01"), ("parabolic_fem", 525_825, 3_674_625, "01"),
    ("cant", 62_451, 4_007_383, "1"), ("offshore", 259_789, 4_242_673, "0"), ("pdb1HYS", 36_417, 4_344_765, "01"),
    ("apache2", 715_176, 4_817_870, "01"), ("ecology2", 999_999, 4_995_991, "1"), ("tmt_sym", 726_713, 5_080_961, "01"),
    ("G3_circuit", 1_585_478, 7_660_826, "01"), ("thermal2", 1_228_045, 8_580_313, "01"), ("m_t1", 97_578, 9_753_570, "1"),
    ("crankseg_1", 52_804, 10_614_210, "01"), ("crankseg_2", 63_838, 14_148_858, "01"),
    ("af_shell7", 504_855, 17_579_155, "01"), ("bundle_adj", 513_351, 20_207_907, "0"),
    ("Emilia_923", 923_136, 40_373_538, "01"), ("Hook_1498", 1_498_023, 59_374_451, "01"),
    ("Geo_1438", 1_437_960, 60_236_322, "01"),
)

# What is run instead of a missing matrix, by the time that there is: with --quick, on the CPU, on a GPU. Each is a problem on
# a grid of the same dimension and of about the same size, on the CPU often smaller. elas3d, the elasticity of `saddle gen`, is
# so well conditioned that exact triangular solves take 3 iterations: it stands in for mass matrices alone.
QUICK, CPU, CUDA = range(3)
STANDINS = {
    "fv1": ("lap2d_40", "lap2d_98", "lap2d_98"),
    "Dubcova1": (None, "lap2d_127", "lap2d_127"),
    "crystm02": (None, "elas3d_16:60", "elas3d_16:60"),
    "torsion1": (None, "lap2d_200", "lap2d_200"),
    "apache1": ("lap3d_12", "lap3d_43", "lap3d_43"),
    "cfd1": ("lap3d_10", "lap3d_30", "lap3d_41"),
    "thermal1": ("lap2d_60", "lap2d_220", "lap2d_288"),
    "parabolic_fem": (None, None, "lap2d_725"),
    "apache2": (None, None, "lap3d_89"),
    "ecology2": (None, None, "lap2d_1000"),
    "thermal2": (None, None, "lap2d_1108"),
    "Hook_1498": ("lap3d_16", "lap3d_60", "lap3d_114"),
    "Geo_1438": ("lap2d_80", "lap2d_400", "lap3d_113"),
    # Real ones of the paper's set and of the same kind: shells with six unknowns a node, and stiffness matrices.
    "bcsstk24": ("bcsstk34", "s2rmt3m1", "s2rmt3m1"),
    "crankseg_1": ("bcsstk08", "s1rmq4m1", "s1rmq4m1"),
    "Emilia_923": ("lap2d_30", "lap2d_150", "lap3d_60"),
    "nd3k": ("pyamg_bar", "bcsstk16", "bcsstk16"),
}


EXAMPLES = ("Hook_1498", "Geo_1438", "Emilia_923")


def _time(choice: Choice) -> int:
    return QUICK if choice.quick else CUDA if choice.device == "cuda" else CPU


def standin(choice: Choice, name: str) -> str | None:
    """The operand that is run instead: a problem of `saddle gen`, or the file of another matrix."""
    other = STANDINS.get(name, (None, None, None))[_time(choice)]
    return other if other is None or matrices.unknowns(other) else matrices.find(choice.matrices, other)


def operand(choice: Choice, name: str) -> str | None:
    """What a benchmark is given for a matrix of the paper."""
    return matrices.operand(choice, name, standin(choice, name))


def tested(choice: Choice) -> list[str]:
    """The operands of Table 1: the paper's matrices that are at hand, and stand-ins of the others; none of them twice."""
    rows = [(n, name) for name, n, _, _ in PAPER]
    if choice.quick:
        rows = [(n, name) for n, name in rows if n <= 2000 or STANDINS.get(name, (None,))[QUICK]]
    elif choice.device == "cpu":  # what stands in for these there is of another size, and takes long
        rows = [(n, name) for n, name in rows if name not in EXAMPLES or matrices.find(choice.matrices, name)]
    given = [o for _, name in sorted(rows) if (o := operand(choice, name))]
    return list({matrices.label(o): o for o in given}.values())


def table(choice: Choice) -> Table:
    """Tables 6 and 7: the paper's matrices, and what was run."""
    rows = []
    for name, n, entries, levels in PAPER:
        other = standin(choice, name)
        here = matrices.find(choice.matrices, name)
        rows.append((name, n, entries, " and ".join(f"IC({k})" for k in levels), "at hand" if here else "missing",
                     name if here else matrices.label(other) if other else "nothing"))
    here = sum(r[4] == "at hand" for r in rows)
    return Table(("matrix of the paper", "rows", "nonzeros", "tested with", "file", "what was run"), rows,
                 f"Tables 6 and 7: {here} of the paper's {len(rows)} matrices {'is' if here == 1 else 'are'} at hand. A "
                 "missing one is run as soon as a file of its name (.mtx or .rb, also .gz) is put anywhere into the folder of matrices.",
                 (None, ",d", ",d"),
                 {"rows": "as the paper has it, like the nonzeros",
                  "what was run": "FAMILY_SIZE[:PARAMETER] is a problem of `saddle gen`; another name is a matrix of the "
                                  "folder"})
