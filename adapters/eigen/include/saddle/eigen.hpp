/*
 * Saddle for Eigen: a sparse solver that follows Eigen's concept, and a preconditioner for Eigen's
 * iterations.
 *
 *     #include <saddle/eigen.hpp>
 *
 *     Saddle::LDLT<Eigen::SparseMatrix<double>> ldlt(A);          // symmetric, indefinite or not
 *     if (ldlt.info() != Eigen::Success) std::cerr << ldlt.lastMessage() << "\n";
 *     Eigen::VectorXd x = ldlt.solve(b);
 *
 *     Eigen::ConjugateGradient<Mat, Eigen::Lower | Eigen::Upper, Saddle::Preconditioner<double>> cg;
 *     cg.preconditioner().setOption("method", "ic");
 *
 * Link with libsaddle (CMake: saddle::eigen). C++14 or later, Eigen 3.3 or later. Objects can be moved, not
 * copied.
 */
#ifndef SADDLE_EIGEN_HPP
#define SADDLE_EIGEN_HPP

#include <Eigen/SparseCore>

#include <saddle/saddle.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace Saddle
{

/* Numbers of eigenvalues of each sign; certain: certified to be those of the matrix itself. */
struct Inertia {
    Eigen::Index positive, negative, zero;
    bool certain;
};

namespace internal
{

/* What Eigen calls a status. */
inline Eigen::ComputationInfo info_of(saddle_status status)
{
    switch (status) {
    case SADDLE_OK: return Eigen::Success;
    case SADDLE_NOT_CONVERGED:
    case SADDLE_CANCELLED: return Eigen::NoConvergence;
    case SADDLE_SINGULAR:
    case SADDLE_NOT_DEFINITE:
    case SADDLE_DEVICE_FAILED: return Eigen::NumericalIssue;
    case SADDLE_OUT_OF_MEMORY: throw std::bad_alloc(); /* as Eigen does */
    default: return Eigen::InvalidInput;
    }
}

template <typename Scalar> struct type_of {
    static_assert(std::is_same<Scalar, double>::value || std::is_same<Scalar, float>::value,
                  "Saddle solves real systems: the scalar must be double or float");
    static saddle_type value()
    {
        return std::is_same<Scalar, double>::value ? SADDLE_DOUBLE : SADDLE_FLOAT;
    }
};

/*
 * An Eigen matrix as the library sees it: its own arrays where these are compressed and have 32-bit indices;
 * otherwise, or where a copy is asked for, copies of the entries of the triangle that is wanted, kept here.
 */
template <int UpLo> class View
{
  public:
    template <typename MatrixType> View(const MatrixType &A, bool copied)
    {
        using Scalar = typename MatrixType::Scalar;
        using StorageIndex = typename MatrixType::StorageIndex;
        const bool by_rows = MatrixType::IsRowMajor;
        if (A.rows() > std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument("saddle: the matrix has more than 2^31 - 1 rows");
        view_.size = sizeof view_;
        view_.rows = A.rows();
        view_.columns = A.cols();
        view_.layout = by_rows ? SADDLE_ROWS : SADDLE_COLUMNS;
        view_.shape = UpLo == Eigen::Lower   ? SADDLE_LOWER
                      : UpLo == Eigen::Upper ? SADDLE_UPPER
                                             : SADDLE_GENERAL;
        view_.type = type_of<Scalar>::value();
        view_.base = 0;
        view_.col_indices = nullptr;
        if (copied || sizeof(StorageIndex) != sizeof(std::int32_t) || !A.isCompressed()) {
            copy(A);
            return;
        }
        view_.entries = A.outerSize() > 0 ? A.nonZeros() : 0;
        view_.pointer_bits = 32;
        view_.pointers = A.outerIndexPtr();
        view_.indices = reinterpret_cast<const std::int32_t *>(A.innerIndexPtr());
        view_.values = A.valuePtr();
    }
    View(const View &) = delete;
    View &operator=(const View &) = delete;

    const saddle_matrix *get() const
    {
        return &view_;
    }
    /* The same without values. */
    saddle_matrix pattern() const
    {
        saddle_matrix p = view_;
        p.values = nullptr;
        return p;
    }

  private:
    /* Entry `inner` of outer vector `outer`. */
    static bool is_wanted(Eigen::Index outer, Eigen::Index inner, bool by_rows)
    {
        const Eigen::Index row = by_rows ? outer : inner, column = by_rows ? inner : outer;
        return UpLo == Eigen::Lower ? row >= column : UpLo == Eigen::Upper ? row <= column : true;
    }

    template <typename MatrixType> void copy(const MatrixType &A)
    {
        using Scalar = typename MatrixType::Scalar;
        pointers_.assign(1, 0);
        pointers_.reserve(static_cast<std::size_t>(A.outerSize()) + 1);
        indices_.reserve(static_cast<std::size_t>(A.nonZeros()));
        values_.reserve(static_cast<std::size_t>(A.nonZeros()) * sizeof(Scalar));
        for (Eigen::Index j = 0; j < A.outerSize(); ++j) {
            for (typename MatrixType::InnerIterator it(A, j); it; ++it) {
                if (!is_wanted(j, it.index(), MatrixType::IsRowMajor)) continue;
                const Scalar value = it.value();
                const unsigned char *bytes = reinterpret_cast<const unsigned char *>(&value);
                indices_.push_back(static_cast<std::int32_t>(it.index()));
                values_.insert(values_.end(), bytes, bytes + sizeof value);
            }
            pointers_.push_back(static_cast<std::int64_t>(indices_.size()));
        }
        view_.entries = pointers_.back();
        view_.pointer_bits = 64;
        view_.pointers = pointers_.data();
        view_.indices = indices_.data();
        view_.values = values_.data();
    }

    saddle_matrix view_;
    std::vector<std::int64_t> pointers_;
    std::vector<std::int32_t> indices_;
    std::vector<unsigned char> values_; /* of new, so aligned for any scalar */
};

/* A solver of the library with its options. One that was moved from is as new. */
class Handle
{
  public:
    explicit Handle(const char *method) : method_(method), options_(saddle_options_default())
    {
        set("method", method);
    }
    Handle(Handle &&other) : Handle(other.method_)
    {
        swap(other);
    }
    Handle &operator=(Handle &&other)
    {
        Handle fresh(other.method_);
        swap(other);
        other.swap(fresh);
        return *this;
    }

    void set(const std::string &name, const std::string &text)
    {
        char message[SADDLE_MESSAGE_SIZE];
        saddle_options next = options_;
        if (saddle_options_set(&next, name.c_str(), text.c_str(), message))
            throw std::invalid_argument(std::string("saddle: ") + message);
        if (solver_ && saddle_set_options(solver_.get(), &next))
            throw std::invalid_argument(std::string("saddle: ") + saddle_message(solver_.get()));
        options_ = next;
    }
    std::string get(const std::string &name) const
    {
        char text[64];
        if (saddle_options_get(&options_, name.c_str(), text, sizeof text))
            throw std::invalid_argument("saddle: there is no option \"" + name + "\"");
        return text;
    }

    saddle_status analyse(const saddle_matrix *A)
    {
        saddle_status status = open();
        if (!status) status = keep(saddle_analyse(solver_.get(), A));
        return status;
    }
    saddle_status factor(const saddle_matrix *A)
    {
        saddle_status status = open();
        if (!status) status = keep(saddle_factor(solver_.get(), A));
        return status;
    }
    const saddle_solver *solver() const
    {
        return solver_.get();
    }
    const std::string &message() const
    {
        return message_;
    }
    void tell(const char *message) const
    {
        message_ = message;
    }

  private:
    struct Destroy {
        void operator()(saddle_solver *solver) const
        {
            saddle_destroy(&solver);
        }
    };

    void swap(Handle &other)
    {
        std::swap(method_, other.method_);
        std::swap(options_, other.options_);
        std::swap(solver_, other.solver_);
        std::swap(message_, other.message_);
    }
    saddle_status open()
    {
        if (solver_) return SADDLE_OK;
        char message[SADDLE_MESSAGE_SIZE];
        saddle_solver *made = nullptr;
        const saddle_status status = saddle_create(&made, &options_, nullptr, message);
        solver_.reset(made);
        if (status) message_ = message;
        return status;
    }
    saddle_status keep(saddle_status status)
    {
        message_ = status ? saddle_message(solver_.get()) : "";
        return status;
    }

    const char *method_; /* by default */
    saddle_options options_;
    std::unique_ptr<saddle_solver, Destroy> solver_;
    mutable std::string message_;
};

/*
 * What LDLT and Preconditioner have in common: a solver, its options by name, the verbs on a matrix of which
 * the triangle UpLo is read (both: all of it), and how the last call went.
 */
template <typename Derived, int UpLo_> class Solver : public Eigen::SparseSolverBase<Derived>
{
    using Base = Eigen::SparseSolverBase<Derived>;

  public:
    enum { UpLo = UpLo_, ColsAtCompileTime = Eigen::Dynamic, MaxColsAtCompileTime = Eigen::Dynamic };

    Eigen::ComputationInfo info() const
    {
        return info_;
    }
    const std::string &lastMessage() const
    {
        return handle_.message();
    }
    Eigen::Index rows() const
    {
        return n_;
    }
    Eigen::Index cols() const
    {
        return n_;
    }

    /* Options of the library by name; an unknown name or value throws std::invalid_argument. The next
     * factorize or solve obeys. */
    Derived &setOption(const std::string &name, const std::string &text)
    {
        handle_.set(name, text);
        return this->derived();
    }
    std::string option(const std::string &name) const
    {
        return handle_.get(name);
    }

  protected:
    using Base::m_isInitialized;

    explicit Solver(const char *method) : handle_(method), info_(Eigen::Success), n_(0), copied_(false)
    {
    }
    Solver(Solver &&other)
        : Base(), handle_(std::move(other.handle_)), info_(other.info_), n_(other.n_), copied_(other.copied_)
    {
        m_isInitialized = other.m_isInitialized;
        other.m_isInitialized = false;
        other.n_ = 0;
    }
    Solver &operator=(Solver &&other)
    {
        if (this == &other) return *this;
        handle_ = std::move(other.handle_);
        info_ = other.info_;
        n_ = other.n_;
        copied_ = other.copied_;
        m_isInitialized = other.m_isInitialized;
        other.m_isInitialized = false;
        other.n_ = 0;
        return *this;
    }

    template <typename MatrixType> void analyse(const MatrixType &A)
    {
        copied_ = false;
        give(A, [this](const View<UpLo_> &view) {
            const saddle_matrix pattern = view.pattern();
            return handle_.analyse(&pattern);
        });
    }
    template <typename MatrixType> void factor(const MatrixType &A)
    {
        give(A, [this](const View<UpLo_> &view) { return handle_.factor(view.get()); });
    }

    Handle handle_;
    mutable Eigen::ComputationInfo info_;
    Eigen::Index n_;

  private:
    /* The library refuses entries of the other triangle, so they need not be looked for: where there are
     * some, it gets a copy without them, from now on at once. */
    template <typename MatrixType, typename Verb> void give(const MatrixType &A, const Verb &verb)
    {
        const bool triangle = UpLo_ == Eigen::Lower || UpLo_ == Eigen::Upper;
        n_ = A.rows();
        saddle_status status = verb(View<UpLo_>(A, copied_));
        if (status == SADDLE_BAD_MATRIX && triangle && !copied_) {
            copied_ = true;
            status = verb(View<UpLo_>(A, true));
        }
        info_ = info_of(status);
    }

    bool copied_; /* the matrix that was analysed has entries of both triangles, and only one is read */
};

/* Whether columns of an expression can be given to the library as they are. */
template <typename Dest> struct is_plain {
    enum {
        value = std::is_same<typename Dest::Scalar, double>::value &&
                (int(Dest::Flags) & int(Eigen::DirectAccessBit)) != 0 &&
                (int(Dest::IsRowMajor) == 0 || int(Dest::ColsAtCompileTime) == 1)
    };
};

/* x = what `call` makes of b, columns of doubles in place: of a copy, or where x lies. */
template <typename Rhs, typename Dest, typename Call>
void in_place(const Rhs &b, Dest &x, const Call &call, std::false_type)
{
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic> w = b.template cast<double>();
    call(w.cols(), w.data(), w.rows());
    x = w.template cast<typename Dest::Scalar>();
}
template <typename Rhs, typename Dest, typename Call>
void in_place(const Rhs &b, Dest &x, const Call &call, std::true_type)
{
    if (x.innerStride() != 1 || (x.cols() > 1 && x.outerStride() < x.rows())) {
        in_place(b, x, call, std::false_type());
        return;
    }
    x = b.template cast<double>();
    call(x.cols(), x.data(), x.cols() > 1 ? x.outerStride() : x.rows());
}
template <typename Rhs, typename Dest, typename Call> void in_place(const Rhs &b, Dest &x, const Call &call)
{
    in_place(b, x, call, std::integral_constant<bool, is_plain<Dest>::value != 0>());
}

} /* namespace internal */

/*
 * S A S = P' L D L' P of a symmetric matrix, D with 1x1 and 2x2 pivots, by the direct solver of Saddle;
 * solves are refined and measured. Only the triangle UpLo of the matrix is read. factorize may be called
 * again with other values of the same pattern.
 *
 * info() is Success, NumericalIssue (singular; solve still finds the solution of a system that has one),
 * NoConvergence (a solve did not reach the option tol) or InvalidInput; lastMessage() says more.
 */
template <typename MatrixType_, int UpLo_ = Eigen::Lower>
class LDLT : public internal::Solver<LDLT<MatrixType_, UpLo_>, UpLo_>
{
    using Base = internal::Solver<LDLT<MatrixType_, UpLo_>, UpLo_>;
    using Base::handle_;
    using Base::info_;
    using Base::m_isInitialized;
    using Base::n_;

  public:
    using MatrixType = MatrixType_;
    using Scalar = typename MatrixType::Scalar;
    using RealScalar = typename MatrixType::RealScalar;
    using StorageIndex = typename MatrixType::StorageIndex;
    using VectorType = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
    using FactorType = Eigen::SparseMatrix<Scalar, Eigen::ColMajor, StorageIndex>;
    using PermutationType = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, StorageIndex>;
    static_assert(UpLo_ == Eigen::Lower || UpLo_ == Eigen::Upper,
                  "UpLo must be Eigen::Lower or Eigen::Upper");

    LDLT() : Base("direct"), unseen_(false)
    {
    }
    explicit LDLT(const MatrixType &A) : LDLT()
    {
        compute(A);
    }
    LDLT(LDLT &&) = default;
    LDLT &operator=(LDLT &&) = default;

    LDLT &compute(const MatrixType &A)
    {
        analyzePattern(A);
        if (info_ == Eigen::Success) factorize(A);
        return *this;
    }
    void analyzePattern(const MatrixType &A)
    {
        unseen_ = false;
        this->analyse(A);
        m_isInitialized = true;
    }
    /* As analyzePattern has seen it, with other values. */
    void factorize(const MatrixType &A)
    {
        unseen_ = false;
        this->factor(A);
        m_isInitialized = true;
        unseen_ = info_ == Eigen::Success;
    }

    /* The first of these after a factorize looks for zero pivots. */
    Eigen::ComputationInfo info() const
    {
        eigen_assert(m_isInitialized && "Decomposition is not initialized.");
        find_zeros();
        return info_;
    }
    const std::string &lastMessage() const
    {
        find_zeros();
        return handle_.message();
    }

    /* L with its unit diagonal, D, P and S: P S A S P' = L D L'. All of these throw std::logic_error if
     * there are no factors. */
    FactorType matrixL() const
    {
        std::vector<std::int64_t> pointers(static_cast<std::size_t>(n_) + 1);
        check(saddle_get_l(handle_.solver(), pointers.data(), nullptr, nullptr));
        const std::size_t count = static_cast<std::size_t>(pointers.back());
        std::vector<std::int32_t> indices(count + 1);
        std::vector<double> values(count + 1);
        check(saddle_get_l(handle_.solver(), pointers.data(), indices.data(), values.data()));
        FactorType L(n_, n_);
        L.reserve(static_cast<Eigen::Index>(count) + n_);
        for (Eigen::Index j = 0; j < n_; ++j) {
            L.startVec(j);
            L.insertBack(j, j) = Scalar(1);
            for (std::int64_t k = pointers[static_cast<std::size_t>(j)];
                 k < pointers[static_cast<std::size_t>(j) + 1]; ++k)
                L.insertBack(indices[static_cast<std::size_t>(k)], j) =
                    static_cast<Scalar>(values[static_cast<std::size_t>(k)]);
        }
        L.finalize();
        return L;
    }
    FactorType matrixD() const
    {
        const std::vector<double> d = pivots(nullptr);
        FactorType D(n_, n_);
        D.reserve(3 * n_);
        for (Eigen::Index j = 0; j < n_; ++j) {
            D.startVec(j);
            if (j > 0 && below(d, j - 1) != 0) D.insertBack(j - 1, j) = static_cast<Scalar>(below(d, j - 1));
            D.insertBack(j, j) = static_cast<Scalar>(diagonal(d, j));
            if (below(d, j) != 0) D.insertBack(j + 1, j) = static_cast<Scalar>(below(d, j));
        }
        D.finalize();
        return D;
    }
    /* The diagonal of D where all pivots are 1x1, which they need not be: otherwise std::logic_error. */
    VectorType vectorD() const
    {
        const std::vector<double> d = pivots(nullptr);
        VectorType v(n_);
        for (Eigen::Index j = 0; j < n_; ++j) {
            if (below(d, j) != 0)
                throw std::logic_error("saddle: D has 2x2 pivots, so it is no vector: use matrixD");
            v[j] = static_cast<Scalar>(diagonal(d, j));
        }
        return v;
    }
    PermutationType permutationP() const
    {
        std::vector<std::int32_t> order(static_cast<std::size_t>(n_) + 1);
        pivots(order.data());
        PermutationType P(static_cast<Eigen::Index>(n_));
        for (Eigen::Index k = 0; k < n_; ++k)
            P.indices()[order[static_cast<std::size_t>(k)]] = static_cast<StorageIndex>(k);
        return P;
    }
    VectorType scaling() const
    {
        const std::vector<double> s = scale();
        VectorType v(n_);
        for (Eigen::Index k = 0; k < n_; ++k) v[k] = static_cast<Scalar>(s[static_cast<std::size_t>(k)]);
        return v;
    }

    /* Certified unless the option certify is off: that costs a solve. */
    Inertia inertia() const
    {
        const saddle_info info = query();
        if (info.inertia_positive < 0) check(SADDLE_WRONG_ORDER);
        return Inertia{static_cast<Eigen::Index>(info.inertia_positive),
                       static_cast<Eigen::Index>(info.inertia_negative),
                       static_cast<Eigen::Index>(info.inertia_zero), info.inertia_certain != 0};
    }
    /* log |det A|, minus infinity if A is singular; the sign of det A; det A, which may overflow. */
    double logAbsDeterminant() const
    {
        double sum = 0;
        sign_and_log(sum);
        return sum;
    }
    int signDeterminant() const
    {
        double sum = 0;
        return sign_and_log(sum);
    }
    Scalar determinant() const
    {
        double sum = 0;
        const int sign = sign_and_log(sum);
        return sign == 0 ? Scalar(0) : static_cast<Scalar>(sign * std::exp(sum));
    }

    /* What the last solver call knows: any item of saddle_info. */
    saddle_info query() const
    {
        saddle_info info = saddle_info_default();
        check(saddle_query(handle_.solver(), &info));
        return info;
    }

    using Base::_solve_impl;
    template <typename Rhs, typename Dest>
    void _solve_impl(const Eigen::MatrixBase<Rhs> &b, Eigen::MatrixBase<Dest> &x) const
    {
        eigen_assert(handle_.solver() && "LDLT: call compute or factorize first");
        eigen_assert(b.rows() == n_ && "LDLT: the right-hand side does not have as many rows as the matrix");
        internal::in_place(b.derived(), x.derived(), [this](Eigen::Index k, double *w, Eigen::Index ld) {
            saddle_info info = saddle_info_default();
            const saddle_status status = saddle_solve(handle_.solver(), k, w, ld, w, ld, &info);
            unseen_ = false;
            handle_.tell(status ? info.message : "");
            info_ = internal::info_of(status);
        });
    }

  private:
    static double diagonal(const std::vector<double> &d, Eigen::Index k)
    {
        return d[2 * static_cast<std::size_t>(k)];
    }
    static double below(const std::vector<double> &d, Eigen::Index k)
    {
        return d[2 * static_cast<std::size_t>(k) + 1];
    }

    static void check(saddle_status status)
    {
        if (status == SADDLE_OUT_OF_MEMORY) throw std::bad_alloc();
        if (status == SADDLE_WRONG_ORDER || status == SADDLE_BAD_ARGUMENT)
            throw std::logic_error("saddle: there are no factors L D L': compute has not succeeded, or the "
                                   "method is not direct");
        if (status) throw std::logic_error(std::string("saddle: ") + saddle_status_text(status));
    }
    std::vector<double> pivots(std::int32_t *order) const
    {
        std::vector<double> d(2 * static_cast<std::size_t>(n_) + 1);
        check(saddle_get_pivots(handle_.solver(), order, d.data()));
        return d;
    }
    std::vector<double> scale() const
    {
        std::vector<double> s(static_cast<std::size_t>(n_) + 1);
        check(saddle_get_scaling(handle_.solver(), s.data()));
        return s;
    }
    /* The sign of det A = det D / det S^2, and the logarithm of its size. */
    int sign_and_log(double &sum) const
    {
        const std::vector<double> d = pivots(nullptr), s = scale();
        int sign = 1;
        for (Eigen::Index k = 0; k < n_; ++k) {
            sum -= 2 * std::log(s[static_cast<std::size_t>(k)]);
            double value = diagonal(d, k);
            const double b = below(d, k);
            if (b != 0) { /* (a b; b c): b^2 (a/b c/b - 1) */
                ++k;
                sum -= 2 * std::log(s[static_cast<std::size_t>(k)]);
                sum += 2 * std::log(std::fabs(b));
                value = value / b * (diagonal(d, k) / b) - 1;
            }
            sum += std::log(std::fabs(value));
            sign *= value > 0 ? 1 : value < 0 ? -1 : 0;
        }
        return sign;
    }
    /* Zero pivots are what Eigen calls a numerical issue. To look at all of D takes a twentieth of the time
     * in which a very sparse matrix is factored, so that it waits until somebody asks. */
    void find_zeros() const
    {
        if (!unseen_) return;
        std::vector<double> d(2 * static_cast<std::size_t>(n_) + 1);
        unseen_ = false;
        if (saddle_get_pivots(handle_.solver(), nullptr, d.data())) return; /* of another method */
        for (Eigen::Index k = 0; k < n_; ++k) {
            if (diagonal(d, k) != 0 || below(d, k) != 0 || (k > 0 && below(d, k - 1) != 0)) continue;
            info_ = Eigen::NumericalIssue;
            handle_.tell("the matrix is singular: a pivot is zero");
            return;
        }
    }

    mutable bool unseen_; /* D, of a factorization that info_ takes for a success */
};

/*
 * A preconditioner of Saddle for Eigen's iterative solvers, z = M^-1 r. The option method chooses it:
 * diagonal, bjacobi, ldlt, jacobi, ic, ilu or direct. By default it is ilu of all entries or, if UpLo names a
 * triangle, ic of a symmetric matrix of which that one is read. CG and MINRES need a definite one: option
 * absolute.
 */
template <typename Scalar_, int UpLo_ = Eigen::Lower | Eigen::Upper>
class Preconditioner : public internal::Solver<Preconditioner<Scalar_, UpLo_>, UpLo_>
{
    using Base = internal::Solver<Preconditioner<Scalar_, UpLo_>, UpLo_>;
    using Base::handle_;
    using Base::info_;
    using Base::m_isInitialized;

  public:
    using Scalar = Scalar_;
    using RealScalar = Scalar_;
    using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
    using StorageIndex = int;

    Preconditioner() : Base(standard())
    {
    }
    template <typename MatType> explicit Preconditioner(const MatType &A) : Preconditioner()
    {
        compute(A);
    }
    Preconditioner(Preconditioner &&) = default;
    Preconditioner &operator=(Preconditioner &&) = default;

    template <typename MatType> Preconditioner &analyzePattern(const MatType &A)
    {
        this->analyse(A);
        return *this;
    }
    template <typename MatType> Preconditioner &factorize(const MatType &A)
    {
        this->factor(A);
        m_isInitialized = true;
        return *this;
    }
    template <typename MatType> Preconditioner &compute(const MatType &A)
    {
        analyzePattern(A);
        if (info_ == Eigen::Success) factorize(A);
        m_isInitialized = true;
        return *this;
    }

    using Base::_solve_impl;
    template <typename Rhs, typename Dest>
    void _solve_impl(const Eigen::MatrixBase<Rhs> &b, Eigen::MatrixBase<Dest> &x) const
    {
        internal::in_place(b.derived(), x.derived(), [this](Eigen::Index k, double *w, Eigen::Index ld) {
            char message[SADDLE_MESSAGE_SIZE];
            const saddle_status status = saddle_apply(handle_.solver(), 0, k, w, ld, w, ld, message);
            handle_.tell(status ? message : "");
            info_ = internal::info_of(status);
        });
    }

  private:
    static const char *standard()
    {
        return UpLo_ == Eigen::Lower || UpLo_ == Eigen::Upper ? "ic" : "ilu";
    }
};

} /* namespace Saddle */

#endif
