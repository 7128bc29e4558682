// SPDX-License-Identifier: Apache-2.0
#include "linear/cell_multigrid.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linear/sparse_float.h"
#include "linear/vector.h"

enum {
    ARRAYS = 6,           // of a level: see ty_cell_level
    LINE_BLOCK = 64,      // lines
    ROW_BLOCK = 4096,     // rows of the matrix
    SWEEPS = 2,           // of the chessboard before and after: 7 iterations instead of 12 with one
    COARSEST = 4,         // cells along the longest side of the last level
    BOTTOM_SWEEPS = 8,    // there, forward and then backward
    CHUNK = 64            // coarse cells of a line that are summed together
};

// How much of the Galerkin matrix is taken, see cell_multigrid.h.
static const float COARSE_SHARE = 0.5f;
// What is left of a row's sum beside its diagonal: less is rounding, the row is not tied.
static const double TIED = 1e-9;

static inline int64_t index_of(const ty_cell_level* l, int x, int y, int z)
{
    return ((x + y + z) & 1) * l->count + (x >> 1) + (int64_t)l->half * y + (int64_t)l->plane * z;
}

static ty_status reserve_level(ty_cell_level* l)
{
    l->half = (l->size[0] + 1) / 2;
    l->plane = l->half * l->size[1];
    l->count = (int64_t)l->plane * l->size[2];
    int64_t lines = (int64_t)l->size[1] * l->size[2];
    if (!ty_array_fresh(&l->values, 2 * ARRAYS * l->count) ||
        !ty_array_fresh(&l->extent, 2 * lines))
        return ty_no_memory("multigrid of cells");
    memset(l->values.at, 0, sizeof(float) * (size_t)l->values.n);
    float** arrays[ARRAYS] = {&l->weight[0], &l->weight[1], &l->weight[2],
                              &l->inverse,   &l->x,         &l->b};
    for (int k = 0; k < ARRAYS; ++k) *arrays[k] = l->values.at + 2 * k * l->count;
    for (int64_t k = 0; k < lines; ++k) l->extent.at[2 * k] = INT_MAX, l->extent.at[2 * k + 1] = 0;
    return ty_ok();
}

static void extend(ty_cell_level* l, int x, int y, int z)
{
    int* e = l->extent.at + 2 * (y + (int64_t)l->size[1] * z);
    e[0] = x < e[0] ? x : e[0];
    e[1] = x > e[1] ? x : e[1];
}

static ty_status list_lines(ty_cell_level* l)
{
    l->line.n = 0;
    for (int z = 1; z < l->size[2] - 1; ++z)
        for (int y = 1; y < l->size[1] - 1; ++y) {
            const int* e = l->extent.at + 2 * (y + (int64_t)l->size[1] * z);
            if (e[0] > e[1]) continue;
            ty_cell_line line = {.y = y, .z = z, .at = l->half * y + l->plane * z};
            for (int c = 0; c < 2; ++c) {
                int p = (y + z + c) & 1;
                line.begin[c] = (e[0] - p + 1) >> 1;
                line.end[c] = ((e[1] - p) >> 1) + 1;
            }
            if (!ty_array_push(&l->line, line)) return ty_no_memory("multigrid of cells");
        }
    return ty_ok();
}

typedef struct filling {
    ty_cell_multigrid* m;
    const ty_csr* a;
    const int *cell, *size;
    int corner[3];    // of the box, less its layer
} filling;

// The coordinates of one row after the other: most often on the line of the one before.
typedef struct walk {
    int line_begin, line_end;    // cells
    int at[3];
} walk;

static inline void walk_to(const filling* f, walk* w, int64_t row)
{
    int cell = f->cell[row];
    if (cell >= w->line_end || cell < w->line_begin) {
        int line = cell / f->size[0];
        w->line_begin = line * f->size[0];
        w->line_end = w->line_begin + f->size[0];
        w->at[2] = line / f->size[1] - f->corner[2];
        w->at[1] = line % f->size[1] - f->corner[1];
    }
    w->at[0] = cell - w->line_begin - f->corner[0];
}

