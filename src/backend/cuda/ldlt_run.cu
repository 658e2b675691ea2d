/*
 * Block LDL' on a known pattern: see backend/ldlt.h.
 *
 * Scattering goes by the entries of the matrix (entries.cuh).
 *
 * Products C <- C - W C': a warp a target, in tiles of 8 x 8, which is what most targets have at most. A tile
 * is the accumulator of the matrix units' m8n8k4: lane l has entries (l / 4, 2 (l % 4)) and the one to its
 * right, and hands in entry (l / 4, l % 4) of W and of C, 0 where these keep nothing there. So each lane
 * reads its own two numbers of a step from memory, whatever the masks are, and those of several products at
 * once. The units work in double; single is rounded at the end.
 *
 * A target waits for its longest list of products: beyond LONG_LIST they are shared out among the warps of a
 * thread block, in pieces that the length of the list decides, whose sums are added in order.
 *
 * Weights W = C G: a warp a block, in the same way.
 */
#include "backend/cuda/entries.cuh"

#include "backend/cuda/batch_jobs.cuh"

namespace sd_cuda
{
namespace
{

/* ---- the matrix ---- */

/* A is in `outer`. */
template <class real, class outer>
__global__ void __launch_bounds__(BLOCK)
    scatter(const sd_sparse A, const int64_t *target, const double *scale, real *data, real *square)
{
    for_each_entry<outer>(A, [&](int64_t k, int32_t row, int32_t column, outer value) {
        const int64_t t = target[k];
        if (t == SD_LDLT_NOWHERE) return;
        const real scaled =
            static_cast<real>(sd_scale_both(static_cast<double>(value), scale[row], scale[column]));
        *(t >= 0 ? data + t : square - 1 - t) = scaled;
    });
}

/* ---- products ---- */

constexpr int TILE = 8, TILE_NUMBERS = TILE * TILE;
constexpr int WARPS = 8;      /* of a thread block */
constexpr int AT_HOME = 3;    /* thread blocks of a multiprocessor */
constexpr int LONG_LIST = 16; /* products that one warp makes */
constexpr int AT_ONCE = 4;    /* products whose numbers are read together */

/* What a product needs of its blocks a and b. Where there is none, width is 0. */
struct alignas(16) product_found {
    int64_t w, c;           /* their first numbers, of W and C */
    uint64_t inner;         /* a byte each: the first TILE columns that b keeps, as columns of W */
    uint32_t rows, columns; /* rows of a, of b */
    uint8_t row_step, column_step, width;
    uint32_t all; /* columns that b keeps */
};

template <class real> struct update_data {
    const real *data, *square; /* what is subtracted from */
    const real *c, *w;         /* of the products */
    real *new_data, *new_square;
};

/* A target: an off-diagonal block, or the lower triangle of a diagonal one. */
struct target_found {
    int64_t entry, first, last; /* its numbers, its products */
    uint32_t rows, columns;
    int height, width;
    bool square;
};

__device__ inline target_found find_target(const sd_ldlt_schedule &p, const sd_ldlt_part &part, int32_t k)
{
    const int32_t shapes = part.shape_end - part.shape;
    target_found t;
    t.square = k >= shapes;
    int64_t at;
    if (t.square) {
        const int32_t j = part.block + (k - shapes);
        at = static_cast<int64_t>(p.count) + j;
        t.height = t.width = p.start[j + 1] - p.start[j];
        t.rows = t.columns = ALL_LANES >> (WARP - t.height);
        t.entry = p.square[j];
    } else {
        at = part.shape + k;
        const sd_ldlt_shape shape = p.shape[at];
        t.height = shape.height;
        t.width = shape.width;
        t.rows = shape.rows;
        t.columns = shape.columns;
        t.entry = shape.entry;
    }
    t.first = p.first[at];
    t.last = p.first[at + 1];
    return t;
}

/* The place of bit k among the bits of a mask that are set; -1 where it is not, or k is. */
__device__ inline int rank_of(uint32_t mask, int k)
{
    return k >= 0 && (mask >> k & 1) ? __popc(mask & ((1u << k) - 1)) : -1;
}

/* Its k-th bit; -1 where it has no so many. */
__device__ inline int bit_of(uint32_t mask, int k)
{
    if ((mask & (mask + 1)) == 0) return mask >> k & 1 ? k : -1; /* no gaps */
    for (; k > 0; --k) mask &= mask - 1;
    return __ffs(static_cast<int>(mask)) - 1;
}

/* TILE of the bits from the `from`-th on, a byte each. */
__device__ inline uint64_t first_bits(uint32_t mask, int from)
{
    uint64_t bytes = 0;
    for (; from > 0; --from) mask &= mask - 1;
#pragma unroll
    for (int k = 0; k < TILE; ++k, mask &= mask - 1)
        bytes |= static_cast<uint64_t>(__ffs(static_cast<int>(mask)) - 1 & 31) << 8 * k;
    return bytes;
}

/* The lane's part of a tile. */
struct tile_place {
    int row, column;         /* of the target, of its two numbers */
    int row_bit, column_bit; /* of what it hands in: the row of block i and that of block j, or -1 */
    int step;                /* of the inner ones that it hands in, the first of every four */
    __device__ tile_place(const target_found &t, int row_tile, int column_tile, int lane)
        : row(row_tile * TILE + lane / 4), column(column_tile * TILE + 2 * (lane % 4)),
          row_bit(bit_of(t.rows, row)), column_bit(bit_of(t.columns, column_tile * TILE + lane / 4)),
          step(lane % 4)
    {
    }
};

/* The lane's numbers of two steps of a product. */
struct handed_in {
    double w[2], c[2];
};

/* sum <- sum - w c */
__device__ inline void subtract_product(const handed_in &in, double (&sum)[2])
{
#pragma unroll
    for (int u = 0; u < 2; ++u) mma_8x8x4(sum, -in.w[u], in.c[u]);
}

/* Numbers of the first TILE inner columns: without branches, so that many are on their way at once. */
template <class real>
__device__ inline handed_in read(const update_data<real> &x, const product_found &p, const tile_place &at)
{
    handed_in in;
    const int a = rank_of(p.rows, at.row_bit), b = rank_of(p.columns, at.column_bit);
#pragma unroll
    for (int u = 0; u < 2; ++u) {
        const int k = 4 * u + at.step, column = static_cast<int>(p.inner >> 8 * k & 31);
        const bool there = k < p.width;
        in.w[u] = there && a >= 0 ? x.w[p.w + a + column * p.row_step] : static_cast<real>(0);
        in.c[u] = there && b >= 0 ? x.c[p.c + b + k * p.column_step] : static_cast<real>(0);
    }
    return in;
}

/* sum <- sum - what the inner columns behind those make. */
template <class real>
__device__ inline void subtract_rest(const update_data<real> &x, product_found p, const tile_place &at,
                                     double (&sum)[2])
{
    for (int from = TILE; from < p.width; from += TILE) {
        product_found part = p;
        part.c += from * p.column_step;
        part.width = static_cast<uint8_t>(p.width - from);
        part.inner = first_bits(p.all, from);
        subtract_product(read(x, part, at), sum);
    }
}

/* The products in shared memory, AT_ONCE at a time; behind the last stand some of no width. */
template <class real>
__device__ inline void subtract_some(const update_data<real> &x, const product_found *product, int count,
                                     const tile_place &at, double (&sum)[2])
{
    for (int k = 0; k < count; k += AT_ONCE) {
        handed_in in[AT_ONCE];
        int most = 0;
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
            in[u] = read(x, product[k + u], at);
            most = max(most, static_cast<int>(product[k + u].width));
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) subtract_product(in[u], sum);
        if (most <= TILE) continue;
        for (int u = 0; u < AT_ONCE; ++u) subtract_rest(x, product[k + u], at, sum);
    }
}

__device__ inline product_found find_product(const sd_ldlt_schedule &p, int64_t k)
{
    const sd_ldlt_pair pair = p.pair[k];
    const sd_ldlt_shape a = p.shape[pair.a], b = p.shape[pair.b];
    return {a.weighed, b.entry,  first_bits(b.columns, 0), a.rows, b.rows, a.height, b.height,
            b.width,   b.columns};
}

/* sum <- sum - the products first .. last) of a tile; `product` is the warp's room for each lane. */
template <class real>
__device__ inline void subtract_list(const sd_ldlt_schedule &p, const update_data<real> &x, int64_t first,
                                     int64_t last, const tile_place &at, int lane, product_found *product,
                                     double (&sum)[2])
{
    static_assert(WARP % AT_ONCE == 0, "all that are read together are there");
    for (int64_t k = first; k < last; k += WARP) {
        const int count = last - k < WARP ? static_cast<int>(last - k) : WARP;
        __syncwarp();
        product[lane] = lane < count ? find_product(p, k + lane) : product_found{};
        __syncwarp();
        subtract_some(x, product, count, at, sum);
    }
}

/* The lane's two numbers of a tile, as they are before and after. */
template <class real>
__device__ inline void begin_tile(const update_data<real> &x, const target_found &t, const tile_place &at,
                                  double (&sum)[2])
{
    const real *const from = (t.square ? x.square : x.data) + t.entry;
#pragma unroll
    for (int u = 0; u < 2; ++u) {
        const bool there = at.row < t.height && at.column + u < t.width;
        sum[u] = there ? static_cast<double>(from[(at.column + u) * t.height + at.row]) : 0;
    }
}

template <class real>
__device__ inline void end_tile(const update_data<real> &x, const target_found &t, const tile_place &at,
                                const double (&sum)[2])
{
    real *const to = (t.square ? x.new_square : x.new_data) + t.entry;
#pragma unroll
    for (int u = 0; u < 2; ++u) {
        const int column = at.column + u;
        if (at.row >= t.height || column >= t.width || (t.square && column > at.row)) continue;
        to[column * t.height + at.row] = static_cast<real>(sum[u]);
        if (t.square) to[at.row * t.height + column] = static_cast<real>(sum[u]);
    }
}

/* Room of a thread block. */
struct update_room {
    product_found product[WARPS][WARP];
    double sum[WARPS][TILE_NUMBERS];
    target_found target[WARPS]; /* of those that are made together */
    bool together[WARPS];
};

/* f(place) for the tiles of a target that are wanted. */
template <class F> __device__ inline void for_each_tile(const target_found &t, int lane, const F &f)
{
    const int rows = (t.height + TILE - 1) / TILE, columns = (t.width + TILE - 1) / TILE;
    for (int column = 0; column < columns; ++column)
        for (int row = t.square ? column : 0; row < rows; ++row) f(tile_place(t, row, column, lane));
}

/* A tile by all warps of the thread block. */
template <class real>
__device__ inline void update_together(const sd_ldlt_schedule &p, const update_data<real> &x,
                                       const target_found &t, const tile_place &at, update_room &room)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t count = t.last - t.first;
    double sum[2] = {0, 0};
    if (warp == 0) begin_tile(x, t, at, sum);
    subtract_list(p, x, t.first + count * warp / WARPS, t.first + count * (warp + 1) / WARPS, at, lane,
                  room.product[warp], sum);
    room.sum[warp][2 * lane] = sum[0];
    room.sum[warp][2 * lane + 1] = sum[1];
    __syncthreads();
    if (warp == 0) {
#pragma unroll
        for (int k = 1; k < WARPS; ++k) {
            sum[0] += room.sum[k][2 * lane];
            sum[1] += room.sum[k][2 * lane + 1];
        }
        end_tile(x, t, at, sum);
    }
    __syncthreads();
}

