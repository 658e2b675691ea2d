/*
 * Saddle::LDLT and Saddle::Preconditioner beside Eigen's own solvers: random and saddle-point systems, all
 * storage orders, scalars and index types, refactorization, singular matrices, what is refused. Prints TAP.
 */
#include <saddle/eigen.hpp>

#include <Eigen/Dense>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include <cstdio>
#include <cstdlib>
#include <random>

namespace
{

int number = 0, failures = 0;

void check(bool truth, const char *what, int line)
{
    if (truth) return;
    ++failures;
    std::printf("# line %d: %s\n", line, what);
}
#define CHECK(truth) check((truth), #truth, __LINE__)

void run(const char *name, void (*test)())
{
    const int before = failures;
    try {
        test();
    } catch (const std::exception &e) {
        ++failures;
        std::printf("# threw: %s\n", e.what());
    }
    std::printf("%sok %d %s\n", failures == before ? "" : "not ", ++number, name);
}

template <typename Exception, typename Call> bool throws(Call call)
{
    try {
        call();
    } catch (const Exception &) {
        return true;
    }
    return false;
}

std::mt19937 generator(20261118);
double unit()
{
    return std::uniform_real_distribution<double>(-1, 1)(generator);
}

/* (H B'; B -c I), m of the n rows constraints; entries of the triangles that are wanted. */
template <typename Mat> Mat saddle_point(int n, int m, double c, bool lower = true, bool upper = true)
{
    using T = Eigen::Triplet<typename Mat::Scalar, typename Mat::StorageIndex>;
    using Scalar = typename Mat::Scalar;
    using Index = typename Mat::StorageIndex;
    std::vector<T> list;
    const int variables = n - m;
    const auto add = [&](int i, int j,
                         double value) { /* i >= j */
                                         if (lower) list.push_back(T(Index(i), Index(j), Scalar(value)));
                                         if (upper && (i != j || !lower))
                                             list.push_back(T(Index(j), Index(i), Scalar(value)));
    };
    for (int i = 0; i < variables; ++i) add(i, i, 4 + unit());
    for (int i = 1; i < variables; ++i) add(i, i - 1, unit());
    for (int k = 0; k < m; ++k) {
        add(variables + k, k % variables, 2 + unit());
        add(variables + k, (k + 3) % variables, unit());
        if (c != 0) add(variables + k, variables + k, -c);
    }
    Mat A(n, n);
    A.setFromTriplets(list.begin(), list.end());
    return A;
}

Eigen::VectorXd random_vector(int n)
{
    Eigen::VectorXd v(n);
    for (int k = 0; k < n; ++k) v[k] = unit();
    return v;
}

using Mat = Eigen::SparseMatrix<double>;

void solves_as_sparse_lu_does()
{
    for (int round = 0; round < 20; ++round) {
        const int n = 5 + round * 7;
        const Mat A = saddle_point<Mat>(n, n / 3, 0);
        const Eigen::VectorXd b = random_vector(n);
        Saddle::LDLT<Mat> ldlt(A);
        CHECK(ldlt.info() == Eigen::Success);
        CHECK(ldlt.rows() == n && ldlt.cols() == n);
        const Eigen::VectorXd x = ldlt.solve(b);
        Eigen::SparseLU<Mat> lu(A);
        const Eigen::VectorXd y = lu.solve(b);
        CHECK(ldlt.info() == Eigen::Success && ldlt.lastMessage().empty());
        CHECK((A * x - b).norm() <= 1e-12 * b.norm());
        CHECK((x - y).norm() <= 1e-9 * y.norm());
    }
}

void quasidefinite_systems_agree_with_simplicial_ldlt()
{
    const Mat A = saddle_point<Mat>(90, 30, 1.0);
    Eigen::SimplicialLDLT<Mat> other(A);
    Saddle::LDLT<Mat> ldlt(A);
    const Eigen::VectorXd b = random_vector(90);
    const Eigen::VectorXd x = ldlt.solve(b), y = other.solve(b);
    CHECK((x - y).norm() <= 1e-11 * y.norm());
    const double log = other.vectorD().array().abs().log().sum();
    CHECK(std::fabs(ldlt.logAbsDeterminant() - log) <= 1e-9 * std::fabs(log));
    CHECK(ldlt.signDeterminant() == 1); /* 30 negative eigenvalues */
}

template <typename M, int UpLo> void solves_storage(double tolerance)
{
    const int n = 40;
    for (int kind = 0; kind < 3; ++kind) { /* both triangles, the one that is read, and not compressed */
        M A = saddle_point<M>(n, 13, 0, kind == 0 || UpLo == Eigen::Lower, kind == 0 || UpLo == Eigen::Upper);
        if (kind == 2) A.uncompress();
        const Eigen::SparseMatrix<double> half = A.template cast<double>();
        const Eigen::MatrixXd full = Eigen::MatrixXd(half).template selfadjointView<UpLo>();
        Saddle::LDLT<M, UpLo> ldlt(A);
        CHECK(ldlt.info() == Eigen::Success);
        const Eigen::Matrix<typename M::Scalar, Eigen::Dynamic, 1> b =
            random_vector(n).template cast<typename M::Scalar>();
        const Eigen::Matrix<typename M::Scalar, Eigen::Dynamic, 1> x = ldlt.solve(b);
        const Eigen::VectorXd wide = x.template cast<double>();
        CHECK((full * wide - b.template cast<double>()).norm() <= tolerance);
    }
}

void every_storage_is_read()
{
    solves_storage<Eigen::SparseMatrix<double>, Eigen::Lower>(1e-11);
    solves_storage<Eigen::SparseMatrix<double>, Eigen::Upper>(1e-11);
    solves_storage<Eigen::SparseMatrix<double, Eigen::RowMajor>, Eigen::Lower>(1e-11);
    solves_storage<Eigen::SparseMatrix<double, Eigen::RowMajor>, Eigen::Upper>(1e-11);
    solves_storage<Eigen::SparseMatrix<double, Eigen::ColMajor, long>, Eigen::Lower>(1e-11);
    solves_storage<Eigen::SparseMatrix<double, Eigen::RowMajor, long>, Eigen::Upper>(1e-11);
    solves_storage<Eigen::SparseMatrix<float>, Eigen::Lower>(1e-4);
    solves_storage<Eigen::SparseMatrix<float, Eigen::RowMajor, long>, Eigen::Lower>(1e-4);
}

void right_hand_sides_of_all_kinds()
{
    const int n = 50;
    const Mat A = saddle_point<Mat>(n, 16, 0);
    const Saddle::LDLT<Mat> ldlt(A);
    const Eigen::MatrixXd B = Eigen::MatrixXd::Random(n, 7);
    const Eigen::MatrixXd X = ldlt.solve(B);
    CHECK((A * X - B).norm() <= 1e-11 * B.norm());
    Eigen::MatrixXd wide = Eigen::MatrixXd::Zero(2 * n, 9);
    wide.block(3, 1, n, 7) = ldlt.solve(B); /* columns that are far apart */
    CHECK((wide.block(3, 1, n, 7) - X).norm() == 0);
    CHECK(wide.topRows(3).norm() == 0 && wide.col(0).norm() == 0);
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_rows = ldlt.solve(B);
    CHECK((by_rows - X).norm() == 0);
    const Eigen::VectorXd sum = ldlt.solve(B.col(0) + 2 * B.col(1));
    CHECK((sum - X.col(0) - 2 * X.col(1)).norm() <= 1e-10 * sum.norm());
    Eigen::VectorXd in_place = B.col(2);
    in_place = ldlt.solve(in_place);
    CHECK((in_place - X.col(2)).norm() <= 1e-12 * X.col(2).norm());
    Mat sparse(n, 3);
    sparse.insert(4, 0) = 1;
    sparse.insert(9, 2) = -2;
    const Mat found = ldlt.solve(sparse);
    CHECK((A * found - sparse).norm() <= 1e-11);
    CHECK(Eigen::MatrixXd(ldlt.solve(Eigen::MatrixXd(n, 0))).cols() == 0);
}

void factors_multiply_to_the_matrix()
{
    for (int round = 0; round < 6; ++round) {
        const int n = 30 + 10 * round;
        const Mat A = saddle_point<Mat>(n, n / 3, round % 2 ? 1.0 : 0.0);
        Saddle::LDLT<Mat> ldlt;
        if (round % 3 == 0) ldlt.setOption("simplicial", "off");
        ldlt.compute(A);
        const Eigen::MatrixXd L(ldlt.matrixL()), D(ldlt.matrixD());
        const Eigen::VectorXd s = ldlt.scaling();
        const Eigen::MatrixXd scaled = s.asDiagonal() * Eigen::MatrixXd(A) * s.asDiagonal();
        const auto P = ldlt.permutationP();
        CHECK((P * scaled * P.transpose() - L * D * L.transpose()).norm() <= 1e-12 * scaled.norm());
        CHECK(L.diagonal().isOnes());
        const Saddle::Inertia inertia = ldlt.inertia();
        CHECK(inertia.negative == n / 3 && inertia.positive == n - n / 3 && inertia.zero == 0);
        CHECK(inertia.certain);
        const double determinant = Eigen::MatrixXd(A).fullPivLu().determinant();
        CHECK(std::fabs(ldlt.determinant() - determinant) <= 1e-9 * std::fabs(determinant));
    }
    Mat swap(2, 2); /* one 2x2 pivot */
    swap.insert(0, 1) = swap.insert(1, 0) = 2;
    Saddle::LDLT<Mat> ldlt(swap);
    CHECK(throws<std::logic_error>([&] { ldlt.vectorD(); }));
    CHECK(std::fabs(ldlt.determinant() + 4) <= 1e-14);
    Mat one(2, 2);
    one.insert(0, 0) = 3;
    one.insert(1, 1) = -5;
    ldlt.compute(one);
    CHECK(ldlt.vectorD().size() == 2 && std::fabs(ldlt.determinant() + 15) <= 1e-13);
}

void new_values_on_the_same_pattern()
{
    Mat A = saddle_point<Mat>(60, 20, 0);
    Saddle::LDLT<Mat> ldlt;
    ldlt.analyzePattern(A);
    CHECK(ldlt.info() == Eigen::Success);
    const Eigen::VectorXd b = random_vector(60);
    for (int round = 0; round < 5; ++round) {
        for (Eigen::Index k = 0; k < 60; ++k) A.coeffRef(0, 0) += 1;
        ldlt.factorize(A);
        CHECK(ldlt.info() == Eigen::Success);
        CHECK((A * ldlt.solve(b) - b).norm() <= 1e-11);
    }
    ldlt.factorize(saddle_point<Mat>(60, 21, 0));
    CHECK(ldlt.info() == Eigen::InvalidInput);
    CHECK(ldlt.lastMessage().find("pattern") != std::string::npos);
    ldlt.compute(saddle_point<Mat>(61, 21, 0)); /* anew */
    CHECK(ldlt.info() == Eigen::Success && ldlt.rows() == 61);
}

/* The pattern of the triangle that is read counts, whether the other one is there or not. */
void the_other_triangle_may_come_and_go()
{
    const Mat whole = saddle_point<Mat>(50, 16, 0), half = whole.triangularView<Eigen::Lower>();
    const Eigen::VectorXd b = random_vector(50);
    for (const bool begins_whole : {true, false}) {
        Saddle::LDLT<Mat> ldlt;
        ldlt.analyzePattern(begins_whole ? whole : half);
        for (int round = 0; round < 4; ++round) {
            ldlt.factorize(round % 2 ? whole : half);
            CHECK(ldlt.info() == Eigen::Success && ldlt.lastMessage().empty());
            CHECK((whole * ldlt.solve(b) - b).norm() <= 1e-11);
        }
        ldlt.compute(begins_whole ? half : whole);
        CHECK((whole * ldlt.solve(b) - b).norm() <= 1e-11);
    }
}

void options_are_the_library_s()
{
    Saddle::LDLT<Mat> ldlt;
    CHECK(ldlt.option("method") == "direct");
    ldlt.setOption("threshold", "0.1").setOption("order", "amd");
    CHECK(ldlt.option("threshold").substr(0, 3) == "0.1");
    CHECK(throws<std::invalid_argument>([&] { ldlt.setOption("threshold", "7"); }));
    CHECK(throws<std::invalid_argument>([&] { ldlt.setOption("no such", "1"); }));
    CHECK(throws<std::invalid_argument>([&] { ldlt.option("no such"); }));
    const Mat A = saddle_point<Mat>(40, 12, 0);
    ldlt.compute(A);
    ldlt.setOption("threshold", "0.3").setOption("check", "on");
    ldlt.factorize(A);
    CHECK(ldlt.query().largest_l <= 1 / 0.3 * (1 + 1e-12));
    CHECK(throws<std::invalid_argument>([&] { ldlt.setOption("device", "reference"); }));
    ldlt.setOption("method", "diagonal").setOption("maxiter", "1");
    ldlt.factorize(A);
    const Eigen::VectorXd x = ldlt.solve(random_vector(40));
    CHECK(ldlt.info() == Eigen::NoConvergence && !ldlt.lastMessage().empty());
}

void singular_and_empty_matrices()
{
    Mat A(3, 3);
    A.insert(0, 0) = 2;
    A.insert(1, 1) = 3; /* row 2 is empty */
    A.makeCompressed();
    Saddle::LDLT<Mat> ldlt(A);
    CHECK(ldlt.info() == Eigen::NumericalIssue && !ldlt.lastMessage().empty());
    CHECK(ldlt.inertia().zero == 1 && ldlt.determinant() == 0);
    Eigen::VectorXd x = ldlt.solve(Eigen::Vector3d(2, 3, 0));
    CHECK(ldlt.info() == Eigen::Success && (A * x - Eigen::Vector3d(2, 3, 0)).norm() <= 1e-14);
    x = ldlt.solve(Eigen::Vector3d(2, 3, 1));
    CHECK(ldlt.info() == Eigen::NumericalIssue);
    const Mat none(0, 0);
    ldlt.compute(none);
    CHECK(ldlt.info() == Eigen::Success && ldlt.rows() == 0);
    CHECK(Eigen::VectorXd(ldlt.solve(Eigen::VectorXd(0))).size() == 0);
    CHECK(ldlt.matrixL().rows() == 0 && ldlt.determinant() == 1);
}

/* Zero pivots are looked for when somebody asks, once, and belong to the last factorization. */
void zero_pivots_are_found_whoever_asks_first()
{
    Mat A(3, 3);
    for (int k = 0; k < 3; ++k) A.insert(k, k) = k;
    A.makeCompressed();
    const Eigen::Vector3d b(0, 1, 2);
    Saddle::LDLT<Mat> ldlt(A);
    CHECK(ldlt.lastMessage().find("zero") != std::string::npos);
    CHECK(ldlt.info() == Eigen::NumericalIssue && ldlt.info() == Eigen::NumericalIssue);
    ldlt.factorize(A);
    Saddle::LDLT<Mat> moved(std::move(ldlt));
    CHECK(moved.info() == Eigen::NumericalIssue);
    moved.factorize(A);
    const Eigen::VectorXd x = moved.solve(b); /* there is a solution */
    CHECK(moved.info() == Eigen::Success && moved.lastMessage().empty() && (A * x - b).norm() <= 1e-14);
    moved.factorize(A);
    A.coeffRef(0, 0) = 5;
    moved.factorize(A);
    CHECK(moved.info() == Eigen::Success && moved.lastMessage().empty());
}

void what_is_wrong_is_invalid_input()
{
    Mat A = saddle_point<Mat>(10, 3, 0);
    A.coeffRef(2, 2) = std::numeric_limits<double>::quiet_NaN();
    Saddle::LDLT<Mat> ldlt(A);
    CHECK(ldlt.info() == Eigen::InvalidInput && !ldlt.lastMessage().empty());
    Mat wide(3, 4);
    ldlt.compute(wide);
    CHECK(ldlt.info() == Eigen::InvalidInput);
    CHECK(throws<std::logic_error>([&] { ldlt.inertia(); }));
    Saddle::LDLT<Mat> fresh;
    CHECK(throws<std::logic_error>([&] { fresh.matrixL(); }));
    CHECK(throws<std::logic_error>([&] { fresh.inertia(); }));
    fresh.setOption("method", "ldlt").compute(saddle_point<Mat>(10, 3, 0)); /* whose signs are not counted */
    CHECK(fresh.info() == Eigen::Success);
    CHECK(throws<std::logic_error>([&] { fresh.inertia(); }));
}

void moved_solvers_solve_on()
{
    const Mat A = saddle_point<Mat>(30, 10, 0);
    const Eigen::VectorXd b = random_vector(30);
    Saddle::LDLT<Mat> first(A);
    Saddle::LDLT<Mat> second(std::move(first));
    CHECK((A * second.solve(b) - b).norm() <= 1e-11);
    Saddle::LDLT<Mat> third;
    third = std::move(second);
    CHECK((A * third.solve(b) - b).norm() <= 1e-11);
    CHECK(first.rows() == 0 && second.rows() == 0);
    first.compute(A); /* as new */
    CHECK((A * first.solve(b) - b).norm() <= 1e-11);
    third.setOption("threshold", "0.25");
    Saddle::LDLT<Mat> fourth(std::move(third));
    CHECK(fourth.option("threshold") != third.option("threshold") && third.option("method") == "direct");
    Saddle::Preconditioner<double, Eigen::Lower> M(A), other(std::move(M));
    CHECK(other.rows() == 30 && other.option("method") == "ic" && M.option("method") == "ic");
    static_assert(!std::is_copy_constructible<Saddle::LDLT<Mat>>::value, "not copied");
    static_assert(!std::is_copy_assignable<Saddle::LDLT<Mat>>::value, "not copied");
}

/* A Laplacian on a grid of side x side. */
Mat laplacian(int side)
{
    std::vector<Eigen::Triplet<double>> list;
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
            const int k = i * side + j;
            list.emplace_back(k, k, 4.01);
            if (i > 0) list.emplace_back(k, k - side, -1), list.emplace_back(k - side, k, -1);
            if (j > 0) list.emplace_back(k, k - 1, -1), list.emplace_back(k - 1, k, -1);
        }
    Mat A(side * side, side * side);
    A.setFromTriplets(list.begin(), list.end());
    return A;
}

