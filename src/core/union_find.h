// SPDX-License-Identifier: Apache-2.0
// Which of n things belong together: parent[i] = i at first; the lowest member stands for its set.
#ifndef TY_CORE_UNION_FIND_H
#define TY_CORE_UNION_FIND_H

static inline int ty_find(int* parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static inline void ty_join(int* parent, int a, int b)
{
    a = ty_find(parent, a);
    b = ty_find(parent, b);
    if (a < b) parent[b] = a;
    if (b < a) parent[a] = b;
}

#endif
