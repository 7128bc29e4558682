// SPDX-License-Identifier: Apache-2.0
// Trackers continue the liquid some of their own cells into solids; the mesh has to end some of its
// cells deep, or a floor below water is a free surface. Below the tracker's part the same linear rule
// goes on (track/contour/walls.c): with the wall point p and the mirror image m of x in the open,
// phi(x) = 2 phi(p) - phi(m). Where the liquid at the wall is as deep as the tracker's part nothing is
// near but the end of that part, which is no surface: there it is liquid all the way.
#include "solve/tet/deepen.h"

#include <string.h>

#include "geometry/slope.h"
#include "solve/tet/motion.h"

enum { BATCH = TY_SAMPLE_BATCH, SIDES = 3 };    // SIDES: walls that meet in a corner

// Points below the tracker's part.
typedef struct below {
    int n, id[BATCH];
    double depth[BATCH];
    ty_vec3 x[BATCH], way[BATCH];        // to the wall point
    double wall[BATCH][3], in[BATCH];    // wall point, and how deep in another solid
} below;

static void find_walls(const ty_tet_deepened* k, below* b)
{
    for (int i = 0; i < b->n; ++i) {
        b->way[i] = b->depth[i] * ty_tet_way_out(&k->solid, k->cell, b->x[i]);
        ty_store3(b->wall[i], b->x[i] + b->way[i]);
    }
    ty_sample(&k->solid, b->n, (const double(*)[3])b->wall, b->in);
    for (int i = 0; i < b->n; ++i) b->in[i] = -b->in[i];
}

// The wall point brought to the open, through all the walls that meet there.
static void open_place(const ty_tet_deepened* k, const below* b, int i, double out[3])
{
    ty_vec3 x = ty_load3(b->wall[i]);
    double depth = b->in[i];
    for (int side = 1; side < SIDES && depth > 0.0; ++side) {
        x += depth * ty_tet_way_out(&k->solid, k->cell, x);
        depth = -ty_value_at(&k->solid, x);
    }
    ty_store3(out, x);
}

static void continue_below(const ty_tet_deepened* k, below* b, double* out)
{
    double open[BATCH][3], ask[2 * BATCH][3], value[2 * BATCH];
    int n = 0;
    find_walls(k, b);
    for (int i = 0; i < b->n; ++i) open_place(k, b, i, open[i]);
    ty_sample(&k->liquid, b->n, (const double(*)[3])open, value);
    for (int i = 0; i < b->n; ++i) {
        out[b->id[i]] = value[i];
        if (value[i] < -k->overlap || b->in[i] > k->overlap) continue;
        b->id[n] = b->id[i];
        ty_store3(ask[2 * n], ty_load3(b->wall[i]));
        ty_store3(ask[2 * n + 1], ty_load3(b->wall[i]) + b->way[i]);
        ++n;
    }
    ty_sample(&k->liquid, 2 * n, (const double(*)[3])ask, value);
    for (int i = 0; i < n; ++i) out[b->id[i]] = 2.0 * value[2 * i] - value[2 * i + 1];
}

static void eval(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_tet_deepened* k = self;
    double solid[BATCH], value[BATCH], above[BATCH][3];
    int id[BATCH];
    for (int at = 0; at < n; at += BATCH) {
        int count = n - at < BATCH ? n - at : BATCH, n_above = 0;
        below b;
        b.n = 0;
        ty_sample(&k->solid, count, x + at, solid);
        for (int i = 0; i < count; ++i) {
            if (-solid[i] <= k->overlap) {
                memcpy(above[n_above], x[at + i], sizeof above[0]);
                id[n_above++] = i;
                continue;
            }
            b.x[b.n] = ty_load3(x[at + i]);
            b.depth[b.n] = -solid[i];
            b.id[b.n++] = i;
        }
        ty_sample(k->roughly ? k->roughly : &k->liquid, n_above, (const double(*)[3])above, value);
        for (int i = 0; i < n_above; ++i) out[at + id[i]] = value[i];
        if (b.n) continue_below(k, &b, out + at);
    }
}

ty_sampler ty_tet_deepened_sampler(const ty_tet_deepened* d)
{
    return (ty_sampler){.self = d, .width = 1, .eval = eval};
}
