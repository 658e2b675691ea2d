/*
 * Products with a sparse matrix on the GPU, by rows that gather.
 *
 * A row is summed by a group of `lanes` threads of a warp, 1 to 32 by the average row (Bell and
 * Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors, 2009:
 * the CSR vector kernel with sub-warps): lane l takes entries l, l + lanes, ... in that order, a batch of
 * them read before any is used, then a tree over the lanes. Sums are carried in double in both precisions, in
 * double-double for residual_dd (core/dd.h). Sweeps over a triangle and its residual are products that end
 * otherwise.
 *
 * A row that is much longer than the others would keep its group busy long after all are done. The
 * group puts it on a pile instead, and a second kernel sums it in pieces, a warp each; the warp that
 * finishes a row's last piece adds the pieces up in order. Which place a row gets on the pile is
 * chance; what is added to what is not. choose_shape says from n and nnz what counts as long, such
 * that the pile and the pieces fit in the scratch of 2n doubles that the library reserves.
 */
#include "backend/cuda/cuda.cuh"

#include <math.h>

namespace sd_cuda
{
namespace
{

/* Sum of products as hi + lo; lo is 0 except for the extended mode. */
struct carried {
    double hi, lo;
};

__device__ inline void add(carried &sum, double a)
{
    const double next = sum.hi + a;
    const double part = next - sum.hi;
    sum.lo += (sum.hi - (next - part)) + (a - part);
    sum.hi = next;
}

template <product_mode mode> __device__ inline void add_product(carried &sum, double a, double x)
{
    const double product = a * x;
    if (mode == EXTENDED) {
        sum.lo += __fma_rn(a, x, -product);
        add(sum, product);
    } else {
        sum.hi += mode == ABSOLUTE ? fabs(product) : product;
    }
}

template <product_mode mode> __device__ inline void join(carried &sum, const carried &other)
{
    if (mode == EXTENDED) {
        add(sum, other.hi);
        sum.lo += other.lo;
    } else {
        sum.hi += other.hi;
    }
}

/* Joins the sums of `lanes` threads: the first of them has the result. */
template <product_mode mode, int lanes> __device__ inline void join_lanes(carried &sum)
{
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) {
        carried other = {__shfl_down_sync(ALL_LANES, sum.hi, step, lanes), 0};
        if (mode == EXTENDED) other.lo = __shfl_down_sync(ALL_LANES, sum.lo, step, lanes);
        join<mode>(sum, other);
    }
}

/* The operands of a product y = A x or y = b - A x, or with a triangle, whose diagonal is apart. */
template <class real> struct operands {
    int32_t n;
    const int64_t *ptr;
    const int32_t *ind;
    const real *val, *x, *b, *reciprocal;
    real *y;
};

constexpr int BATCH = 8, FEW = 4; /* entries that a thread has under way; where rows are short */

/* An index and a value of the matrix, which are read once and not to drive the vectors out of the second
 * cache. (In the first they stay for the lanes beside.) In single this was slower than plain loads. */
__device__ inline void read_once(const int32_t *ind, const double *val, uint64_t policy, int32_t &j,
                                 double &a)
{
    j = load_with(ind, policy);
    a = load_with(val, policy);
}
__device__ inline void read_once(const int32_t *ind, const float *val, uint64_t, int32_t &j, float &a)
{
    j = __ldg(ind);
    a = __ldg(val);
}

/* Entries first, first + lanes, ... before end, `batch` of them under way at once. */
template <product_mode mode, int lanes, int batch, class real>
__device__ inline carried gather(const operands<real> &o, int64_t first, int64_t end)
{
    const uint64_t policy = policy_of_leaving();
    carried sum = {0, 0};
    const real *val = o.val + first;
    const int32_t *ind = o.ind + first;
    for (int left = static_cast<int>(end - first); left > 0; left -= batch * lanes) {
        real a[batch], x[batch];
        int32_t j[batch];
#pragma unroll
        for (int u = 0; u < batch; ++u)
            if (u * lanes < left) read_once(ind + u * lanes, val + u * lanes, policy, j[u], a[u]);
#pragma unroll
        for (int u = 0; u < batch; ++u)
            if (u * lanes < left) x[u] = __ldg(o.x + j[u]);
#pragma unroll
        for (int u = 0; u < batch; ++u)
            if (u * lanes < left) add_product<mode>(sum, a[u], x[u]);
        val += batch * lanes;
        ind += batch * lanes;
    }
    return sum;
}

template <product_mode mode, class real>
__device__ inline void put(const operands<real> &o, int32_t row, carried sum)
{
    double value = sum.hi;
    if (mode == EXTENDED) {
        carried r = {-sum.hi, -sum.lo};
        add(r, o.b[row]);
        value = r.hi + r.lo;
    }
    if (mode == SWEPT) value = (o.b[row] - sum.hi) * o.reciprocal[row];
    if (mode == SUBTRACTED) value = o.b[row] - sum.hi - o.x[row] / o.reciprocal[row];
    o.y[row] = static_cast<real>(value);
}

/* A row on the pile: its sums are at `base` of the pieces' sums. */
struct piled_row {
    int32_t row, pieces, base, done;
};

/* The pile, in the engine's scratch. The counter holds the number of rows above PILE_BITS and the
 * number of pieces below, so that one addition gives both and rows are in order of their base. */
struct pile {
    int64_t long_row, piece; /* see row_shape */
    piled_row *rows;
    double *hi, *lo;
    counters *counter;
};

constexpr int PILE_BITS = 32;

__device__ void put_on_pile(const pile &p, int32_t row, int64_t entries)
{
    const long long pieces = (entries + p.piece - 1) / p.piece;
    const unsigned long long place = atomicAdd(&p.counter->pile, (1ull << PILE_BITS) + pieces);
    const piled_row found = {row, static_cast<int32_t>(pieces), static_cast<int32_t>(place), 0};
    p.rows[place >> PILE_BITS] = found;
}

template <class real, product_mode mode, int lanes, int batch>
__global__ void __launch_bounds__(BLOCK) multiply_rows(const operands<real> o, const pile p)
{
    after_others();
    const int lane = threadIdx.x % lanes;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * (BLOCK / lanes);
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * (BLOCK / lanes); first < o.n; first += stride) {
        const int64_t row = first + threadIdx.x / lanes;
        int64_t begin = 0, end = 0;
        if (row < o.n) {
            begin = __ldg(o.ptr + row);
            end = __ldg(o.ptr + row + 1);
        }
        const bool is_long = end - begin > p.long_row;
        carried sum = gather<mode, lanes, batch>(o, begin + lane, is_long ? begin : end);
        join_lanes<mode, lanes>(sum);
        if (lane == 0 && row < o.n) {
            if (is_long)
                put_on_pile(p, static_cast<int32_t>(row), end - begin);
            else
                put<mode>(o, static_cast<int32_t>(row), sum);
        }
    }
}

