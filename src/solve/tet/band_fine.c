// SPDX-License-Identifier: Apache-2.0
// Nodes near the skin. Of all the triangles near a block the closest to each of its nodes is found
// in floats, eight nodes at a time (those that tie have the same value there); then the place on it
// in doubles. Below a free surface and above it the value is the skin's.
#include <string.h>

#include "core/parallel.h"
#include "geometry/triangle.h"
#include "solve/tet/band.h"
#include "solve/tet/motion.h"
#include "space/simd.h"

enum {
    OWN = TY_BAND_OWN,
    LANES = 8,
    BLOCKS = 8,
    MOST = 512
};    // triangles at a block; more: the hierarchy is asked
// Fine cells from the skin. All cells within 0.4 of the mesh's then have all their nodes, most
// within 0.7.
static const double REACH = 2.5;

// A triangle in the block's frame, in fine cells.
typedef struct flat {
    ty_f8 corner[3][3], edge[3][3], inverse[3];    // 1 / |edge|^2
    ty_f8 side[3][3];    // in the plane, out of the triangle, across each edge
    ty_f8 normal[3];     // of unit length
    ty_f8 thin;          // infinite where there is no normal, else 0
} flat;

static float safe_inverse(double x) { return x > 0.0 ? (float)(1.0 / x) : 0.0f; }

static flat flatten(const ty_tri_mesh* skin, int tri, ty_vec3 origin, double cell)
{
    flat f;
    ty_vec3 x[3], n;
    for (int k = 0; k < 3; ++k) x[k] = (ty_load3(skin->vert[skin->tri[tri][k]]) - origin) / cell;
    n = ty_normalize(ty_cross(x[1] - x[0], x[2] - x[0]));
    for (int k = 0; k < 3; ++k) {
        ty_vec3 e = x[(k + 1) % 3] - x[k], side = ty_cross(e, n);
        f.inverse[k] = ty_f8_all(safe_inverse(ty_dot(e, e)));
        for (int axis = 0; axis < 3; ++axis) {
            f.corner[k][axis] = ty_f8_all((float)x[k][axis]);
            f.edge[k][axis] = ty_f8_all((float)e[axis]);
            f.side[k][axis] = ty_f8_all((float)side[axis]);
        }
    }
    for (int axis = 0; axis < 3; ++axis) f.normal[axis] = ty_f8_all((float)n[axis]);
    f.thin = ty_f8_all(ty_dot(n, n) > 0.0 ? 0.0f : INFINITY);
    return f;
}

