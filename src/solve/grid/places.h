// SPDX-License-Identifier: Apache-2.0
// Where the samples of a staggered field around a point are: for all axes at once, an axis to a lane.
#ifndef TY_SOLVE_GRID_PLACES_H
#define TY_SOLVE_GRID_PLACES_H

#include "solve/grid/gridflow.h"

typedef int ty_four_ints __attribute__((vector_size(16)));

typedef struct ty_lanes {
    ty_vec3 origin, n, last;    // last: n + 1
    ty_four_ints stride;
} ty_lanes;

static inline ty_lanes ty_make_lanes(const ty_cells* c)
{
    ty_vec3 n = {c->n[0], c->n[1], c->n[2], 1.0};
    return (ty_lanes){ty_load3(c->origin), n, n + 1.0, {1, c->stride[1], c->stride[2], 0}};
}

// Memory coordinates of the lower samples, and the shares of the upper ones.
static inline ty_four_ints ty_find_slots(const ty_lanes* l, ty_vec3 at, ty_vec3 first,
                                         ty_vec3* share)
{
    at = ty_lower(ty_higher(at, first), l->last);    // `first` also where `at` is not a number
    ty_four_ints i = __builtin_convertvector(ty_lower(at, l->n), ty_four_ints);
    *share = at - __builtin_convertvector(i, ty_vec3);
    return i;
}

typedef struct ty_places {
    ty_vec3 center, face;    // shares
    int at[3];               // of the components' lowest samples
} ty_places;

static inline ty_places ty_place_all(const ty_cells* c, const ty_lanes* l, const double x[3])
{
    ty_places p;
    ty_vec3 at = (ty_load3(x) - l->origin) * c->per_h, zeros = {0}, ones = zeros + 1.0;
    ty_four_ints center = ty_find_slots(l, at + 0.5, zeros, &p.center) * l->stride;
    ty_four_ints face = ty_find_slots(l, at + 1.0, ones, &p.face) * l->stride;
    p.at[0] = face[0] + center[1] + center[2];
    p.at[1] = center[0] + face[1] + center[2];
    p.at[2] = center[0] + center[1] + face[2];
    return p;
}

// The samples of one component alone: faces normal to `axis`.
typedef struct ty_face_place {
    ty_vec3 share;
    ty_four_ints low;    // memory coordinates
    int at;              // of the lowest sample
} ty_face_place;

static inline ty_face_place ty_place_face(const ty_cells* c, const ty_lanes* l, int axis,
                                          const double x[3])
{
    ty_face_place p;
    ty_vec3 first = {axis == 0, axis == 1, axis == 2}, shift = 0.5 + 0.5 * first;
    p.low = ty_find_slots(l, (ty_load3(x) - l->origin) * c->per_h + shift, first, &p.share);
    ty_four_ints at = p.low * l->stride;
    p.at = at[0] + at[1] + at[2];
    return p;
}

#endif