/* `each` targets of the part a thread block, a warp each; then all warps for those with long lists. */
template <class real>
__global__ void __launch_bounds__(WARPS *WARP, AT_HOME)
    update(const sd_ldlt_schedule p, const sd_ldlt_part part, const update_data<real> x, int32_t each)
{
    __shared__ update_room room;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int32_t all = part.shape_end - part.shape + part.block_end - part.block;
    const int64_t number = static_cast<int64_t>(blockIdx.x) * each + warp;
    bool together = false;
    after_others();
    if (warp < each && number < all) {
        const target_found t = find_target(p, part, static_cast<int32_t>(number));
        const bool as_it_is = t.first == t.last && !t.square && x.new_data == x.data;
        together = t.last - t.first > LONG_LIST;
        if (together) {
            if (lane == 0) room.target[warp] = t;
        } else if (!as_it_is) {
            for_each_tile(t, lane, [&](const tile_place &at) {
                double sum[2];
                begin_tile(x, t, at, sum);
                subtract_list(p, x, t.first, t.last, at, lane, room.product[warp], sum);
                end_tile(x, t, at, sum);
            });
        }
    }
    if (lane == 0) room.together[warp] = together;
    if (!__syncthreads_or(together)) return;
    for (int k = 0; k < each; ++k) {
        if (!room.together[k]) continue;
        const target_found t = room.target[k];
        for_each_tile(t, lane, [&](const tile_place &at) { update_together(p, x, t, at, room); });
    }
}