static ty_f8 dot8(const ty_f8 a[3], const ty_f8 b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Squared distances of eight points.
static ty_f8 distance2(const flat* f, const ty_f8 x[3])
{
    const ty_f8 zero = ty_f8_all(0.0f), one = ty_f8_all(1.0f);
    ty_f8 d[3], rest[3], least = ty_f8_all(INFINITY);
    ty_i8 beside = zero > zero;
    for (int k = 0; k < 3; ++k) {
        for (int axis = 0; axis < 3; ++axis) d[axis] = x[axis] - f->corner[k][axis];
        ty_f8 t = dot8(d, f->edge[k]) * f->inverse[k];
        t = ty_f8_min(ty_f8_max(t, zero), one);
        for (int axis = 0; axis < 3; ++axis) rest[axis] = d[axis] - t * f->edge[k][axis];
        least = ty_f8_min(least, dot8(rest, rest));
        beside |= dot8(d, f->side[k]) > zero;
    }
    ty_f8 height = dot8(d, f->normal);
    return ty_f8_pick(beside, least, ty_f8_min(least, height * height + f->thin));
}

static void find_in_list(const ty_band_table* t, const ty_tri_mesh* skin, ty_vec3 origin, int n,
                         const int* list, int tri[OWN])
{
    ty_f8 best[OWN / LANES];
    ty_i8 which[OWN / LANES];
    for (int i = 0; i < OWN / LANES; ++i)
        best[i] = ty_f8_all((float)(REACH * REACH)), which[i] = (ty_i8){0} - 1;
    for (int k = 0; k < n; ++k) {
        flat f = flatten(skin, list[k], origin, t->cell);
        for (int i = 0; i < OWN / LANES; ++i) {    // two rows of four
            float y = (float)(2 * (i % 2));
            ty_f8 x[3] = {{0, 1, 2, 3, 0, 1, 2, 3},
                          {y, y, y, y, y + 1, y + 1, y + 1, y + 1},
                          ty_f8_all((float)(i / 2))};
            ty_f8 d = distance2(&f, x);
            ty_i8 nearer = d < best[i];
            best[i] = ty_f8_pick(nearer, d, best[i]);
            which[i] = (which[i] & ~nearer) | (nearer & k);
        }
    }
    for (int i = 0; i < OWN; ++i) {
        int k = which[i / LANES][i % LANES];
        tri[i] = k < 0 ? -1 : list[k];
    }
}

// The triangles closest to the own nodes of a block, -1 where none is within REACH.
static void find_nearest(const ty_band_job* job, const int block[3], int tri[OWN])
{
    const ty_band_table* t = &job->b->fine;
    const ty_tet_motion* m = job->m;
    int list[MOST];
    double x[OWN][3], reach = REACH * t->cell;
    ty_vec3 lo = ty_band_place(t, block, 0), hi = ty_band_place(t, block, OWN - 1);
    ty_box box;
    ty_store3(box.lo, lo - ty_vec(reach, reach, reach));
    ty_store3(box.hi, hi + ty_vec(reach, reach, reach));
    int64_t n = ty_bvh_overlaps(&m->skin_tree, &box, MOST, list);
    if (n <= MOST) find_in_list(t, &m->skin, lo, (int)n, list, tri);
    else {
        for (int i = 0; i < OWN; ++i) ty_store3(x[i], ty_band_place(t, block, i));
        ty_closest_points points = {.triangle = tri};
        ty_bvh_closest(&m->skin_tree, OWN, (const double(*)[3])x, reach, &points);
    }
}

static void set_node(const ty_tet_motion* m, int tri, ty_vec3 x, ty_band_value* out)
{
    const int* v = m->skin.tri[tri];
    ty_vec3 a = ty_load3(m->skin.vert[v[0]]), b = ty_load3(m->skin.vert[v[1]]),
            c = ty_load3(m->skin.vert[v[2]]);
    ty_tet_place place;
    double value[2][3];
    ty_tet_place_on_skin(m, tri, ty_closest_on_triangle(x, a, b, c).point, &place);
    ty_store3(value[0], ty_tet_value(m, &m->u, &place));
    ty_store3(value[1], ty_tet_value(m, &m->a, &place));
    *out = ty_band_pack(value[0], value[1]);
}

// In solids, and where the closest skin is not free, the rule for single points. Returns those to which
// the skin matters.
static uint64_t set_others(const ty_band_job* job, int n, const int* id, double (*x)[3],
                           ty_band_value* value)
{
    double u[OWN][3], a[OWN][3];
    bool by_skin[OWN];
    uint64_t bits = 0;
    ty_tet_sample_by_skin(job->m, job->world, n, (const double(*)[3])x, by_skin, u[0], a[0]);
    for (int i = 0; i < n; ++i) {
        value[ty_band_own(id[i])] = ty_band_pack(u[i], a[i]);
        bits |= (uint64_t)by_skin[i] << id[i];
    }
    return bits;
}

// Nodes that the skin matters to, anew.
static void refill_block(const ty_band_job* job, int64_t i, const int block[3], const int tri[OWN],
                         ty_band_value* value)
{
    const ty_tet_band* b = job->b;
    double other[OWN][3];
    int id[OWN], n = 0;
    for (uint64_t todo = b->free.at[i]; todo; todo &= todo - 1) {
        int k = __builtin_ctzll(todo);
        set_node(job->m, tri[k], ty_band_place(&b->fine, block, k), &value[ty_band_own(k)]);
    }
    for (uint64_t todo = b->by_skin.at[i]; todo; todo &= todo - 1) {
        id[n] = __builtin_ctzll(todo);
        ty_store3(other[n], ty_band_place(&b->fine, block, id[n]));
        ++n;
    }
    if (n) (void)set_others(job, n, id, other, value);
}

// tri: of the own nodes.
static void fill_block(const ty_band_job* job, int64_t at, const int block[3], const int tri[OWN],
                       ty_band_value* value)
{
    const ty_band_table* t = &job->b->fine;
    double x[OWN][3], other[OWN][3], solid[OWN];
    int id[OWN], n = 0;
    uint64_t* free = &job->b->free.at[at];
    *free = 0;
    for (int i = 0; i < OWN; ++i) ty_store3(x[i], ty_band_place(t, block, i));
    if (job->walled) {
        ty_sampler walls = ty_world_solid(job->world);
        ty_sample(&walls, OWN, (const double(*)[3])x, solid);
    }
    for (int i = 0; i < OWN; ++i) {
        ty_band_value* out = &value[ty_band_own(i)];
        bool buried = job->walled && !(solid[i] >= 0.0);
        if (tri[i] < 0 || (job->moves && !(solid[i] >= job->clear))) *out = (ty_band_value){NAN};
        else if (!buried && ty_tet_on_free_surface(job->m, tri[i])) {
            set_node(job->m, tri[i], ty_load3(x[i]), out);
            *free |= UINT64_C(1) << i;
        } else {
            memcpy(other[n], x[i], sizeof other[0]);
            id[n++] = i;
        }
    }
    job->b->by_skin.at[at] = n ? set_others(job, n, id, other, value) : 0;
}

static void fill_range(void* ctx, ty_range r)
{
    const ty_band_job* job = ctx;
    ty_band_table* t = &job->b->fine;
    int block[BLOCKS][3];
    ty_lattice_set_points(&t->blocks, (int)r.begin, (int)r.end, block);
    for (int64_t i = r.begin; i < r.end; ++i) {
        int* tri = job->b->nearest.at + OWN * i;
        ty_band_value* value = t->node.at + TY_BAND_NODES * i;
        if (job->knows_nearest) {
            refill_block(job, i, block[i - r.begin], tri, value);
            continue;
        }
        find_nearest(job, block[i - r.begin], tri);
        fill_block(job, i, block[i - r.begin], tri, value);
    }
}

void ty_band_fill_fine(ty_band_job* job)
{
    ty_parallel_for(job->b->fine.blocks.n, BLOCKS, fill_range, job);
}