void conjugate_gradients_are_preconditioned()
{
    const Mat A = laplacian(40);
    const Eigen::VectorXd b = random_vector(1600);
    Eigen::ConjugateGradient<Mat, Eigen::Lower | Eigen::Upper> plain(A);
    plain.setTolerance(1e-10);
    const Eigen::VectorXd y = plain.solve(b);
    static const char *const methods[] = {"ic", "ldlt", "bjacobi", "direct", "diagonal"};
    for (const char *method : methods) {
        Eigen::ConjugateGradient<Mat, Eigen::Lower | Eigen::Upper, Saddle::Preconditioner<double>> cg;
        cg.preconditioner().setOption("method", method);
        cg.setTolerance(1e-10);
        cg.compute(A);
        CHECK(cg.info() == Eigen::Success);
        const Eigen::VectorXd x = cg.solve(b);
        CHECK(cg.info() == Eigen::Success && (x - y).norm() <= 1e-7 * y.norm());
        CHECK(cg.iterations() <= plain.iterations() + 2);
        if (std::string(method) == "ic") CHECK(2 * cg.iterations() < 1 + plain.iterations());
        if (std::string(method) == "direct") CHECK(cg.iterations() <= 2);
    }
    const Mat lower = A.triangularView<Eigen::Lower>();
    Eigen::ConjugateGradient<Mat, Eigen::Lower, Saddle::Preconditioner<double, Eigen::Lower>> cg;
    cg.setTolerance(1e-10);
    const Eigen::VectorXd x = cg.compute(lower).solve(b);
    CHECK(cg.info() == Eigen::Success && (x - y).norm() <= 1e-7 * y.norm());
}