static void fill_rows(void* ctx, ty_range r)
{
    const filling* f = ctx;
    const ty_csr* a = f->a;
    ty_cell_level* l = &f->m->level[0];
    int stride[3] = {1, f->size[0], f->size[0] * f->size[1]};
    walk w = {0};
    for (int64_t row = r.begin; row < r.end; ++row) {
        walk_to(f, &w, row);
        int64_t place = index_of(l, w.at[0], w.at[1], w.at[2]);
        double diagonal = 0.0, sum = 0.0;
        for (int k = a->row_start[row]; k < a->row_start[row + 1]; ++k) {
            sum += a->val[k];
            if (a->col[k] == row) diagonal = a->val[k];
            if (a->col[k] >= row) continue;
            int below = f->cell[row] - f->cell[a->col[k]];
            for (int axis = 0; axis < 3; ++axis)
                if (below == stride[axis]) l->weight[axis][place] = (float)-a->val[k];
        }
        f->m->place.at[row] = (int)place;
        l->inverse[place] = diagonal > 0.0 ? (float)(1.0 / diagonal) : 0.0f;
        l->b[place] = sum > TIED * diagonal ? (float)sum : 0.0f;
    }
}

static void find_box(filling* f, int n, int size[3])
{
    int lo[3] = {INT_MAX, INT_MAX, INT_MAX}, hi[3] = {0};
    walk w = {0};
    for (int row = 0; row < n; ++row) {
        walk_to(f, &w, row);
        for (int d = 0; d < 3; ++d) {
            lo[d] = w.at[d] < lo[d] ? w.at[d] : lo[d];
            hi[d] = w.at[d] > hi[d] ? w.at[d] : hi[d];
        }
    }
    for (int d = 0; d < 3; ++d) f->corner[d] = lo[d] - 1, size[d] = hi[d] - lo[d] + 3;
}

static ty_status setup_finest(filling* f)
{
    ty_cell_level* l = &f->m->level[0];
    find_box(f, f->a->n, l->size);
    TY_TRY(reserve_level(l));
    if (2 * l->count > INT_MAX) return ty_fail(TY_BAD_INPUT, "multigrid of cells: too many cells");
    if (!ty_array_fresh(&f->m->place, f->a->n)) return ty_no_memory("multigrid of cells");
    ty_parallel_for(f->a->n, ROW_BLOCK, fill_rows, f);
    walk w = {0};
    for (int row = 0; row < f->a->n; ++row) {
        walk_to(f, &w, row);
        extend(l, w.at[0], w.at[1], w.at[2]);
    }
    return list_lines(l);
}

// What neighbours add to cells of a colour: values and weights of the line around.
typedef struct around {
    const float *x, *y, *z;                                     // weights to the neighbours below
    const float *x_above, *y_above, *z_above;                   // and above
    const float *left, *right, *front, *back, *under, *over;    // values
} around;

static inline around look_around(const ty_cell_level* l, const ty_cell_line* line, int colour)
{
    int64_t own = colour * l->count + line->at, other = (1 - colour) * l->count + line->at;
    int p = (line->y + line->z + colour) & 1;
    const float* v = l->x + other;
    return (around){l->weight[0] + own,
                    l->weight[1] + own,
                    l->weight[2] + own,
                    l->weight[0] + other + p,
                    l->weight[1] + other + l->half,
                    l->weight[2] + other + l->plane,
                    v + p - 1,
                    v + p,
                    v - l->half,
                    v + l->half,
                    v - l->plane,
                    v + l->plane};
}

typedef struct pair {
    ty_cell_level *fine, *coarse;
} pair;

