// SPDX-License-Identifier: Apache-2.0
#include "mesh/tet_shapes.h"

#include <assert.h>
#include <pthread.h>

#include "core/vec.h"

static ty_tet_shape shapes[TY_N_TET_SHAPES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

int ty_tet_shape_face(int shape)
{
    if (shape < TY_TET_HALF) return 2 * (shape / 4) + 1;
    if (shape < TY_TET_QUARTER) return 2 * ((shape - TY_TET_HALF) / 8) + 1;
    if (shape < TY_TET_PYRAMID) return (shape - TY_TET_QUARTER) / 8;
    return (shape - TY_TET_PYRAMID) / 4;
}

static void set4(int place[4], int a, int b, int c, int d)
{
    place[0] = a;
    place[1] = b;
    place[2] = c;
    place[3] = d;
}

void ty_tet_shape_places(int shape, int place[4])
{
    if (shape < TY_TET_HALF) {
        int k = shape & 3;
        set4(place, k, (k + 1) & 3, TY_AT_C, TY_AT_C2);
    } else if (shape < TY_TET_QUARTER) {
        int k = (shape - TY_TET_HALF) >> 1 & 3, half = (shape - TY_TET_HALF) & 1;
        if (half) set4(place, TY_AT_M + k, (k + 1) & 3, TY_AT_C, TY_AT_C2);
        else set4(place, k, TY_AT_M + k, TY_AT_C, TY_AT_C2);
    } else if (shape < TY_TET_PYRAMID) {
        int k = (shape - TY_TET_QUARTER) >> 1 & 3, half = (shape - TY_TET_QUARTER) & 1;
        if (half) set4(place, (k + 1) & 3, TY_AT_M + k, TY_AT_F, TY_AT_C);
        else set4(place, TY_AT_M + k, k, TY_AT_F, TY_AT_C);
    } else {
        int diagonal = (shape - TY_TET_PYRAMID) >> 1 & 1, side = (shape - TY_TET_PYRAMID) & 1;
        int d = diagonal + 2 * side;
        set4(place, (d + 1) & 3, d, (d + 2) & 3, TY_AT_C);
    }
}

// A place in half widths from the octant's centre.
static ty_vec3 place_at(int face, int place)
{
    ty_vec3 normal = ty_vec(0, 0, 0);
    normal[face >> 1] = face & 1 ? 1.0 : -1.0;
    if (place == TY_AT_C) return ty_vec(0, 0, 0);
    if (place == TY_AT_C2) return 2.0 * normal;
    if (place == TY_AT_F) return normal;
    if (place >= TY_AT_M)
        return 0.5 * (place_at(face, place - TY_AT_M) + place_at(face, (place - TY_AT_M + 1) & 3));
    int corner = ty_face_corner(face, place);
    return ty_vec(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, corner & 4 ? 1 : -1);
}

static void make_shape(int shape)
{
    ty_tet_shape* s = &shapes[shape];
    int place[4];
    ty_vec3 v[4];
    ty_tet_shape_places(shape, place);
    for (int i = 0; i < 4; ++i) {
        v[i] = place_at(ty_tet_shape_face(shape), place[i]);
        for (int axis = 0; axis < 3; ++axis) s->at[i][axis] = (int8_t)v[i][axis];
        v[i] = 0.5 * v[i];
    }
    s->volume = ty_dot(v[1] - v[0], ty_cross(v[2] - v[0], v[3] - v[0])) / 6.0;
    assert(s->volume > 0.0);
    for (int i = 0; i < 4; ++i) {
        int a = (i + 1) & 3, b = (i + 2) & 3, c = (i + 3) & 3;
        ty_vec3 S = 0.5 * ty_cross(v[b] - v[a], v[c] - v[a]);
        if (ty_dot(S, v[i] - v[a]) > 0.0) S = -S;
        ty_store3(s->S[i], S);
        s->area[i] = ty_norm(S);
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            s->product[i][j] = ty_dot(ty_load3(s->S[i]), ty_load3(s->S[j])) / s->volume;
}

static void make_all(void)
{
    for (int shape = 0; shape < TY_N_TET_SHAPES; ++shape) make_shape(shape);
}

const ty_tet_shape* ty_tet_shapes(void)
{
    pthread_once(&once, make_all);
    return shapes;
}
