// SPDX-License-Identifier: Apache-2.0
#include "linear/pieces.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

enum {
    FIND_BLOCK = 16384,    // rows whose inner edges are joined by one worker
    SEGMENT = 4096         // rows of one partial sum of a piece
};

// Roots are the smallest row of their tree, so the result does not depend on the order of unions.
static int root_of(int* parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(int* parent, int i, int j)
{
    i = root_of(parent, i);
    j = root_of(parent, j);
    if (i < j)
        parent[j] = i;
    else
        parent[i] = j;
}

typedef struct finder {
    const ty_csr* a;
    int* parent;
    unsigned char* tied;
} finder;

// Joins edges inside the block only: other blocks' trees are not touched.
static void find_block(void* ctx, ty_range r)
{
    finder* f = ctx;
    const ty_csr* a = f->a;
    for (int64_t i = r.begin; i < r.end; ++i) f->parent[i] = (int)i;
    for (int64_t i = r.begin; i < r.end; ++i) {
        double sum = 0.0, diagonal = 0.0;
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            int j = a->col[k];
            sum += a->val[k];
            if (j == i) diagonal = a->val[k];
            if (j < i && j >= r.begin && a->val[k] != 0.0 && f->parent[i] != f->parent[j])
                join(f->parent, (int)i, j);
        }
        f->tied[i] = fabs(sum) > TY_TIED_ROW * diagonal;
    }
}

static void join_blocks(finder* f)
{
    const ty_csr* a = f->a;
    for (int i = FIND_BLOCK; i < a->n; ++i) {
        int begin = i / FIND_BLOCK * FIND_BLOCK;
        for (int k = a->row_start[i]; k < a->row_start[i + 1] && a->col[k] < begin; ++k)
            if (a->val[k] != 0.0 && f->parent[i] != f->parent[a->col[k]]) join(f->parent, i, a->col[k]);
    }
}

static bool is_empty_row(const ty_csr* a, int i)
{
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k)
        if (a->val[k] != 0.0) return false;
    return true;
}

static void count_pieces(ty_pieces* p, const ty_csr* a)
{
    p->n_pieces = p->n_singular = p->n_empty = 0;
    for (int i = 0; i < a->n; ++i) {
        if (p->label.at[i] != i) continue;
        if (!p->tied.at[i] && is_empty_row(a, i)) {
            ++p->n_empty;
        } else {
            ++p->n_pieces;
            p->n_singular += !p->tied.at[i];
        }
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
    for (int i = 0; i < a->n; ++i) {
        int parent = p->label.at[i], label = p->label.at[parent];    // parent < i: already its label
        p->label.at[i] = label;
        p->tied.at[label] |= p->tied.at[i];
    }
    count_pieces(p, a);
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
        for (int k = p->segment.at[s]; k < p->segment.at[s + 1]; ++k) q->v[p->row.at[k]] -= p->sum.at[s];
}

// Puts the mean of each piece into `sum` of all its segments; a piece of one row has mean v itself.
static double piece_means(ty_pieces* p)
{
    double worst = 0.0;
    int64_t n = p->segment.n - 1;
    for (int64_t first = 0, last; first < n; first = last) {
        double sum = 0.0, magnitude = 0.0;
        int label = p->label.at[p->row.at[p->segment.at[first]]];
        for (last = first; last < n && p->label.at[p->row.at[p->segment.at[last]]] == label; ++last) {
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
