// SPDX-License-Identifier: Apache-2.0
#include "linear/pieces.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/union_find.h"

enum {
    FIND_BLOCK = 16384,    // rows whose inner edges are joined by one worker
    SEGMENT = 4096         // rows of one partial sum of a piece
};

typedef struct finder {
    const ty_csr* a;
    int* parent;
    unsigned char* tied;
} finder;

// While pieces are found, flags of a row beside TIED. A local root is the root of its tree inside
// its block.
enum { TIED = 1, CROSSES = 2, LOCAL_ROOT = 4 };

// Joins edges inside the block only: other blocks' trees are not touched. Then every row's parent
// is its local root, which is tied when one of them is.
static void find_block(void* ctx, ty_range r)
{
    finder* f = ctx;
    const ty_csr* a = f->a;
    for (int64_t i = r.begin; i < r.end; ++i) f->parent[i] = (int)i;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double sum = 0.0, diagonal = 0.0;
        unsigned char crosses = 0;
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            int j = a->col[k];
            sum += a->val[k];
            if (j == i) diagonal = a->val[k];
            if (j < r.begin) crosses = CROSSES;
            if (j < i && j >= r.begin && a->val[k] != 0.0 && f->parent[i] != f->parent[j])
                ty_join(f->parent, (int)i, j);
        }
        f->tied[i] = (unsigned char)(crosses | (fabs(sum) > TY_TIED_ROW * diagonal ? TIED : 0));
    }
    for (int64_t i = r.begin; i < r.end; ++i) {
        int root = f->parent[i] =
            f->parent[f->parent[i]];    // parents come before: they have their roots
        f->tied[root] |= f->tied[i] & TIED;
        if (root == i) f->tied[i] |= LOCAL_ROOT;
    }
}

// The first row from i on that has the flag, n when there is none. Eight flags are looked at
// together.
static int next_flagged(const unsigned char* flags, int n, int i, unsigned char flag)
{
    const uint64_t mask = 0x0101010101010101u * flag;
    for (uint64_t eight; i + 8 <= n; i += 8) {
        memcpy(&eight, flags + i, 8);
        if (eight & mask) break;
    }
    while (i < n && !(flags[i] & flag)) ++i;
    return i;
}

static void join_blocks(finder* f)
{
    const ty_csr* a = f->a;
    for (int i = -1; (i = next_flagged(f->tied, a->n, i + 1, CROSSES)) < a->n;) {
        int begin = i / FIND_BLOCK * FIND_BLOCK;
        for (int k = a->row_start[i]; k < a->row_start[i + 1] && a->col[k] < begin; ++k)
            if (a->val[k] != 0.0 && f->parent[i] != f->parent[a->col[k]])
                ty_join(f->parent, i, a->col[k]);
    }
}

static bool is_empty_row(const ty_csr* a, int i)
{
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k)
        if (a->val[k] != 0.0) return false;
    return true;
}

// Labels and ties of the local roots: a root's parent comes before it, so it has its label already.
static void label_roots(finder* f)
{
    int n = f->a->n;
    for (int i = -1; (i = next_flagged(f->tied, n, i + 1, LOCAL_ROOT)) < n;) {
        int label = f->parent[i] = f->parent[f->parent[i]];
        f->tied[label] |= f->tied[i] & TIED;
    }
}

static void count_pieces(ty_pieces* p, const ty_csr* a)
{
    p->n_pieces = p->n_singular = p->n_empty = 0;
    for (int i = -1; (i = next_flagged(p->tied.at, a->n, i + 1, LOCAL_ROOT)) < a->n;) {
        bool tied = p->tied.at[i] & TIED;
        if (p->label.at[i] != i) continue;
        if (!tied && is_empty_row(a, i)) {
            ++p->n_empty;
        } else {
            ++p->n_pieces;
            p->n_singular += !tied;
        }
    }
}

// All other rows; a row's parent is a local root.
static void label_rows(void* ctx, ty_range r)
{
    finder* f = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) {
        if (!(f->tied[i] & LOCAL_ROOT)) f->parent[i] = f->parent[f->parent[i]];
        f->tied[i] &= TIED;
    }
}