/* ---- weights ---- */

/* A tile of -W: entries (row, k) of C and (k, column) of G handed in, as above. */
template <class real>
__device__ inline void weigh_tile(const sd_ldlt_shape &a, const real *c, const real *g, int row, int column,
                                  int step, double (&sum)[2])
{
    for (int from = 0; from < a.width; from += TILE) {
        const uint64_t inner = first_bits(a.columns, from);
        handed_in in;
#pragma unroll
        for (int u = 0; u < 2; ++u) {
            const int k = from + 4 * u + step, kept = static_cast<int>(inner >> 8 * (4 * u + step) & 31);
            const bool there = k < a.width;
            in.w[u] = there && row < a.height ? c[row + k * a.height] : static_cast<real>(0);
            in.c[u] = there && column < a.size ? g[kept + column * a.size] : static_cast<real>(0);
        }
        subtract_product(in, sum);
    }
}

template <class real>
__global__ void __launch_bounds__(BLOCK) weigh(const sd_ldlt_schedule p, const sd_ldlt_part part,
                                               const real *data, const real *inverse, real *weighed)
{
    const int64_t number = part.shape + (static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x) / WARP;
    const int lane = threadIdx.x % WARP;
    after_others();
    if (number >= part.shape_end) return;
    const sd_ldlt_shape a = p.shape[number];
    const real *const c = data + a.entry, *const g = inverse + p.square[a.column];
    real *const w = weighed + a.weighed;
    for (int low = 0; low < a.size; low += TILE) {
        for (int first = 0; first < a.height; first += TILE) {
            double sum[2] = {0, 0};
            weigh_tile(a, c, g, first + lane / 4, low + lane / 4, lane % 4, sum);
            const int row = first + lane / 4, column = low + 2 * (lane % 4);
#pragma unroll
            for (int u = 0; u < 2; ++u)
                if (row < a.height && column + u < a.size)
                    w[(column + u) * a.height + row] = static_cast<real>(-sum[u]);
        }
    }
}

} /* namespace */

