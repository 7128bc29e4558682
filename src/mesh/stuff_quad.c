// SPDX-License-Identifier: Apache-2.0
// Lattice tets with all four vertices on the surface. Their angles have no bound, so each is judged
// by itself ([Gong2008] section 5.1): it stays when its volume is positive, its angles are within
// the bound, and phi < 0 at its centre. They are what keeps thin sheets meshed.
//
// Departs: they need no chain of such tets to one that has a vertex inside. Two layers of vertices can lie so
// in a sheet of 1.2 cells that all of them move to its sides; then there is none over many cells, and the sheet
// had no tets though those on its surface filled it (up to 172 vertices of a dam break's hung outside its mesh).
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "mesh/stuff_stage.h"

bool ty_stuff_lattice_tet(const ty_stuffing* k, ty_lattice_cursor* c, int octant, const int x[3],
                          int shape, int vert[4], int half[4][3])
{
    int axis = shape >> 2, face = 2 * axis + 1;
    int n = ty_lattice_id(&k->t->level[0].octants, c, x[0] + (axis == 0), x[1] + (axis == 1),
                          x[2] + (axis == 2));
    if (n < 0) return false;
    const ty_tet_shape* s = &ty_tet_shapes()[shape];
    for (int i = 0; i < 4; ++i)
        for (int d = 0; d < 3; ++d) half[i][d] = 2 * x[d] + 1 + s->at[i][d];
    for (int i = 0; i < 2; ++i)
        vert[i] = ty_octree_corner(k->t, octant, ty_face_corner(face, (shape & 3) + i));
    vert[2] = k->n_corners + octant;
    vert[3] = k->n_corners + n;
    return true;
}

static int compare_addresses(const void* a, const void* b)
{
    int64_t p = *(const int64_t*)a, q = *(const int64_t*)b;
    return (p > q) - (p < q);
}

static int64_t find_quad(const ty_stuff* s, int64_t address)
{
    if (!s->quad.n) return -1;
    const int64_t* at = bsearch(&address, s->quad.at, (size_t)s->quad.n, sizeof address,
                                compare_addresses);
    return at ? at - s->quad.at : -1;
}

bool ty_stuff_keeps_quad(const ty_stuffing* k, int64_t address)
{
    int64_t q = find_quad(k->s, address);
    return q >= 0 && k->s->keep_quad.at[q];
}

static bool well_shaped(const double v[4][3])
{
    ty_vec3 o = ty_load3(v[0]);
    double angle[6],
        six = ty_dot(ty_load3(v[1]) - o, ty_cross(ty_load3(v[2]) - o, ty_load3(v[3]) - o));
    if (!(six > 0.0)) return false;
    ty_dihedral_angles(v, angle);
    for (int e = 0; e < 6; ++e)
        if (!(angle[e] >= TY_MIN_DIHEDRAL && angle[e] <= TY_MAX_DIHEDRAL)) return false;
    return true;
}

static void judge_block(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    double centre[TY_SAMPLE_BATCH][3], f[TY_SAMPLE_BATCH];
    for (int64_t q = r.begin; q < r.end; ++q) {
        int octant = (int)(k->s->quad.at[q] / 12), x[1][3], vert[4], half[4][3];
        double v[4][3];
        ty_lattice_set_points(&k->t->level[0].octants, octant, octant + 1, x);
        ty_stuff_lattice_tet(k, &c, octant, x[0], (int)(k->s->quad.at[q] % 12), vert, half);
        ty_vec3 sum = ty_vec(0, 0, 0);
        for (int i = 0; i < 4; ++i) {
            ty_vec3 p = ty_warped_point(k, vert[i], half[i]);
            ty_store3(v[i], p);
            sum += p;
        }
        ty_store3(centre[q - r.begin], 0.25 * sum);
        k->s->keep_quad.at[q] = well_shaped(v);
    }
    ty_sample(k->phi, (int)(r.end - r.begin), centre, f);
    for (int64_t q = r.begin; q < r.end; ++q)
        if (!(f[q - r.begin] < 0.0)) k->s->keep_quad.at[q] = 0;
}

static void use_vertices(ty_stuffing* k)
{
    ty_lattice_cursor c = ty_lattice_cursor_start();
    for (int64_t q = 0; q < k->s->quad.n; ++q) {
        int octant = (int)(k->s->quad.at[q] / 12), x[1][3], vert[4], half[4][3];
        if (!k->s->keep_quad.at[q]) continue;
        ty_lattice_set_points(&k->t->level[0].octants, octant, octant + 1, x);
        ty_stuff_lattice_tet(k, &c, octant, x[0], (int)(k->s->quad.at[q] % 12), vert, half);
        for (int i = 0; i < 4; ++i) k->s->used.at[vert[i]] = 1;
    }
}

ty_status ty_stuff_filter_quads(ty_stuffing* k)
{
    int64_t n = k->s->quad.n;
    if (!ty_array_resize(&k->s->keep_quad, n)) return ty_no_memory("tetrahedra on the surface");
    ty_parallel_for(n, TY_SAMPLE_BATCH, judge_block, k);
    use_vertices(k);
    return ty_ok();
}