// Weights and ties of the n coarse cells from `first` on, from those of their eight parts.
static void sum_parts(const pair* q, const ty_cell_line* coarse, int first, int n)
{
    const ty_cell_level *f = q->fine, *c = q->coarse;
    float sum[4][CHUNK] = {{0}};
    for (int k = 0; k < 8; ++k) {
        int up[3] = {k & 1, k >> 1 & 1, k >> 2};
        int64_t part = index_of(f, 2 * first - 1 + up[0], 2 * coarse->y - 1 + up[1],
                                2 * coarse->z - 1 + up[2]);
        for (int axis = 0; axis < 3; ++axis) {
            const float* weight = f->weight[axis] + part;
            for (int i = 0; i < n && !up[axis]; ++i) sum[axis][i] += weight[i];
        }
        for (int i = 0; i < n; ++i) sum[3][i] += f->b[part + i];
    }
    float* to[4] = {c->weight[0], c->weight[1], c->weight[2], c->b};
    for (int i = 0; i < n; ++i) {
        int64_t at = index_of(c, first + i, coarse->y, coarse->z);
        for (int k = 0; k < 4; ++k) to[k][at] = COARSE_SHARE * sum[k][i];
    }
}

static void sum_lines(void* ctx, ty_range r)
{
    const pair* q = ctx;
    for (int64_t k = r.begin; k < r.end; ++k) {
        const ty_cell_line* line = &q->coarse->line.at[k];
        const int* e = q->coarse->extent.at + 2 * (line->y + (int64_t)q->coarse->size[1] * line->z);
        for (int first = e[0]; first <= e[1]; first += CHUNK)
            sum_parts(q, line, first, e[1] + 1 - first < CHUNK ? e[1] + 1 - first : CHUNK);
    }
}

static void invert_lines(void* ctx, ty_range r)
{
    const pair* q = ctx;
    ty_cell_level* l = q->coarse;
    for (int64_t k = r.begin; k < r.end; ++k)
        for (int colour = 0; colour < 2; ++colour) {
            const ty_cell_line* line = &l->line.at[k];
            around n = look_around(l, line, colour);
            const float* b = l->b + colour * l->count + line->at;
            float* restrict inverse = l->inverse + colour * l->count + line->at;
            for (int t = line->begin[colour]; t < line->end[colour]; ++t) {
                float diagonal = b[t] + (n.x[t] + n.x_above[t]) + (n.y[t] + n.y_above[t]) +
                                 (n.z[t] + n.z_above[t]);
                inverse[t] = diagonal > 0.0f ? 1.0f / diagonal : 0.0f;
            }
        }
}

static ty_status coarsen(ty_cell_level* fine, ty_cell_level* coarse)
{
    for (int d = 0; d < 3; ++d) coarse->size[d] = (fine->size[d] - 1) / 2 + 2;
    TY_TRY(reserve_level(coarse));
    for (int64_t k = 0; k < fine->line.n; ++k) {
        int y = fine->line.at[k].y, z = fine->line.at[k].z;
        const int* e = fine->extent.at + 2 * (y + (int64_t)fine->size[1] * z);
        extend(coarse, (e[0] + 1) / 2, (y + 1) / 2, (z + 1) / 2);
        extend(coarse, (e[1] + 1) / 2, (y + 1) / 2, (z + 1) / 2);
    }
    TY_TRY(list_lines(coarse));
    pair q = {fine, coarse};
    ty_parallel_for(coarse->line.n, LINE_BLOCK, sum_lines, &q);
    ty_parallel_for(coarse->line.n, LINE_BLOCK, invert_lines, &q);
    return ty_ok();
}

static int longest_side(const ty_cell_level* l)
{
    int longest = 0;
    for (int d = 0; d < 3; ++d) longest = l->size[d] - 2 > longest ? l->size[d] - 2 : longest;
    return longest;
}

ty_status ty_cell_multigrid_setup(ty_cell_multigrid* m, const ty_csr* a, const int* cell,
                                  const int size[3])
{
    filling f = {.m = m, .a = a, .cell = cell, .size = size};
    m->n_levels = 0;
    if (a->n == 0) return ty_ok();
    TY_TRY(setup_finest(&f));
    for (m->n_levels = 1; longest_side(&m->level[m->n_levels - 1]) > COARSEST; ++m->n_levels)
        TY_TRY(coarsen(&m->level[m->n_levels - 1], &m->level[m->n_levels]));
    return ty_ok();
}

