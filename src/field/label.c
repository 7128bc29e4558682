// SPDX-License-Identifier: Apache-2.0
#include "field/label.h"

static int root(const ty_label* l, int run)
{
    while (l->run.at[run].parent != run) run = l->run.at[run].parent;
    return run;
}

void ty_label_unite(ty_label* l, int run_a, int run_b)
{
    if (l->run.at[run_a].parent == l->run.at[run_b].parent) return;
    int a = root(l, run_a), b = root(l, run_b);
    int first = a < b ? a : b;
    l->run.at[a].parent = l->run.at[b].parent = first;
    l->run.at[run_a].parent = l->run.at[run_b].parent = first;
}

static bool scan_row(ty_label* l, const double* values, const unsigned char* closed)
{
    for (int i = 0; i < l->n[0];) {
        while (i < l->n[0] && (!(values[i] < 0.0) || (closed && closed[i]))) ++i;
        if (i == l->n[0]) break;
        ty_run run = {.begin = i, .parent = (int)l->run.n};
        while (i < l->n[0] && values[i] < 0.0 && !(closed && closed[i])) ++i;
        run.end = i;
        if (!ty_array_push(&l->run, run)) return false;
    }
    return true;
}

// Unites the overlapping runs of two rows.
static void unite_rows(ty_label* l, int64_t row_a, int64_t row_b)
{
    int a = l->row.at[row_a], b = l->row.at[row_b];
    while (a < l->row.at[row_a + 1] && b < l->row.at[row_b + 1]) {
        const ty_run *ra = &l->run.at[a], *rb = &l->run.at[b];
        if (ra->begin < rb->end && rb->begin < ra->end) ty_label_unite(l, a, b);
        if (l->run.at[a].end < l->run.at[b].end) ++a;
        else ++b;
    }
}

ty_status ty_label_scan(ty_label* l, const int n[3], const double* values,
                        const unsigned char* closed)
{
    int64_t rows = (int64_t)n[1] * n[2];
    for (int axis = 0; axis < 3; ++axis) l->n[axis] = n[axis];
    l->run.n = 0;
    if (!ty_array_resize(&l->row, rows + 1)) return ty_no_memory("bodies of liquid");
    for (int64_t row = 0; row < rows; ++row) {
        l->row.at[row] = (int)l->run.n;
        int64_t first = row * n[0];
        if (!scan_row(l, values + first, closed ? closed + first : NULL))
            return ty_no_memory("bodies of liquid");
    }
    l->row.at[rows] = (int)l->run.n;
    for (int64_t row = 0; row < rows; ++row) {
        if (row % n[1] > 0) unite_rows(l, row - 1, row);
        if (row >= n[1]) unite_rows(l, row - n[1], row);
    }
    for (int run = 0; run < l->run.n; ++run)
        l->run.at[run].parent = root(l, run);    // a step each: parents come first
    return ty_ok();
}

void ty_label_free(ty_label* l)
{
    ty_array_free(&l->run);
    ty_array_free(&l->row);
}

int ty_label_run_at(const ty_label* l, int i, int j, int k)
{
    if (i < 0 || j < 0 || k < 0 || i >= l->n[0] || j >= l->n[1] || k >= l->n[2]) return -1;
    int64_t row = j + (int64_t)l->n[1] * k;
    int lo = l->row.at[row], hi = l->row.at[row + 1];
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (l->run.at[middle].end <= i) lo = middle + 1;
        else hi = middle;
    }
    return lo < l->row.at[row + 1] && l->run.at[lo].begin <= i ? lo : -1;
}

void ty_label_number(ty_label* l)
{
    l->n_labels = 0;
    for (int run = 0; run < l->run.n; ++run) {
        int first = root(l, run);
        l->run.at[run].label = first == run ? l->n_labels++ : l->run.at[first].label;
    }
}

int ty_label_at(const ty_label* l, int i, int j, int k)
{
    int run = ty_label_run_at(l, i, j, k);
    return run < 0 ? -1 : l->run.at[run].label;
}
