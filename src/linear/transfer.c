// SPDX-License-Identifier: Apache-2.0
#include "linear/transfer.h"

#include <math.h>

#include "core/parallel.h"
#include "linear/scan.h"

enum { LANES = 8, ROW_BLOCK = 8192 };

typedef struct packing {
    ty_transfer* t;
    const ty_csrf *p, *r;
    const unsigned char* matters;
} packing;

static void pack_prolongation(void* ctx, ty_range range)
{
    packing* q = ctx;
    ty_transfer* t = q->t;
    for (int64_t k = range.begin; k < range.end; ++k) {
        int row = t->row.at[k], start = q->p->start.at[row], n = q->p->start.at[row + 1] - start;
        for (int w = 0; w < t->width; ++w) {
            int64_t at = (int64_t)w * t->n + k;
            t->col.at[at] = w < n ? q->p->col.at[start + w] : 0;
            t->val.at[at] = w < n ? q->p->val.at[start + w] : 0.0f;
        }
    }
}

static void count_restriction(void* ctx, ty_range range)
{
    packing* q = ctx;
    for (int64_t i = range.begin; i < range.end; ++i) {
        int n = 0;
        for (int k = q->r->start.at[i]; k < q->r->start.at[i + 1]; ++k)
            n += q->matters[q->r->col.at[k]];
        q->t->restriction.start.at[i + 1] = n;
    }
}

static void pack_restriction(void* ctx, ty_range range)
{
    packing* q = ctx;
    ty_csrf* to = &q->t->restriction;
    for (int64_t i = range.begin; i < range.end; ++i) {
        int at = to->start.at[i];
        for (int k = q->r->start.at[i]; k < q->r->start.at[i + 1]; ++k) {
            if (!q->matters[q->r->col.at[k]]) continue;
            to->col.at[at] = q->r->col.at[k];
            to->val.at[at++] = q->r->val.at[k];
        }
    }
}

static double longest_row(void* ctx, ty_range range)
{
    const packing* q = ctx;
    int longest = 0;
    for (int64_t k = range.begin; k < range.end; ++k) {
        const int* start = q->p->start.at + q->t->row.at[k];
        if (start[1] - start[0] > longest) longest = start[1] - start[0];
    }
    return longest;
}

// Rows that matter; the longest of them.
static bool list_rows(const packing* q)
{
    ty_transfer* t = q->t;
    if (!ty_array_fresh(&t->row, q->p->n)) return false;
    t->n = ty_select(q->p->n, q->matters, NULL, t->row.at);
    t->width = (int)fmax(0.0, ty_parallel_max(t->n, ROW_BLOCK, longest_row, (void*)q));
    return true;
}

ty_status ty_transfer_setup(ty_transfer* t, const ty_csrf* p, const ty_csrf* r,
                            const unsigned char* matters)
{
    ty_csrf* to = &t->restriction;
    packing q = {t, p, r, matters};
    if (!list_rows(&q) || !ty_array_fresh(&t->col, (int64_t)t->width * t->n) ||
        !ty_array_fresh(&t->val, (int64_t)t->width * t->n) ||
        !ty_csrf_reserve(to, r->n, r->n_cols, 0))
        return ty_no_memory("transfer between levels");
    ty_parallel_for(t->n, ROW_BLOCK, pack_prolongation, &q);
    ty_parallel_for(r->n, ROW_BLOCK, count_restriction, &q);
    int entries = ty_scan_rows(r->n, to->start.at);
    if (!ty_array_fresh(&to->col, entries) || !ty_array_fresh(&to->val, entries))
        return ty_no_memory("transfer between levels");
    ty_parallel_for(r->n, ROW_BLOCK, pack_restriction, &q);
    return ty_ok();
}

void ty_transfer_free(ty_transfer* t)
{
    ty_array_free(&t->row);
    ty_array_free(&t->col);
    ty_array_free(&t->val);
    ty_csrf_free(&t->restriction);
    t->n = t->width = 0;
}

void ty_transfer_restrict(const ty_transfer* t, const float* fine, float* coarse)
{
    ty_csrf_apply(&t->restriction, fine, coarse);
}

typedef struct prolongation {
    const ty_transfer* t;
    const float* coarse;
    float* fine;
} prolongation;

static void prolong_rows(void* ctx, ty_range r)
{
    const prolongation* q = ctx;
    const ty_transfer* t = q->t;
    const float* restrict coarse = q->coarse;
    int64_t k = r.begin, n = t->n;
    for (; k + LANES <= r.end; k += LANES) {
        float sum[LANES] = {0};
        for (int w = 0; w < t->width; ++w) {
            const int* restrict col = t->col.at + w * n + k;
            const float* restrict val = t->val.at + w * n + k;
            for (int l = 0; l < LANES; ++l) sum[l] += val[l] * coarse[col[l]];
        }
        for (int l = 0; l < LANES; ++l) q->fine[t->row.at[k + l]] += sum[l];
    }
    for (; k < r.end; ++k) {
        float sum = 0.0f;
        for (int w = 0; w < t->width; ++w)
            sum += t->val.at[w * n + k] * coarse[t->col.at[w * n + k]];
        q->fine[t->row.at[k]] += sum;
    }
}

void ty_transfer_prolong(const ty_transfer* t, const float* coarse, float* fine)
{
    prolongation q = {t, coarse, fine};
    ty_parallel_for(t->n, ROW_BLOCK, prolong_rows, &q);
}
