// SPDX-License-Identifier: Apache-2.0
// Connected bodies of a lattice: nodes with a negative value that are neighbours along an axis
// belong together. Kept as runs along x, so labels cost memory only where something is inside.
//
//   ty_label_scan    the runs, united across rows        ty_label_unite    what else belongs together
//   ty_label_number  numbers the bodies 0, 1, ... by their first node      ty_label_at    asks
#ifndef TY_FIELD_LABEL_H
#define TY_FIELD_LABEL_H

#include "core/memory.h"

typedef struct ty_run {
    int begin, end;    // nodes begin <= i < end of a row
    int parent;        // union by smallest: a run of the same body that comes no later
    int label;
} ty_run;

// Open; zero-initialise, then ty_label_free. Keeps its memory across scans.
typedef struct ty_label {
    int n[3];
    TY_ARRAY(ty_run) run;
    TY_ARRAY(int) row;    // first run of every row, and one more
    int n_labels;
} ty_label;

// values: n[0] * n[1] * n[2], x fastest; nodes with closed[node] set count as outside (NULL: none).
ty_status ty_label_scan(ty_label* l, const int n[3], const double* values,
                        const unsigned char* closed);
void ty_label_free(ty_label* l);

// The run that holds a node, -1 when it is outside.
int ty_label_run_at(const ty_label* l, int i, int j, int k);
void ty_label_unite(ty_label* l, int run_a, int run_b);
void ty_label_number(ty_label* l);
// The body of a node, -1 when it is outside. After ty_label_number.
int ty_label_at(const ty_label* l, int i, int j, int k);

#endif