static inline float sum_around(const around* n, int t)
{
    return n->x[t] * n->left[t] + n->x_above[t] * n->right[t] + n->y[t] * n->front[t] +
           n->y_above[t] * n->back[t] + n->z[t] * n->under[t] + n->z_above[t] * n->over[t];
}

typedef struct sweep {
    const ty_cell_level* level;
    const ty_cell_level* coarse;
    int colour;
} sweep;

// Written by way of an array of its own: of that alone it is known that it overlaps with none of the
// others, and vectors depend on it.
static inline void relax_line(const around* a, const float* b, const float* inverse, float* x,
                              int begin, int end)
{
    for (int first = begin; first < end; first += CHUNK) {
        float next[CHUNK];
        int n = end - first < CHUNK ? end - first : CHUNK;
        for (int i = 0; i < n; ++i)
            next[i] = (b[first + i] + sum_around(a, first + i)) * inverse[first + i];
        memcpy(x + first, next, sizeof *next * (size_t)n);
    }
}

static void relax_lines(void* ctx, ty_range r)
{
    const sweep* s = ctx;
    const ty_cell_level* l = s->level;
    for (int64_t k = r.begin; k < r.end; ++k) {
        const ty_cell_line* line = &l->line.at[k];
        int64_t own = s->colour * l->count + line->at;
        around n = look_around(l, line, s->colour);
        relax_line(&n, l->b + own, l->inverse + own, l->x + own, line->begin[s->colour],
                   line->end[s->colour]);
    }
}

static void start_lines(void* ctx, ty_range r)
{
    const ty_cell_level* l = ((const sweep*)ctx)->level;
    for (int64_t k = r.begin; k < r.end; ++k) {
        const ty_cell_line* line = &l->line.at[k];
        const float *b = l->b + line->at, *inverse = l->inverse + line->at;
        float* restrict x = l->x + line->at;
        for (int t = line->begin[0]; t < line->end[0]; ++t) x[t] = b[t] * inverse[t];
    }
}

// Adds the residuals of n cells; what is no cell adds nothing.
static inline void add_residuals(const around* a, const float* b, const float* x,
                                 const float* inverse, int n, float* sum)
{
    for (int i = 0; i < n; ++i) {
        float share = inverse[i] > 0.0f ? 1.0f : 0.0f, own = inverse[i] > 0.0f ? inverse[i] : 1.0f;
        sum[i] += share * (b[i] + sum_around(a, i) - x[i] / own);
    }
}

// The sum of residuals in each of the n coarse cells from `first` on. The sweep before has left none
// in cells of colour 1: four of each coarse cell's eight remain.
static void sum_residuals(const sweep* s, const ty_cell_line* coarse, int first, int n, float* sum)
{
    const ty_cell_level* l = s->level;
    memset(sum, 0, sizeof(float) * (size_t)n);
    for (int k = 0; k < 4; ++k) {
        ty_cell_line line = {.y = 2 * coarse->y - 1 + (k & 1), .z = 2 * coarse->z - 1 + (k >> 1)};
        line.at = l->half * line.y + l->plane * line.z + first - ((line.y + line.z) & 1);
        around a = look_around(l, &line, 0);
        add_residuals(&a, l->b + line.at, l->x + line.at, l->inverse + line.at, n, sum);
    }
}

static void restrict_lines(void* ctx, ty_range r)
{
    const sweep* s = ctx;
    const ty_cell_level* c = s->coarse;
    for (int64_t k = r.begin; k < r.end; ++k) {
        const ty_cell_line* line = &c->line.at[k];
        const int* e = c->extent.at + 2 * (line->y + (int64_t)c->size[1] * line->z);
        for (int first = e[0]; first <= e[1]; first += CHUNK) {
            float sum[CHUNK];
            int n = e[1] + 1 - first < CHUNK ? e[1] + 1 - first : CHUNK;
            sum_residuals(s, line, first, n, sum);
            for (int i = 0; i < n; ++i) c->b[index_of(c, first + i, line->y, line->z)] = sum[i];
        }
    }
}