void general_systems_are_preconditioned_by_ilu()
{
    Mat A = laplacian(30);
    for (Eigen::Index k = 0; k + 1 < A.rows(); ++k)
        if (A.coeff(k, k + 1) != 0) A.coeffRef(k, k + 1) = -0.4;
    const Eigen::VectorXd b = random_vector(900);
    Eigen::BiCGSTAB<Mat> plain(A);
    Eigen::BiCGSTAB<Mat, Saddle::Preconditioner<double>> with(A);
    plain.setTolerance(1e-10);
    with.setTolerance(1e-10);
    const Eigen::VectorXd y = plain.solve(b), x = with.solve(b);
    CHECK(with.preconditioner().option("method") == "ilu");
    CHECK(with.info() == Eigen::Success && (A * x - b).norm() <= 1e-8 * b.norm());
    CHECK(with.iterations() < plain.iterations());
    using Single = Eigen::SparseMatrix<float, Eigen::RowMajor>;
    const Single F = A.cast<float>();
    Eigen::BiCGSTAB<Single, Saddle::Preconditioner<float>> single(F);
    single.setTolerance(1e-5f);
    const Eigen::VectorXf z = single.solve(b.cast<float>().eval());
    CHECK(single.info() == Eigen::Success && (z.cast<double>() - x).norm() <= 1e-3 * x.norm());
}

