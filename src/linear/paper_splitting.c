// SPDX-License-Identifier: Apache-2.0
#include "linear/paper_splitting.h"

#include <assert.h>

enum { UNLABELLED = -3, FINE = -1, NO_ROW = -1, NOT_QUEUED = -2 };

typedef struct labelling {
    const ty_csr* a;
    ty_splitting* s;
    int highest;    // no bucket above holds anything
} labelling;

static void unlink_row(labelling* q, int i)
{
    ty_splitting* s = q->s;
    if (s->previous.at[i] == NOT_QUEUED) return;
    if (s->previous.at[i] == NO_ROW) s->bucket.at[s->count.at[i]] = s->next.at[i];
    else s->next.at[s->previous.at[i]] = s->next.at[i];
    if (s->next.at[i] != NO_ROW) s->previous.at[s->next.at[i]] = s->previous.at[i];
    s->previous.at[i] = NOT_QUEUED;
}

static void link_row(labelling* q, int i)
{
    ty_splitting* s = q->s;
    int c = s->count.at[i], head = s->bucket.at[c];
    s->previous.at[i] = NO_ROW;
    s->next.at[i] = head;
    if (head != NO_ROW) s->previous.at[head] = i;
    s->bucket.at[c] = i;
    if (c > q->highest) q->highest = c;
}

// Steps 3 and 4 for one neighbour of a new coarse row.
static void make_fine(labelling* q, int j)
{
    const ty_csr* a = q->a;
    ty_splitting* s = q->s;
    unlink_row(q, j);
    s->coarse.at[j] = FINE;
    for (int k = a->row_start[j]; k < a->row_start[j + 1]; ++k) {
        int u = a->col[k];
        if (u == j || a->val[k] == 0.0 || s->coarse.at[u] != UNLABELLED) continue;
        unlink_row(q, u);
        --s->count.at[u];
        link_row(q, u);
    }
}

static void make_coarse(labelling* q, int i)
{
    const ty_csr* a = q->a;
    ty_splitting* s = q->s;
    unlink_row(q, i);
    s->coarse.at[i] = s->n_coarse++;
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k)
        if (a->val[k] != 0.0 && s->coarse.at[a->col[k]] == UNLABELLED) make_fine(q, a->col[k]);
}

// Step 5: from the fullest bucket; else the first row that is left, a new piece.
static int pick(labelling* q, int* cursor)
{
    ty_splitting* s = q->s;
    while (q->highest >= 0 && s->bucket.at[q->highest] == NO_ROW) --q->highest;
    if (q->highest >= 0) return s->bucket.at[q->highest];
    while (*cursor < q->a->n && s->coarse.at[*cursor] != UNLABELLED) ++*cursor;
    return *cursor < q->a->n ? *cursor : NO_ROW;
}

static int count_neighbours(const ty_csr* a, int i)
{
    int n = 0;
    for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k)
        n += a->col[k] != i && a->val[k] != 0.0;
    return n;
}

ty_status ty_split(ty_splitting* s, const ty_csr* a)
{
    if (!ty_array_fresh(&s->coarse, a->n) || !ty_array_fresh(&s->count, a->n) ||
        !ty_array_fresh(&s->next, a->n) || !ty_array_fresh(&s->previous, a->n))
        return ty_no_memory("coarse/fine labels");
    int most = 0;
    for (int i = 0; i < a->n; ++i) {
        s->count.at[i] = count_neighbours(a, i);
        s->coarse.at[i] = s->count.at[i] > 0 ? UNLABELLED : FINE;
        s->previous.at[i] = NOT_QUEUED;
        if (s->count.at[i] > most) most = s->count.at[i];
    }
    if (!ty_array_fresh(&s->bucket, most + 1)) return ty_no_memory("coarse/fine labels");
    for (int c = 0; c <= most; ++c) s->bucket.at[c] = NO_ROW;
    labelling q = {a, s, -1};
    s->n_coarse = 0;
    int cursor = 0;
    for (int i; (i = pick(&q, &cursor)) != NO_ROW;) make_coarse(&q, i);
    // Coarse unknowns in the order of their rows: labels were given in order of selection.
    s->n_coarse = 0;
    for (int i = 0; i < a->n; ++i)
        if (s->coarse.at[i] >= 0) s->coarse.at[i] = s->n_coarse++;
    return ty_ok();
}

ty_status ty_split_prolongation(const ty_splitting* s, const ty_csr* a, ty_csrf* p)
{
    if (!ty_csrf_reserve(p, a->n, s->n_coarse, ty_csr_entries(a) + a->n))
        return ty_no_memory("prolongation");
    int at = 0;
    for (int i = 0; i < a->n; ++i) {
        int first = p->start.at[i] = at;
        if (s->coarse.at[i] >= 0) p->col.at[at++] = s->coarse.at[i];
        for (int k = a->row_start[i]; k < a->row_start[i + 1] && s->coarse.at[i] < 0; ++k)
            if (a->val[k] != 0.0 && s->coarse.at[a->col[k]] >= 0)
                p->col.at[at++] = s->coarse.at[a->col[k]];
        for (int k = first; k < at; ++k) p->val.at[k] = 1.0f / (float)(at - first);
    }
    p->start.at[a->n] = at;
    return ty_ok();
}

void ty_splitting_free(ty_splitting* s)
{
    ty_array_free(&s->coarse);
    ty_array_free(&s->count);
    ty_array_free(&s->next);
    ty_array_free(&s->previous);
    ty_array_free(&s->bucket);
    s->n_coarse = 0;
}