/* The row that piece w belongs to: the last whose base is not beyond it. */
__device__ int row_of_piece(const piled_row *rows, int count, int w)
{
    int low = 0, high = count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (rows[middle].base <= w)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Leaves the sum of a piece at w; whether it was the row's last one to be done, in all lanes. */
__device__ bool leave_piece(const pile &p, piled_row &r, int w, const carried &sum, int lane)
{
    int last = 0;
    if (lane == 0) {
        p.hi[w] = sum.hi;
        p.lo[w] = sum.lo;
        __threadfence();
        last = atomicAdd(&r.done, 1) == r.pieces - 1;
        __threadfence();
    }
    last = __shfl_sync(ALL_LANES, last, 0);
    __syncwarp(); /* what lane 0 may now see, all may */
    return last != 0;
}

template <class real, product_mode mode>
__global__ void __launch_bounds__(BLOCK) multiply_long_rows(const operands<real> o, const pile p)
{
    after_others();
    const int lane = threadIdx.x % WARP;
    const unsigned long long found = p.counter->pile;
    const int rows = static_cast<int>(found >> PILE_BITS), pieces = static_cast<int>(found);
    const int64_t warps = static_cast<int64_t>(gridDim.x) * (BLOCK / WARP);
    for (int64_t w = (static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x) / WARP; w < pieces;
         w += warps) {
        piled_row &r = p.rows[row_of_piece(p.rows, rows, static_cast<int>(w))];
        const int64_t begin = o.ptr[r.row] + (w - r.base) * p.piece, stop = o.ptr[r.row + 1];
        const int64_t end = stop - begin < p.piece ? stop : begin + p.piece;
        carried sum = gather<mode, WARP, BATCH>(o, begin + lane, end);
        join_lanes<mode, WARP>(sum);
        if (!leave_piece(p, r, static_cast<int>(w), sum, lane)) continue;
        sum = {0, 0};
        for (int k = r.base + lane; k < r.base + r.pieces; k += WARP)
            join<mode>(sum, carried{__ldcg(p.hi + k), __ldcg(p.lo + k)});
        join_lanes<mode, WARP>(sum);
        if (lane == 0) put<mode>(o, r.row, sum);
    }
    __syncthreads(); /* all warps of the block have read the counter */
    if (threadIdx.x == 0 && atomicAdd(&p.counter->ticket, 1) == gridDim.x - 1) {
        p.counter->ticket = 0;
        p.counter->pile = 0;
    }
}

/* n doubles for the pieces' sums and n for the rows: more than choose_shape lets be used. */
bool make_pile(sd_engine *e, const char *what, const row_shape &shape, int32_t n, pile *p)
{
    double *room = static_cast<double *>(scratch(e, 2 * static_cast<int64_t>(sizeof(double)) * n, what));
    if (!room) return false;
    *p = {shape.long_row, shape.piece,  reinterpret_cast<piled_row *>(room + n),
          room,           room + n / 2, state_of(e)->counter};
    return true;
}

template <class real, product_mode mode, int lanes, int batch = BATCH>
void launch_rows(sd_engine *e, const char *what, const operands<real> &o, const pile &p)
{
    constexpr int rows = BLOCK / lanes;
    /* several rounds a block, for it costs to start one; many blocks, for they take unequal time */
    const int64_t wanted = (static_cast<int64_t>(o.n) + rows - 1) / rows,
                  most = static_cast<int64_t>(state_of(e)->processors) * 64;
    launch_early(e, what, multiply_rows<real, mode, lanes, batch>, wanted < most ? wanted : most, o, p);
}

template <class real, product_mode mode>
void launch_shape(sd_engine *e, const char *what, const row_shape &shape, const operands<real> &o,
                  const pile &p)
{
    if (shape.lanes == 1 && shape.few) {
        launch_rows<real, mode, 1, FEW>(e, what, o, p);
        return;
    }
    switch (shape.lanes) {
    case 1: launch_rows<real, mode, 1>(e, what, o, p); break;
    case 2: launch_rows<real, mode, 2>(e, what, o, p); break;
    case 4: launch_rows<real, mode, 4>(e, what, o, p); break;
    case 8: launch_rows<real, mode, 8>(e, what, o, p); break;
    case 16: launch_rows<real, mode, 16>(e, what, o, p); break;
    default: launch_rows<real, mode, 32>(e, what, o, p); break;
    }
}

} /* namespace */