void a_preconditioner_that_fails_says_so()
{
    const Mat general = [] {
        Mat A = laplacian(5);
        A.coeffRef(0, 1) = 7;
        return A;
    }();
    Saddle::Preconditioner<double> M;
    M.setOption("method", "ldlt").compute(general);
    CHECK(M.info() == Eigen::InvalidInput && M.lastMessage().find("symmetric") != std::string::npos);
    M.setOption("method", "ilu").compute(general);
    Eigen::VectorXd b = random_vector(25);
    b[3] = std::numeric_limits<double>::infinity();
    Eigen::VectorXd z = M.solve(b);
    CHECK(M.info() == Eigen::InvalidInput && !M.lastMessage().empty());
    b[3] = 1;
    z = M.solve(b);
    CHECK(M.info() == Eigen::Success && M.lastMessage().empty());
}

} /* namespace */

int main()
{
    std::printf("1..15\n");
    run("solves as SparseLU does", solves_as_sparse_lu_does);
    run("quasidefinite systems agree with SimplicialLDLT", quasidefinite_systems_agree_with_simplicial_ldlt);
    run("every storage is read", every_storage_is_read);
    run("right-hand sides of all kinds", right_hand_sides_of_all_kinds);
    run("factors multiply to the matrix", factors_multiply_to_the_matrix);
    run("new values on the same pattern", new_values_on_the_same_pattern);
    run("the other triangle may come and go", the_other_triangle_may_come_and_go);
    run("options are the library's", options_are_the_library_s);
    run("singular and empty matrices", singular_and_empty_matrices);
    run("zero pivots are found, whoever asks first", zero_pivots_are_found_whoever_asks_first);
    run("what is wrong is invalid input", what_is_wrong_is_invalid_input);
    run("moved solvers solve on", moved_solvers_solve_on);
    run("conjugate gradients are preconditioned", conjugate_gradients_are_preconditioned);
    run("general systems are preconditioned by ilu", general_systems_are_preconditioned_by_ilu);
    run("a preconditioner that fails says so", a_preconditioner_that_fails_says_so);
    return failures > 0;
}
