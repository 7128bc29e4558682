// SPDX-License-Identifier: Apache-2.0
// Works on one bit per node: rows of 64 nodes are compared at once, empty space costs a few
// instructions per 64 cells, and a vertex's number is found by counting the cut edges before it.
//
//   padded node (p, q, s) = node (p - 1, q - 1, s - 1); row = (q, s); the outermost layer is air
//   vertex order: row, then p, then axis
#include "mesh/contour.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "core/parallel.h"
#include "mesh/contour_table.h"

enum { ROW_BLOCK = 32, KEY_BITS = TY_CONTOUR_KEY_BITS, MAX_NODES = (1 << KEY_BITS) - 2 };

typedef struct pass {
    ty_contour* c;
    const ty_contour_lattice* lattice;
    const ty_sampler* phi;
    int refine;
    ty_tri_mesh* out;
    const ty_contour_case* cases;
    int64_t n_rows, row_stride;    // rows with q + 1 and s + 1 in range are q + row_stride * s
    int n_words;                   // words of a row; the last bit is never set
} pass;

void ty_contour_free(ty_contour* c)
{
    ty_array_free(&c->bits);
    ty_array_free(&c->cuts);
    ty_array_free(&c->rank);
    ty_array_free(&c->row_verts);
    ty_array_free(&c->row_tris);
    ty_array_free(&c->first_vert);
    ty_array_free(&c->first_tri);
    ty_array_free(&c->key);
    ty_array_free(&c->corner_cuts);
}

static double node_value(const ty_contour_lattice* l, int64_t node)
{
    return l->values ? l->values[node] : (double)l->values_f[node];
}

static bool is_air_row(const pass* k, int64_t q, int64_t s)
{
    return q == 0 || s == 0 || q > k->lattice->n[1] || s > k->lattice->n[2];
}

static void sign_row(const pass* k, int64_t row)
{
    const ty_contour_lattice* l = k->lattice;
    uint64_t* bits = k->c->bits.at + row * k->n_words;
    memset(bits, 0, (size_t)k->n_words * sizeof *bits);
    int64_t q = row % k->row_stride, s = row / k->row_stride;
    if (is_air_row(k, q, s)) return;
    int64_t first = (int64_t)l->n[0] * (q - 1 + l->n[1] * (s - 1));
    for (int begin = 0; begin < l->n[0] + 1; begin += 64) {
        uint64_t word = 0;
        int lo = begin ? begin : 1, hi = begin + 64 < l->n[0] + 1 ? begin + 64 : l->n[0] + 1;
        if (l->values)
            for (int p = lo; p < hi; ++p)
                word |= (uint64_t)(l->values[first + p - 1] < 0.0) << (p - begin);
        else
            for (int p = lo; p < hi; ++p)
                word |= (uint64_t)(l->values_f[first + p - 1] < 0.0f) << (p - begin);
        bits[begin / 64] = word;
    }
}

static void sign_rows(void* ctx, ty_range r)
{
    for (int64_t row = r.begin; row < r.end; ++row) sign_row(ctx, row);
}

// Bits p + 1 of a row, at p.
static uint64_t shifted(const uint64_t* row, int word, int n_words)
{
    return row[word] >> 1 | (word + 1 < n_words ? row[word + 1] << 63 : 0);
}

// The four rows of a row of cells, in the order of the corners' upper two bits.
typedef struct cell_rows {
    const uint64_t* bits[4];
    int64_t row[4];
    bool any;
} cell_rows;

static cell_rows rows_of_cells(const pass* k, int64_t row)
{
    int64_t q = row % k->row_stride, s = row / k->row_stride;
    cell_rows c = {.any = q <= k->lattice->n[1] && s <= k->lattice->n[2]};
    for (int i = 0; i < 4 && c.any; ++i) {
        c.row[i] = row + (i & 1) + (i >> 1) * k->row_stride;
        c.bits[i] = k->c->bits.at + c.row[i] * k->n_words;
    }
    return c;
}

// Cells of a word whose corners are not all alike.
static uint64_t active_cells(const pass* k, const cell_rows* c, int word)
{
    uint64_t all = ~UINT64_C(0), any = 0;
    for (int i = 0; i < 4; ++i) {
        uint64_t here = c->bits[i][word], next = shifted(c->bits[i], word, k->n_words);
        all &= here & next;
        any |= here | next;
    }
    return any & ~all;
}

static int case_of(const pass* k, const cell_rows* c, int word, int p)
{
    int index = 0;
    for (int i = 0; i < 4; ++i) {
        uint64_t two = c->bits[i][word] >> p & 1;
        two |= (shifted(c->bits[i], word, k->n_words) >> p & 1) << 1;
        index |= (int)two << 2 * i;
    }
    return index;
}