// To colour 0 only: the sweep that follows begins with colour 1 and does not read it.
static void prolong_lines(void* ctx, ty_range r)
{
    const sweep* s = ctx;
    const ty_cell_level *l = s->level, *c = s->coarse;
    for (int64_t k = r.begin; k < r.end; ++k) {
        const ty_cell_line* line = &l->line.at[k];
        int p = (line->y + line->z) & 1, y = (line->y + 1) / 2, z = (line->z + 1) / 2;
        const float* even = c->x + index_of(c, 0, y, z);
        const float* odd = c->x + index_of(c, 1, y, z);
        float* x = l->x + line->at;
        for (int t = line->begin[0]; t < line->end[0]; ++t)
            x[t] += ((t + p) & 1 ? odd : even)[(t + p) >> 1];
    }
}

static void relax(const ty_cell_level* l, int colour)
{
    sweep s = {.level = l, .colour = colour};
    ty_parallel_for(l->line.n, LINE_BLOCK, relax_lines, &s);
}

static void start(const ty_cell_level* l)
{
    sweep s = {.level = l};
    ty_parallel_for(l->line.n, LINE_BLOCK, start_lines, &s);
    relax(l, 1);
}

static void v_cycle(ty_cell_multigrid* m, int level)
{
    const ty_cell_level *l = &m->level[level], *c = l + 1;
    start(l);
    if (level == m->n_levels - 1) {
        for (int k = 1; k < BOTTOM_SWEEPS; ++k) relax(l, 0), relax(l, 1);
        for (int k = 0; k < BOTTOM_SWEEPS; ++k) relax(l, 1), relax(l, 0);
        return;
    }
    sweep s = {.level = l, .coarse = c};
    for (int k = 1; k < SWEEPS; ++k) relax(l, 0), relax(l, 1);
    ty_parallel_for(c->line.n, LINE_BLOCK, restrict_lines, &s);
    v_cycle(m, level + 1);
    ty_parallel_for(l->line.n, LINE_BLOCK, prolong_lines, &s);
    for (int k = 0; k < SWEEPS; ++k) relax(l, 1), relax(l, 0);
}

typedef struct conversion {
    const ty_cell_multigrid* m;
    const double* r;
    double *z, scale;
} conversion;

static void put_block(void* ctx, ty_range range)
{
    const conversion* c = ctx;
    float* b = c->m->level[0].b;
    for (int64_t i = range.begin; i < range.end; ++i)
        b[c->m->place.at[i]] = (float)(c->r[i] * c->scale);
}

static void get_block(void* ctx, ty_range range)
{
    const conversion* c = ctx;
    const float* x = c->m->level[0].x;
    for (int64_t i = range.begin; i < range.end; ++i)
        c->z[i] = (double)x[c->m->place.at[i]] * c->scale;
}

void ty_cell_multigrid_apply(void* self, const double* r, double norm, double* z)
{
    ty_cell_multigrid* m = self;
    int exponent = 0;
    if (norm > 0.0) frexp(norm / sqrt((double)m->place.n + 1.0), &exponent);
    conversion c = {m, r, z, ldexp(1.0, -exponent)};
    ty_parallel_for(m->place.n, TY_VECTOR_BLOCK, put_block, &c);
    v_cycle(m, 0);
    c.scale = ldexp(1.0, exponent);
    ty_parallel_for(m->place.n, TY_VECTOR_BLOCK, get_block, &c);
}

void ty_cell_multigrid_free(ty_cell_multigrid* m)
{
    for (int k = 0; k < TY_CELL_LEVELS; ++k) {
        ty_array_free(&m->level[k].line);
        ty_array_free(&m->level[k].extent);
        ty_array_free(&m->level[k].values);
    }
    ty_array_free(&m->place);
    m->n_levels = 0;
}