namespace
{

template <class real>
operands<real> operands_of(const sd_sparse *A, const sd_vector *x, const sd_vector *b, sd_vector *y)
{
    return {A->n,
            A->ptr,
            A->ind,
            static_cast<const real *>(A->val),
            static_cast<const real *>(x->data),
            b ? static_cast<const real *>(b->data) : NULL,
            NULL,
            static_cast<real *>(y->data)};
}

/* The second kernel is not worth its launch where no row can be long. */
bool may_have_long_rows(const sd_sparse *A, const row_shape &shape)
{
    return (A->longest > 0 ? A->longest : A->nnz) > shape.long_row;
}

template <class real, product_mode mode>
void multiply(sd_engine *e, const char *what, const row_shape &shape, const sd_sparse *A,
              const operands<real> &o)
{
    const bool any_long = may_have_long_rows(A, shape);
    pile p = {};
    p.long_row = INT64_MAX;
    if (any_long && !make_pile(e, what, shape, A->n, &p)) return;
    launch_shape<real, mode>(e, what, shape, o, p);
    if (any_long && !e->status)
        launch_early(e, what, multiply_long_rows<real, mode>,
                     static_cast<int64_t>(state_of(e)->processors) * 4, o, p);
}

} /* namespace */

/*
 * Lanes: at most a batch of entries each, and twice that in single, which was within 10 % of the best of 1 to
 * 32 on all matrices of bench/kernels/cuda_kernels.cu on an H200 except one (bench/results). Long rows: above
 * 64 entries a lane and 16 average rows, so there are at most n/16 of them; their pieces of at least 4
 * average rows are at most n/4 and one more for each of them. That is below the n/2 that there is room for.
 */
