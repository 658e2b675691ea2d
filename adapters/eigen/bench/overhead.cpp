/*
 * What Saddle::LDLT costs on top of the C interface: factorize (also with info() asked for) and solve of the
 * same systems, minima over many repetitions in one run, accuracy beside.
 *
 *     EIGEN=/usr/include/eigen3 SADDLE_LIBRARY=build/lib/libsaddle.so OPTIMISE=-O2 \
 *         adapters/eigen/compile run c++ c++17 bench/overhead.cpp
 */
#include <saddle/eigen.hpp>

#include <chrono>
#include <cstdio>

namespace
{

using Mat = Eigen::SparseMatrix<double>;

Mat saddle_point(int n)
{
    std::vector<Eigen::Triplet<double>> list;
    const int m = n / 3, variables = n - m;
    for (int i = 0; i < variables; ++i) list.emplace_back(i, i, 4 + i % 3);
    for (int i = 1; i < variables; ++i) list.emplace_back(i, i - 1, -1.0);
    for (int k = 0; k < m; ++k) {
        list.emplace_back(variables + k, k, 2.0);
        list.emplace_back(variables + k, (k + 3) % variables, 1.0);
    }
    Mat A(n, n);
    A.setFromTriplets(list.begin(), list.end());
    return A;
}

template <typename Call> double least_seconds(int times, Call call)
{
    double least = 1e300;
    for (int k = 0; k < times; ++k) {
        const auto start = std::chrono::steady_clock::now();
        call();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (took.count() < least) least = took.count();
    }
    return least;
}

void compare(int n, int times)
{
    const Mat A = saddle_point(n);
    const Eigen::VectorXd b = Eigen::VectorXd::Ones(n);
    Eigen::VectorXd x(n), y(n);
    Saddle::LDLT<Mat> ldlt;
    ldlt.setOption("threads", "1").compute(A);
    saddle_options options = saddle_options_default();
    options.method = SADDLE_METHOD_DIRECT;
    options.threads = 1;
    saddle_solver *solver = nullptr;
    saddle_create(&solver, &options, nullptr, nullptr);
    const saddle_matrix view = saddle_symmetric(n, A.outerIndexPtr(), A.innerIndexPtr(), A.valuePtr());
    saddle_factor(solver, &view);
    saddle_info info = saddle_info_default();
    const double factor_c = least_seconds(times, [&] { saddle_factor(solver, &view); });
    const double factor = least_seconds(times, [&] { ldlt.factorize(A); });
    bool fine = true;
    const double asked = least_seconds(times, [&] {
        ldlt.factorize(A);
        fine = fine && ldlt.info() == Eigen::Success;
    });
    const double solve_c =
        least_seconds(times, [&] { saddle_solve(solver, 1, b.data(), n, y.data(), n, &info); });
    const double solve = least_seconds(times, [&] { x = ldlt.solve(b); });
    const Mat full = A.selfadjointView<Eigen::Lower>();
    std::printf("%8d %10.2f %10.2f %6.2f %10.2f %6.2f %10.2f %10.2f %6.2f %9.1e %9.1e%s\n", n, 1e6 * factor_c,
                1e6 * factor, factor / factor_c, 1e6 * asked, asked / factor_c, 1e6 * solve_c, 1e6 * solve,
                solve / solve_c, (full * y - b).norm() / b.norm(), (full * x - b).norm() / b.norm(),
                fine ? "" : " failed");
    saddle_destroy(&solver);
}

} /* namespace */

int main()
{
    std::printf("microseconds, minima  factor: C      Eigen  ratio with info()  ratio   solve: C      Eigen  "
                "ratio  residuals\n");
    compare(10, 20000);
    compare(10000, 100);
    return 0;
}
