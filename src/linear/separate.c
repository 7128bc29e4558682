// SPDX-License-Identifier: Apache-2.0
#include "linear/separate.h"

#include "linear/sparse_float.h"

void ty_separation_free(ty_separation* s)
{
    ty_csr_free(&s->p);
    ty_array_free(&s->label);
    ty_array_free(&s->twin);
}

// Gives every column to the first piece that uses it; false when another piece uses it too.
static bool is_separate(ty_separation* s, const ty_csr* p, const int* label)
{
    bool separate = true;
    for (int c = 0; c < p->n_cols; ++c) s->label.at[c] = s->twin.at[c] = -1;
    for (int i = 0; i < p->n; ++i) {
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; ++k) {
            int* owner = &s->label.at[p->col[k]];
            if (*owner < 0) *owner = label[i];
            separate = separate && *owner == label[i];
        }
    }
    return separate;
}

// The column of the chain of twins from c that belongs to the piece; a new one when there is none;
// -1 when memory is out.
static int twin_of(ty_separation* s, int c, int label)
{
    while (s->label.at[c] != label) {
        if (s->twin.at[c] < 0) {
            int added = (int)s->label.n;
            if (!ty_array_push(&s->label, label) || !ty_array_push(&s->twin, -1)) return -1;
            s->twin.at[c] = added;
        }
        c = s->twin.at[c];
    }
    return c;
}

ty_status ty_separate(ty_separation* s, const ty_csr* p, const int* label, const ty_csr** out)
{
    *out = p;
    if (!ty_array_fresh(&s->label, p->n_cols) || !ty_array_fresh(&s->twin, p->n_cols))
        return ty_no_memory("first coarse level");
    if (is_separate(s, p, label)) return ty_ok();
    TY_TRY(ty_csr_copy(&s->p, p));
    for (int i = 0; i < p->n; ++i) {
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; ++k) {
            s->p.col[k] = twin_of(s, p->col[k], label[i]);
            if (s->p.col[k] < 0) return ty_no_memory("first coarse level");
        }
    }
    s->p.n_cols = (int)s->label.n;
    *out = &s->p;
    return ty_ok();
}