row_shape choose_shape(const sd_sparse *A)
{
    const int64_t average = A->n > 0 ? (A->nnz + A->n - 1) / A->n : 0;
    row_shape shape = {1, average <= FEW, 0, 1024};
    const int share = A->precision == SD_DOUBLE ? BATCH : 2 * BATCH;
    while (shape.lanes < WARP && share * shape.lanes < average) shape.lanes *= 2;
    while (shape.piece < 4 * average) shape.piece *= 2;
    shape.long_row = 64 * shape.lanes > 16 * average ? 64 * shape.lanes : 16 * average;
    return shape;
}

template <class real, product_mode mode>
void product(sd_engine *e, const char *what, const row_shape &shape, const sd_sparse *A, const sd_vector *x,
             const sd_vector *b, sd_vector *y)
{
    if (e->status || A->n == 0) return;
    if (A->half) {
        e->status =
            fail(e->context, SADDLE_NOT_SUPPORTED,
                 "%s: the matrix is stored as a triangle; the CUDA module requires all entries", what);
        return;
    }
    multiply<real, mode>(e, what, shape, A, operands_of<real>(A, x, b, y));
}

namespace
{

/* A triangle off its diagonal, and what is to become of the sums of its rows. */
template <class real, product_mode mode>
void multiply_triangle(sd_engine *e, const char *what, const sd_triangle *t, const sd_vector *b,
                       const sd_vector *x, sd_vector *y)
{
    sd_sparse A = {};
    A.n = t->n;
    A.nnz = t->entries;
    A.longest = t->longest;
    A.precision = t->precision;
    A.ptr = t->ptr;
    A.ind = t->ind;
    A.val = t->val;
    operands<real> o = operands_of<real>(&A, x, b, y);
    o.reciprocal = static_cast<const real *>(t->reciprocal);
    multiply<real, mode>(e, what, choose_shape(&A), &A, o);
}

} /* namespace */

template <class real>
void sweep_rows(sd_engine *e, const sd_triangle *t, const sd_vector *b, const sd_vector *from, sd_vector *to)
{
    multiply_triangle<real, SWEPT>(e, "triangle_sweep", t, b, from, to);
}

template <class real>
void subtract_rows(sd_engine *e, const sd_triangle *t, const sd_vector *b, const sd_vector *v, sd_vector *r)
{
    multiply_triangle<real, SUBTRACTED>(e, "triangle_residual", t, b, v, r);
}

template <class real> void spmv(sd_engine *e, const sd_sparse *A, const sd_vector *x, sd_vector *y)
{
    product<real, PLAIN>(e, "spmv", choose_shape(A), A, x, NULL, y);
}

template <class real> void spmv_abs(sd_engine *e, const sd_sparse *A, const sd_vector *x, sd_vector *y)
{
    product<real, ABSOLUTE>(e, "spmv_abs", choose_shape(A), A, x, NULL, y);
}

template <class real>
void residual_dd(sd_engine *e, const sd_sparse *A, const sd_vector *x, const sd_vector *b, sd_vector *r)
{
    product<real, EXTENDED>(e, "residual_dd", choose_shape(A), A, x, b, r);
}

/* The rows of kernels.def that are defined here, in both precisions. */
BOTH(spmv)
BOTH(spmv_abs)
BOTH(residual_dd)
BOTH(sweep_rows)
BOTH(subtract_rows)

/* and what the benchmark runs in other shapes */
template decltype(product<double, PLAIN>) product<double, PLAIN>;
template decltype(product<float, PLAIN>) product<float, PLAIN>;

} /* namespace sd_cuda */
