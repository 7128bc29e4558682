// SPDX-License-Identifier: Apache-2.0
// The velocities of the free surface's vertices carry through it what the pressure's fluxes do, or
// the tracked surface gains and loses volume. At a vertex with too little surface around it, or
// where the flux asks for more than the tets around have, they do not; what is missing goes to the
// vertices around, farther out where these cannot take it either.
#include "core/parallel.h"
#include "solve/tet/motion.h"

// Rings of vertices until somebody takes what is missing; what is left then is left out.
enum { ROUNDS = 6 };

// Most that a vertex gets for others, in what the values of the tets around it differ by. Where air
// closes along a wall little surface would take much, at many times the speed of all around.
static const double MOST = 1.0;

typedef struct balance {
    const ty_tri_mesh* skin;
    const uint8_t* kind;    // of the skin's vertices
    ty_tet_missing* missing;
    double* room;     // per vertex: area that takes part, its own and that around
    double* given;    // per vertex: velocity that it gets
    double* next;
    int n_tris;    // of the mesh
} balance;

static bool counts(const balance* b, const int tri[3])
{
    for (int k = 0; k < 3; ++k)
        if ((b->kind[tri[k]] & (TY_VERT_AIR | TY_VERT_LIFTED)) != TY_VERT_AIR) return false;
    return true;
}

static void find_room(const balance* b, int n)
{
    for (int v = 0; v < n; ++v) b->room[v] = b->missing[v].takes;
    for (int t = 0; t < b->n_tris; ++t) {
        const int* tri = b->skin->tri[t];
        if (!counts(b, tri)) continue;
        for (int k = 0; k < 3; ++k)
            b->room[tri[k]] += b->missing[tri[(k + 1) % 3]].takes +
                               b->missing[tri[(k + 2) % 3]].takes;
    }
}

// From vertex v to vertex w of one of its triangles: its share by area, or by number where nobody
// takes any.
static void hand_over(const balance* b, int v, int w, const int* n_around)
{
    const ty_tet_missing* m = &b->missing[v];
    if (!(b->room[v] > 0.0)) b->next[w] += m->flux / n_around[v];
    else if (b->missing[w].takes > 0.0) b->given[w] += m->flux / b->room[v];
}

// What is more than a vertex takes goes on to those around it.
static void pass_on(const balance* b, int n)
{
    for (int v = 0; v < n; ++v) {
        if (!(b->missing[v].takes > 0.0)) continue;
        double most = MOST * b->missing[v].range[0], kept = ty_clamp(b->given[v], -most, most);
        b->next[v] += (b->given[v] - kept) * b->missing[v].takes;
        b->given[v] = kept;
    }
}

static void one_round(const balance* b, int n, const int* n_around)
{
    for (int v = 0; v < n; ++v) {
        b->next[v] = 0.0;
        if (b->missing[v].takes > 0.0) hand_over(b, v, v, n_around);
    }
    for (int t = 0; t < b->n_tris; ++t) {
        const int* tri = b->skin->tri[t];
        if (!counts(b, tri)) continue;
        for (int k = 0; k < 3; ++k)
            for (int j = 1; j < 3; ++j) hand_over(b, tri[k], tri[(k + j) % 3], n_around);
    }
    pass_on(b, n);
    for (int v = 0; v < n; ++v) b->missing[v].flux = b->next[v];
}

static void add_given(const balance* b, ty_tet_motion* m, int n)
{
    ty_vec3* value = m->u.vert.at + m->state.mesh.n_inner;
    for (int v = 0; v < n; ++v)
        if (b->missing[v].takes > 0.0) value[v] += b->given[v] * b->missing[v].normal;
}

ty_status ty_tet_balance(ty_tet_motion* m, ty_tet_missing* missing)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    int n = mesh->n_verts - mesh->n_inner;
    double* scratch = ty_alloc_zero((size_t)n, 3 * sizeof *scratch);
    int* n_around = ty_alloc_zero((size_t)n, sizeof *n_around);
    balance b = {.skin = &m->skin,
                 .kind = m->state.vert_kind.at + mesh->n_inner,
                 .missing = missing,
                 .room = scratch,
                 .n_tris = m->skin.n_tris - m->n_loose_tris};
    bool ok = scratch && n_around;
    if (ok) {
        b.given = scratch + n, b.next = scratch + 2 * (int64_t)n;
        for (int t = 0; t < b.n_tris; ++t)
            for (int k = 0; k < 3 && counts(&b, m->skin.tri[t]); ++k)
                n_around[m->skin.tri[t][k]] += 2;
        find_room(&b, n);
        for (int round = 0; round < ROUNDS; ++round) one_round(&b, n, n_around);
        add_given(&b, m, n);
    }
    ty_free(scratch);
    ty_free(n_around);
    return ok ? ty_ok() : ty_no_memory("velocities at the surface");
}