template <class real>
void ldlt_scatter(sd_engine *e, const sd_sparse *A, const sd_ldlt_schedule *p, sd_ldlt_numbers *x)
{
    const char *const what = "ldlt_scatter";
    if (e->status) return;
    const state *s = state_of(e);
    const on_device current(s->device);
    if (failed(e, current.error, what)) return;
    const size_t size = sizeof(real);
    if (p->entries > 0 &&
        failed(e, cudaMemsetAsync(x->data, 0, static_cast<size_t>(p->entries) * size, s->stream), what))
        return;
    if (p->squares > 0 &&
        failed(e, cudaMemsetAsync(x->square, 0, static_cast<size_t>(p->squares) * size, s->stream), what))
        return;
    if (A->nnz == 0) return;
    const auto kernel = A->precision == SD_DOUBLE ? scatter<real, double> : scatter<real, float>;
    launch(e, what, kernel, (A->nnz + SHARE - 1) / SHARE, *A, p->target, x->scale,
           static_cast<real *>(x->data), static_cast<real *>(x->square));
}

template <class real>
void ldlt_update(sd_engine *e, const sd_ldlt_schedule *p, const sd_ldlt_part *part, const sd_ldlt_numbers *a,
                 const sd_ldlt_numbers *from, sd_ldlt_numbers *x)
{
    const int64_t targets =
        static_cast<int64_t>(part->shape_end) - part->shape + part->block_end - part->block;
    if (e->status || targets == 0) return;
    const update_data<real> data = {
        static_cast<const real *>(a->data),    static_cast<const real *>(a->square),
        static_cast<const real *>(from->data), static_cast<const real *>(from->weighed),
        static_cast<real *>(x->data),          static_cast<real *>(x->square)};
    /* as few a thread block as it takes for all multiprocessors to have some */
    const int64_t share = (targets - 1) / (AT_HOME * static_cast<int64_t>(state_of(e)->processors)) + 1;
    const int32_t each = static_cast<int32_t>(share < WARPS ? share : WARPS);
    launch_grid(e, "ldlt_update", true, update<real>,
                dim3(static_cast<unsigned>((targets + each - 1) / each)), WARPS * WARP, 0, *p, *part, data,
                each);
}

template <class real>
void ldlt_weigh(sd_engine *e, const sd_ldlt_schedule *p, const sd_ldlt_part *part, sd_ldlt_numbers *x)
{
    const int64_t warps = static_cast<int64_t>(part->shape_end) - part->shape;
    if (e->status || warps == 0) return;
    launch_early(e, "ldlt_weigh", weigh<real>, (warps * WARP + BLOCK - 1) / BLOCK, *p, *part,
                 static_cast<const real *>(x->data), static_cast<const real *>(x->inverse),
                 static_cast<real *>(x->weighed));
}

/* The rows of batch.def that are defined here, in both precisions. */
BOTH(ldlt_scatter)
BOTH(ldlt_update)
BOTH(ldlt_weigh)

} /* namespace sd_cuda */
