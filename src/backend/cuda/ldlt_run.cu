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
 * Weights W = C G: a warp a block, its entries side by side.
 */
#include "backend/cuda/entries.cuh"

#include "backend/cuda/block_jobs.cuh"

namespace sd_cuda
{
namespace
{

/* ---- the matrix ---- */

template <class real>
__global__ void __launch_bounds__(BLOCK)
    scatter(const sd_sparse A, const sd_ldlt_map map, real *data, real *square)
{
    for_each_entry<real>(A, [&](int64_t k, int32_t row, int32_t column, real value) {
        const int64_t t = map.target[k];
        if (t == SD_LDLT_NOWHERE) return;
        const real scaled =
            static_cast<real>(sd_ldlt_scaled(static_cast<double>(value), map.scale[row], map.scale[column]));
        *(t >= 0 ? data + t : square - 1 - t) = scaled;
    });
}

/* ---- products ---- */

constexpr int TILE = 8, TILE_NUMBERS = TILE * TILE;
constexpr int WARPS = 8;      /* of a thread block */
constexpr int LONG_LIST = 16; /* products that one warp makes */
constexpr int AT_ONCE = 4;    /* products whose numbers are read together */

/* What a product needs of its blocks a and b. */
struct alignas(16) product_found {
    int64_t w, c;                  /* their first numbers, of W and C */
    uint32_t rows, columns, inner; /* rows of a, of b, columns of b */
    uint8_t row_step, column_step, width, unused;
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

__device__ inline target_found find_target(const sd_ldlt_run &p, const sd_ldlt_part &part, int32_t k)
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

/* The lane's numbers of two steps of a product, W's with its sign changed. */
struct handed_in {
    double w[2], c[2];
};

template <class real>
__device__ inline handed_in read(const update_data<real> &x, const product_found &p, const tile_place &at,
                                 int from)
{
    handed_in in = {{0, 0}, {0, 0}};
    const int a = rank_of(p.rows, at.row_bit), b = rank_of(p.columns, at.column_bit);
#pragma unroll
    for (int u = 0; u < 2; ++u) {
        const int k = from + 4 * u + at.step;
        if (k >= p.width) continue;
        if (a >= 0) in.w[u] = -static_cast<double>(x.w[p.w + a + bit_of(p.inner, k) * p.row_step]);
        if (b >= 0) in.c[u] = static_cast<double>(x.c[p.c + b + k * p.column_step]);
    }
    return in;
}

__device__ inline void multiply_add(const handed_in &in, double (&sum)[2])
{
#pragma unroll
    for (int u = 0; u < 2; ++u)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(sum[0]), "+d"(sum[1])
            : "d"(in.w[u]), "d"(in.c[u]));
}

/* Products first .. last), no more than a warp's lanes, from shared memory: AT_ONCE at a time. */
template <class real>
__device__ inline void subtract_some(const update_data<real> &x, const product_found *product, int count,
                                     const tile_place &at, double (&sum)[2])
{
    for (int k = 0; k < count; k += AT_ONCE) {
        handed_in in[AT_ONCE];
        bool more = false;
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
            in[u] = {{0, 0}, {0, 0}};
            if (k + u >= count) continue;
            in[u] = read(x, product[k + u], at, 0);
            more = more || product[k + u].width > TILE;
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u)
            if (k + u < count) multiply_add(in[u], sum);
        if (!more) continue;
        for (int u = k; u < k + AT_ONCE && u < count; ++u)
            for (int from = TILE; from < product[u].width; from += TILE)
                multiply_add(read(x, product[u], at, from), sum);
    }
}

/* sum <- sum - the products first .. last) of a tile; `product` is the warp's room for a lane's worth each.
 */
template <class real>
__device__ inline void subtract_list(const sd_ldlt_run &p, const update_data<real> &x, int64_t first,
                                     int64_t last, const tile_place &at, int lane, product_found *product,
                                     double (&sum)[2])
{
    for (int64_t k = first; k < last; k += WARP) {
        const int count = last - k < WARP ? static_cast<int>(last - k) : WARP;
        __syncwarp();
        if (lane < count) {
            const sd_ldlt_pair pair = p.pair[k + lane];
            const sd_ldlt_shape *const a = &p.shape[pair.a], *const b = &p.shape[pair.b];
            product[lane] = {a->weighed, b->entry,  a->rows,  b->rows, b->columns,
                             a->height,  b->height, b->width, 0};
        }
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
};

/* A tile by all warps of the thread block. */
template <class real>
__device__ inline void update_together(const sd_ldlt_run &p, const update_data<real> &x,
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

/* `each` targets of the part a thread block. */
template <class real>
__global__ void __launch_bounds__(WARPS *WARP, 3)
    update(const sd_ldlt_run p, const sd_ldlt_part part, const update_data<real> x, int32_t each)
{
    __shared__ update_room room;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int32_t all = part.shape_end - part.shape + part.block_end - part.block;
    after_others();
    for (int32_t k = 0; k < each; ++k) {
        const int32_t number = blockIdx.x * each + k;
        if (number >= all) return;
        const target_found t = find_target(p, part, number);
        const bool together = t.last - t.first > LONG_LIST;
        if (!together && warp != k) continue;
        const int rows = (t.height + TILE - 1) / TILE, columns = (t.width + TILE - 1) / TILE;
        for (int tile = 0; tile < rows * columns; ++tile) {
            const int row = tile % rows, column = tile / rows;
            if (t.square && column > row) continue;
            const tile_place at(t, row, column, lane);
            if (together) {
                update_together(p, x, t, at, room);
            } else {
                double sum[2];
                begin_tile(x, t, at, sum);
                subtract_list(p, x, t.first, t.last, at, lane, room.product[warp], sum);
                end_tile(x, t, at, sum);
            }
        }
    }
}

/* ---- weights ---- */

template <class real>
__global__ void __launch_bounds__(BLOCK)
    weigh(const sd_ldlt_run p, const sd_ldlt_part part, const real *data, const real *inverse, real *weighed)
{
    const int64_t k = part.shape + (static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x) / WARP;
    after_others();
    if (k >= part.shape_end) return;
    const sd_ldlt_shape a = p.shape[k];
    const real *const c = data + a.entry, *const g = inverse + p.square[a.column];
    for (int e = threadIdx.x % WARP; e < a.height * a.size; e += WARP) {
        const int i = e % a.height, s = e / a.height;
        const real *from = c + i, *const with = g + s * a.size;
        real sum = 0;
        for (uint32_t left = a.columns; left; left &= left - 1, from += a.height)
            sum = fma_of(*from, with[__ffs(static_cast<int>(left)) - 1], sum);
        weighed[a.weighed + e] = sum;
    }
}

} /* namespace */

template <class real>
void ldlt_scatter(sd_engine *e, const sd_sparse *A, const sd_ldlt_map *map, int64_t entries, int64_t squares,
                  sd_ldlt_numbers *x)
{
    const char *const what = "ldlt_scatter";
    if (e->status) return;
    const state *s = state_of(e);
    const on_device current(s->device);
    if (failed(e, current.error, what)) return;
    const size_t size = sizeof(real);
    if (entries > 0 &&
        failed(e, cudaMemsetAsync(x->data, 0, static_cast<size_t>(entries) * size, s->stream), what))
        return;
    if (squares > 0 &&
        failed(e, cudaMemsetAsync(x->square, 0, static_cast<size_t>(squares) * size, s->stream), what))
        return;
    if (A->nnz == 0) return;
    launch(e, what, scatter<real>, (A->nnz + SHARE - 1) / SHARE, *A, *map, static_cast<real *>(x->data),
           static_cast<real *>(x->square));
}

template <class real>
void ldlt_update(sd_engine *e, const sd_ldlt_run *p, const sd_ldlt_part *part, const sd_ldlt_numbers *a,
                 const sd_ldlt_numbers *from, sd_ldlt_numbers *x)
{
    const int64_t targets =
        static_cast<int64_t>(part->shape_end) - part->shape + part->block_end - part->block;
    if (e->status || targets == 0) return;
    const update_data<real> data = {
        static_cast<const real *>(a->data),    static_cast<const real *>(a->square),
        static_cast<const real *>(from->data), static_cast<const real *>(from->weighed),
        static_cast<real *>(x->data),          static_cast<real *>(x->square)};
    const int32_t each = targets > 4 * WARPS * state_of(e)->processors ? WARPS : 1;
    launch_grid(e, "ldlt_update", true, update<real>,
                dim3(static_cast<unsigned>((targets + each - 1) / each)), WARPS * WARP, 0, *p, *part, data,
                each);
}

template <class real>
void ldlt_weigh(sd_engine *e, const sd_ldlt_run *p, const sd_ldlt_part *part, sd_ldlt_numbers *x)
{
    const int64_t warps = static_cast<int64_t>(part->shape_end) - part->shape;
    if (e->status || warps == 0) return;
    launch_early(e, "ldlt_weigh", weigh<real>, (warps * WARP + BLOCK - 1) / BLOCK, *p, *part,
                 static_cast<const real *>(x->data), static_cast<const real *>(x->inverse),
                 static_cast<real *>(x->weighed));
}

/* The rows of blocks.def that are defined here, in both precisions. */
#define BOTH(name, parameters)                                                                               \
    template void name<double> parameters;                                                                   \
    template void name<float> parameters;
BOTH(ldlt_scatter, (sd_engine *, const sd_sparse *, const sd_ldlt_map *, int64_t, int64_t, sd_ldlt_numbers *))
BOTH(ldlt_update, (sd_engine *, const sd_ldlt_run *, const sd_ldlt_part *, const sd_ldlt_numbers *,
                   const sd_ldlt_numbers *, sd_ldlt_numbers *))
BOTH(ldlt_weigh, (sd_engine *, const sd_ldlt_run *, const sd_ldlt_part *, sd_ldlt_numbers *))

} /* namespace sd_cuda */