static int find_cuts(const pass* k, int64_t row, const cell_rows* c)
{
    int count = 0;
    for (int w = 0; w < k->n_words; ++w) {
        uint64_t* cuts = k->c->cuts.at + 3 * (row * k->n_words + w);
        k->c->rank.at[row * k->n_words + w] = count;
        cuts[0] = cuts[1] = cuts[2] = 0;
        if (!c->any) continue;
        uint64_t here = c->bits[0][w];
        cuts[0] = here ^ shifted(c->bits[0], w, k->n_words);
        cuts[1] = here ^ c->bits[1][w];
        cuts[2] = here ^ c->bits[2][w];
        for (int axis = 0; axis < 3; ++axis) count += __builtin_popcountll(cuts[axis]);
    }
    return count;
}

static void count_rows(void* ctx, ty_range r)
{
    const pass* k = ctx;
    for (int64_t row = r.begin; row < r.end; ++row) {
        cell_rows c = rows_of_cells(k, row);
        int n_tris = 0;
        for (int w = 0; c.any && w < k->n_words; ++w)
            for (uint64_t todo = active_cells(k, &c, w); todo; todo &= todo - 1)
                n_tris += k->cases[case_of(k, &c, w, __builtin_ctzll(todo))].n_tris;
        k->c->row_verts.at[row] = find_cuts(k, row, &c);
        k->c->row_tris.at[row] = n_tris;
    }
}

static int vertex_id(const pass* k, int64_t row, int word, int p, int axis)
{
    if (p == 64) ++word, p = 0;
    int64_t at = row * k->n_words + word;
    const uint64_t* cuts = k->c->cuts.at + 3 * at;
    uint64_t below = (UINT64_C(1) << p) - 1;
    int id = (int)k->c->first_vert.at[row] + k->c->rank.at[at];
    for (int a = 0; a < 3; ++a) {
        id += __builtin_popcountll(cuts[a] & below);
        if (a < axis) id += (int)(cuts[a] >> p & 1);
    }
    return id;
}

static void emit_triangles(const pass* k, const cell_rows* c, int64_t row)
{
    int(*tri)[3] = k->out->tri + k->c->first_tri.at[row];
    for (int w = 0; w < k->n_words; ++w)
        for (uint64_t todo = active_cells(k, c, w); todo; todo &= todo - 1) {
            int p = __builtin_ctzll(todo);
            const ty_contour_case* one = &k->cases[case_of(k, c, w, p)];
            int id[12];
            for (int i = 0; i < one->n_cuts; ++i) {
                int edge = one->cut[i], corner = ty_contour_edge_corner(edge);
                id[edge] = vertex_id(k, c->row[corner >> 1], w, p + (corner & 1), edge >> 2);
            }
            for (int t = 0; t < one->n_tris; ++t, ++tri)
                for (int v = 0; v < 3; ++v) (*tri)[v] = id[one->edge[t][v]];
        }
}

static void emit_keys(const pass* k, int64_t row)
{
    uint64_t q = (uint64_t)(row % k->row_stride), s = (uint64_t)(row / k->row_stride);
    uint64_t* key = k->c->key.at + k->c->first_vert.at[row];
    for (int w = 0; w < k->n_words; ++w) {
        const uint64_t* cuts = k->c->cuts.at + 3 * (row * k->n_words + w);
        for (uint64_t todo = cuts[0] | cuts[1] | cuts[2]; todo; todo &= todo - 1) {
            int bit = __builtin_ctzll(todo);
            uint64_t p = (uint64_t)(64 * w + bit);
            for (unsigned axis = 0; axis < 3; ++axis)
                if (cuts[axis] >> bit & 1)
                    *key++ = ((s << KEY_BITS | q) << KEY_BITS | p) << 2 | axis;
        }
    }
}

static void emit_rows(void* ctx, ty_range r)
{
    const pass* k = ctx;
    for (int64_t row = r.begin; row < r.end; ++row) {
        if (k->c->row_verts.at[row]) emit_keys(k, row);
        cell_rows c = rows_of_cells(k, row);
        if (k->c->row_tris.at[row]) emit_triangles(k, &c, row);
    }
}

// The value at a padded node; false where it is air outside the lattice.
static bool padded_value(const ty_contour_lattice* l, const int node[3], double* value)
{
    for (int axis = 0; axis < 3; ++axis)
        if (node[axis] < 1 || node[axis] > l->n[axis]) return false;
    *value = node_value(l, node[0] - 1 +
                               (int64_t)l->n[0] * (node[1] - 1 + (int64_t)l->n[1] * (node[2] - 1)));
    return true;
}

typedef struct edges {
    double a[TY_SAMPLE_BATCH][3], b[TY_SAMPLE_BATCH][3], fa[TY_SAMPLE_BATCH], fb[TY_SAMPLE_BATCH];
    double t[TY_SAMPLE_BATCH];
    signed char border[TY_SAMPLE_BATCH];    // -1, 1: a, b is outside the lattice
} edges;

