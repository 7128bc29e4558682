// SPDX-License-Identifier: Apache-2.0
// [Chentanez2007] section 3.3.2: the octant that holds the point, then a walk over faces. Where the
// walk leaves the mesh (it is not convex) or the octant has no tets, all tets of the octants around
// are tried: a vertex is warped by less than half a cell, so the tet that holds a point belongs to
// one of them.
#include "core/parallel.h"
#include "mesh/tet_mesh.h"

enum { POINT_BLOCK = 256, MAX_WALK = 64 };

// A point on a face is in both tets: rounding must not push it out of both. Of the cell's cube.
static const double ON_FACE = 1e-14;

// The vertex whose opposite face the point is farthest behind, -1 when it is in the tet.
static int worst_face(const ty_tet_mesh* m, int t, ty_vec3 x)
{
    const int* id = m->tet[t];
    ty_vec3 p[4];
    for (int i = 0; i < 4; ++i) p[i] = ty_load3(m->vert[id[i]]) - x;
    ty_vec3 c01 = ty_cross(p[0], p[1]), c23 = ty_cross(p[2], p[3]);
    // Six times the volumes with one vertex replaced by the point; their sum is the tet's.
    double volume[4] = {ty_dot(p[1], c23), -ty_dot(p[0], c23), ty_dot(p[3], c01),
                        -ty_dot(p[2], c01)};
    double least = -ON_FACE * m->tree.cell * m->tree.cell * m->tree.cell;
    int worst = -1;
    for (int i = 0; i < 4; ++i)
        if (volume[i] < least) {
            least = volume[i];
            worst = i;
        }
    return worst;
}

static int walk(const ty_tet_mesh* m, int t, ty_vec3 x)
{
    for (int step = 0; step < MAX_WALK && t >= 0; ++step) {
        int i = worst_face(m, t, x);
        if (i < 0) return t;
        const int* sides = m->face_tet[m->tet_face[t][i]];
        t = sides[0] == t ? sides[1] : sides[0];
    }
    return -1;
}

static int search_octant(const ty_tet_mesh* m, int octant, ty_vec3 x)
{
    for (int t = m->first_tet[octant]; t < m->first_tet[octant + 1]; ++t)
        if (worst_face(m, t, x) < 0) return t;
    return -1;
}

static int search_around(const ty_tet_mesh* m, ty_octree_cursor* c, const ty_octant* o, ty_vec3 x)
{
    for (int d = 0; d < 27; ++d) {
        int at[3], step[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1}, w = 1 << o->level;
        for (int axis = 0; axis < 3; ++axis)
            at[axis] = o->x[axis] * w + (step[axis] > 0 ? w : step[axis]);
        int octant = ty_octree_leaf(&m->tree, c, at).id,
            t = octant < 0 ? -1 : search_octant(m, octant, x);
        if (t >= 0) return t;
    }
    return -1;
}

// A tet to start from. In an octant of the plain lattice it is the one that holds the point: the
// face towards which the point is off the centre, then the edge of that face. Elsewhere the same
// place among the octant's tets.
static int start_tet(const ty_tet_mesh* m, ty_octree_cursor* c, const ty_octant* o,
                     const double point[3])
{
    double r[3], width = m->tree.cell * (1 << o->level);
    int axis = 0, owner = o->id;
    for (int d = 0; d < 3; ++d) {
        r[d] = (point[d] - m->tree.origin[d]) / width - o->x[d] - 0.5;
        if (fabs(r[d]) > fabs(r[axis])) axis = d;
    }
    if (r[axis] < 0.0) {    // tets of a lower face belong to the octant behind it
        int at[3] = {o->x[0] - (axis == 0), o->x[1] - (axis == 1), o->x[2] - (axis == 2)};
        const ty_octree_level* level = &m->tree.level[o->level];
        int id = ty_lattice_id(&level->octants, &c->level[o->level], at[0], at[1], at[2]);
        if (id >= 0 && m->first_tet[level->first + id] < m->first_tet[level->first + id + 1])
            owner = level->first + id;
    }
    double u = r[(axis + 1) % 3], v = r[(axis + 2) % 3];
    int edge = fabs(u) > fabs(v) ? (u > 0.0 ? 1 : 3) : (v > 0.0 ? 2 : 0);
    int n = m->first_tet[owner + 1] - m->first_tet[owner];
    return n ? m->first_tet[owner] + (4 * axis + edge) * n / 12 : -1;
}

typedef struct locate_args {
    const ty_tet_mesh* m;
    const double (*point)[3];
    int* tet;
} locate_args;

static int locate_one(const ty_tet_mesh* m, ty_octree_cursor* c, const double point[3], int hint)
{
    int x[3], t;
    ty_vec3 p = ty_load3(point);
    if (hint >= 0 && worst_face(m, hint, p) < 0) return hint;
    ty_octree_lattice_of(&m->tree, point, x);
    ty_octant o = ty_octree_leaf(&m->tree, c, x);
    if (o.id < 0) return -1;
    t = walk(m, start_tet(m, c, &o, point), p);
    return t >= 0 ? t : search_around(m, c, &o, p);
}

static void locate_block(void* ctx, ty_range r)
{
    const locate_args* k = ctx;
    ty_octree_cursor c = ty_octree_cursor_start();
    int hint = -1;
    for (int64_t i = r.begin; i < r.end; ++i)
        hint = k->tet[i] = locate_one(k->m, &c, k->point[i], hint);
}

void ty_tet_mesh_locate(const ty_tet_mesh* m, int64_t n, const double (*point)[3], int* tet)
{
    locate_args k = {m, point, tet};
    ty_parallel_for(n, POINT_BLOCK, locate_block, &k);
}
