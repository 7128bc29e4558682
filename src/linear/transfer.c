// SPDX-License-Identifier: Apache-2.0
#include "linear/transfer.h"

#include "core/parallel.h"

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
        for (int k = q->r->start.at[i]; k < q->r->start.at[i + 1]; ++k) n += q->matters[q->r->col.at[k]];
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

// Rows that matter and have a coarse part; the longest of them.
static bool list_rows(ty_transfer* t, const ty_csrf* p, const unsigned char* matters)
{
    if (!ty_array_fresh(&t->row, p->n)) return false;
    t->n = t->width = 0;
    for (int i = 0; i < p->n; ++i) {
        int length = p->start.at[i + 1] - p->start.at[i];
        t->row.at[t->n] = i;
        t->n += matters[i] && length > 0;
        if (matters[i] && length > t->width) t->width = length;
    }
    return true;
}

ty_status ty_transfer_setup(ty_transfer* t, const ty_csrf* p, const ty_csrf* r, const unsigned char* matters)
{
    ty_csrf* to = &t->restriction;
    if (!list_rows(t, p, matters) || !ty_array_fresh(&t->col, (int64_t)t->width * t->n) ||
        !ty_array_fresh(&t->val, (int64_t)t->width * t->n) || !ty_csrf_reserve(to, r->n, r->n_cols, 0))
        return ty_no_memory("transfer between levels");
    packing q = {t, p, r, matters};
    ty_parallel_for(t->n, ROW_BLOCK, pack_prolongation, &q);
    ty_parallel_for(r->n, ROW_BLOCK, count_restriction, &q);
    to->start.at[0] = 0;
    for (int i = 0; i < r->n; ++i) to->start.at[i + 1] += to->start.at[i];
    if (!ty_array_fresh(&to->col, to->start.at[r->n]) || !ty_array_fresh(&to->val, to->start.at[r->n]))
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
        for (int w = 0; w < t->width; ++w) sum += t->val.at[w * n + k] * coarse[t->col.at[w * n + k]];
        q->fine[t->row.at[k]] += sum;
    }
}

void ty_transfer_prolong(const ty_transfer* t, const float* coarse, float* fine)
{
    prolongation q = {t, coarse, fine};
    ty_parallel_for(t->n, ROW_BLOCK, prolong_rows, &q);
}