static void load_edge(const ty_contour_lattice* l, uint64_t key, edges* e, int i)
{
    const uint64_t mask = (1u << KEY_BITS) - 1;
    int axis = (int)(key & 3), node[3];
    for (int d = 0; d < 3; ++d) {
        node[d] = (int)(key >> (2 + d * KEY_BITS) & mask);
        e->a[i][d] = e->b[i][d] = l->origin[d] + l->cell * (node[d] - 1);
    }
    e->b[i][axis] = l->origin[axis] + l->cell * node[axis];
    e->fa[i] = e->fb[i] = l->cell;
    e->border[i] = (signed char)(padded_value(l, node, &e->fa[i]) ? 0 : -1);
    ++node[axis];
    if (!padded_value(l, node, &e->fb[i])) e->border[i] = 1;
}

static void place_vertex(double x[3], const double a[3], const double b[3], double t)
{
    t = t >= TY_CONTOUR_MIN_CUT ? t : TY_CONTOUR_MIN_CUT;    // not-a-number goes to an end
    t = t <= 1.0 - TY_CONTOUR_MIN_CUT ? t : 1.0 - TY_CONTOUR_MIN_CUT;
    for (int d = 0; d < 3; ++d) x[d] = a[d] + t * (b[d] - a[d]);
}

static void place_block(void* ctx, ty_range r)
{
    const pass* k = ctx;
    const ty_contour_lattice* l = k->lattice;
    edges e;
    int64_t id[TY_SAMPLE_BATCH];
    int n = 0;
    double border = l->border > TY_CONTOUR_MIN_CUT ? l->border : TY_CONTOUR_MIN_CUT;
    for (int64_t v = r.begin; v < r.end; ++v) {
        load_edge(l, k->c->key.at[v], &e, n);
        if (e.border[n])
            place_vertex(k->out->vert[v], e.a[n], e.b[n], e.border[n] > 0 ? border : 1.0 - border);
        else id[n++] = v;
    }
    if (n == 0) return;
    ty_find_zeros(k->phi, k->phi ? k->refine : 0, n, e.a, e.b, e.fa, e.fb, e.t);
    for (int i = 0; i < n; ++i) place_vertex(k->out->vert[id[i]], e.a[i], e.b[i], e.t[i]);
}

static ty_status reserve_rows(pass* k)
{
    ty_contour* c = k->c;
    const int* n = k->lattice->n;
    k->row_stride = n[1] + 2;
    k->n_rows = k->row_stride * (n[2] + 2);
    k->n_words = (n[0] + 2) / 64 + 1;
    int64_t words = k->n_rows * k->n_words;
    if (!ty_array_resize(&c->bits, words) || !ty_array_resize(&c->cuts, 3 * words) ||
        !ty_array_resize(&c->rank, words) || !ty_array_resize(&c->row_verts, k->n_rows) ||
        !ty_array_resize(&c->row_tris, k->n_rows) || !ty_array_resize(&c->first_vert, k->n_rows) ||
        !ty_array_resize(&c->first_tri, k->n_rows))
        return ty_no_memory("contouring");
    return ty_ok();
}

static ty_status check_lattice(const ty_contour_lattice* l)
{
    for (int axis = 0; axis < 3; ++axis)
        if (l->n[axis] < 0 || l->n[axis] > MAX_NODES)
            return ty_fail(TY_BAD_INPUT,
                           "a lattice to contour may have at most %d nodes along an axis, not %d",
                           (int)MAX_NODES, l->n[axis]);
    return ty_ok();
}

ty_status ty_contour_grid(ty_contour* c, const ty_contour_lattice* lattice, const ty_sampler* phi,
                          int refine, ty_tri_mesh* out)
{
    pass k = {.c = c, .lattice = lattice, .phi = phi, .refine = refine, .out = out};
    TY_TRY(check_lattice(lattice));
    TY_TRY(reserve_rows(&k));
    k.cases = ty_contour_cases();
    ty_parallel_for(k.n_rows, ROW_BLOCK, sign_rows, &k);
    ty_parallel_for(k.n_rows, ROW_BLOCK, count_rows, &k);
    int64_t n_verts = ty_prefix_sum(k.n_rows, c->row_verts.at, c->first_vert.at);
    int64_t n_tris = ty_prefix_sum(k.n_rows, c->row_tris.at, c->first_tri.at);
    if (n_verts > INT_MAX || n_tris > INT_MAX)
        return ty_fail(TY_BAD_INPUT,
                       "the surface has %lld triangles, more than 32-bit ids can name",
                       (long long)n_tris);
    TY_TRY(ty_tri_mesh_resize(out, (int)n_verts, (int)n_tris));
    if (!ty_array_resize(&c->key, n_verts)) return ty_no_memory("contouring");
    ty_parallel_for(k.n_rows, ROW_BLOCK, emit_rows, &k);
    ty_parallel_for(n_verts, TY_SAMPLE_BATCH, place_block, &k);
    return ty_ok();
}
