/* A saddle-point system by Saddle::LDLT, which takes a matrix of Eigen's as it is, and its inertia. */
#include <saddle/eigen.hpp>

#include <iostream>

int main()
{
    const int n = 6, m = 3; /* min x'x/2 - x'e so that neighbours have the sum 1 */
    std::vector<Eigen::Triplet<double>> list;
    for (int i = 0; i < n; ++i) list.emplace_back(i, i, 1.0);
    for (int k = 0; k < m; ++k) {
        list.emplace_back(n + k, 2 * k, 1.0);
        list.emplace_back(n + k, 2 * k + 1, 1.0);
    }
    Eigen::SparseMatrix<double> A(n + m, n + m); /* the lower triangle is enough */
    A.setFromTriplets(list.begin(), list.end());

    const Saddle::LDLT<Eigen::SparseMatrix<double>> ldlt(A);
    if (ldlt.info() != Eigen::Success) {
        std::cerr << ldlt.lastMessage() << "\n";
        return 1;
    }
    const Eigen::VectorXd x = ldlt.solve(Eigen::VectorXd::Ones(n + m));
    const Saddle::Inertia inertia = ldlt.inertia();
    std::cout << "x = " << x.head(n).transpose() << "\n"
              << inertia.positive << " positive, " << inertia.negative << " negative eigenvalues\n";
    return x.head(n).isApprox(Eigen::VectorXd::Constant(n, 0.5)) && inertia.negative == m ? 0 : 1;
}