// Rows of singular pieces, sorted by piece (counting sort), then cut into segments.
static ty_status list_rows(ty_pieces* p, int n)
{
    p->row.n = p->segment.n = 0;
    if (p->n_singular + p->n_empty == 0) return ty_ok();
    if (!ty_array_resize(&p->start, n + 1)) return ty_no_memory("singular pieces");
    int* start = p->start.at;
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    for (int i = 0; i < n; ++i)
        if (!p->tied.at[p->label.at[i]]) ++start[p->label.at[i] + 1];
    bool ok = true;
    int total = 0;
    for (int i = 0; i < n; ++i) {
        int size = start[i + 1];
        for (int k = 0; k < size && ok; k += SEGMENT) ok = ty_array_push(&p->segment, total + k);
        start[i] = total;
        total += size;
    }
    ok = ok && ty_array_push(&p->segment, total) && ty_array_resize(&p->row, total) &&
         ty_array_resize(&p->sum, p->segment.n) && ty_array_resize(&p->magnitude, p->segment.n);
    for (int i = 0; i < n && ok; ++i)
        if (!p->tied.at[p->label.at[i]]) p->row.at[start[p->label.at[i]]++] = i;
    return ok ? ty_ok() : ty_no_memory("singular pieces");
}

ty_status ty_pieces_find(ty_pieces* p, const ty_csr* a)
{
    if (!ty_array_resize(&p->label, a->n) || !ty_array_resize(&p->tied, a->n))
        return ty_no_memory("pieces of a matrix");
    finder f = {a, p->label.at, p->tied.at};
    ty_parallel_for(a->n, FIND_BLOCK, find_block, &f);
    join_blocks(&f);
    label_roots(&f);
    count_pieces(p, a);
    ty_parallel_for(a->n, FIND_BLOCK, label_rows, &f);
    return list_rows(p, a->n);
}

void ty_pieces_free(ty_pieces* p)
{
    ty_array_free(&p->label);
    ty_array_free(&p->tied);
    ty_array_free(&p->row);
    ty_array_free(&p->segment);
    ty_array_free(&p->start);
    ty_array_free(&p->sum);
    ty_array_free(&p->magnitude);
}

typedef struct projection {
    ty_pieces* pieces;
    double* v;
} projection;

static void sum_segments(void* ctx, ty_range r)
{
    projection* q = ctx;
    ty_pieces* p = q->pieces;
    for (int64_t s = r.begin; s < r.end; ++s) {
        double sum = 0.0, magnitude = 0.0;
        for (int k = p->segment.at[s]; k < p->segment.at[s + 1]; ++k) {
            sum += q->v[p->row.at[k]];
            magnitude += fabs(q->v[p->row.at[k]]);
        }
        p->sum.at[s] = sum;
        p->magnitude.at[s] = magnitude;
    }
}

static void subtract_means(void* ctx, ty_range r)
{
    projection* q = ctx;
    ty_pieces* p = q->pieces;
    for (int64_t s = r.begin; s < r.end; ++s)
        for (int k = p->segment.at[s]; k < p->segment.at[s + 1]; ++k)
            q->v[p->row.at[k]] -= p->sum.at[s];
}

// Puts the mean of each piece into `sum` of all its segments; a piece of one row has mean v itself.
static double piece_means(ty_pieces* p)
{
    double worst = 0.0;
    int64_t n = p->segment.n - 1;
    for (int64_t first = 0, last; first < n; first = last) {
        double sum = 0.0, magnitude = 0.0;
        int label = p->label.at[p->row.at[p->segment.at[first]]];
        for (last = first; last < n && p->label.at[p->row.at[p->segment.at[last]]] == label;
             ++last) {
            sum += p->sum.at[last];
            magnitude += p->magnitude.at[last];
        }
        double mean = sum / (p->segment.at[last] - p->segment.at[first]);
        for (int64_t s = first; s < last; ++s) p->sum.at[s] = mean;
        if (magnitude > 0.0) worst = fmax(worst, fabs(sum) / magnitude);
    }
    return worst;
}

double ty_pieces_project(ty_pieces* p, double* v)
{
    if (p->row.n == 0) return 0.0;
    projection q = {p, v};
    ty_parallel_for(p->segment.n - 1, 16, sum_segments, &q);
    double worst = piece_means(p);
    ty_parallel_for(p->segment.n - 1, 16, subtract_means, &q);
    return worst;
}
