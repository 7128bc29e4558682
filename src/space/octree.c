// SPDX-License-Identifier: Apache-2.0
#include "space/octree.h"

#include "core/parallel.h"

enum { LOCATE_BLOCK = 1024 };

ty_octree_def ty_octree_default(void)
{
    return (ty_octree_def){
        .box = ty_box_empty(), .levels = 6, .rule = TY_OCTREE_STUFF, .lipschitz = 1.0};
}

void ty_octree_trim(ty_octree* t)
{
    for (int l = 0; l < TY_OCTREE_MAX_LEVELS; ++l) {
        ty_lattice_set_free(&t->level[l].before);
        ty_array_free(&t->level[l].value_before);
    }
    ty_lattice_set_free(&t->roots);
    ty_lattice_set_free(&t->corners_before);
    ty_array_free(&t->corner_value_before);
    ty_array_free(&t->active_corner);
    ty_array_free(&t->active_centre);
}

void ty_octree_lend(ty_octree* from, ty_octree* to)
{
    ty_octree_trim(to);
    for (int l = 0; l < TY_OCTREE_MAX_LEVELS; ++l) {
        TY_SWAP(from->level[l].before, to->level[l].before);
        TY_SWAP(from->level[l].value_before, to->level[l].value_before);
    }
    TY_SWAP(from->roots, to->roots);
    TY_SWAP(from->corners_before, to->corners_before);
    TY_SWAP(from->corner_value_before, to->corner_value_before);
    TY_SWAP(from->active_corner, to->active_corner);
    TY_SWAP(from->active_centre, to->active_centre);
}

void ty_octree_tidy(ty_octree* t)
{
    ty_octree_trim(t);
    for (int l = 0; l < TY_OCTREE_MAX_LEVELS; ++l) ty_array_free(&t->level[l].value);
    ty_array_free(&t->corner_value);
    ty_array_free(&t->corner);
    ty_array_free(&t->leaves);
    ty_array_free(&t->inside);
}

void ty_octree_free(ty_octree* t)
{
    ty_octree_tidy(t);
    for (int l = 0; l < TY_OCTREE_MAX_LEVELS; ++l) {
        ty_lattice_set_free(&t->level[l].octants);
        ty_lattice_set_free(&t->level[l].split);
    }
    ty_lattice_set_free(&t->corners);
    t->n_levels = t->n_octants = 0;
}

ty_octree_cursor ty_octree_cursor_start(void)
{
    ty_octree_cursor c = {.corner = ty_lattice_cursor_start()};
    for (int l = 0; l < TY_OCTREE_MAX_LEVELS; ++l) c.level[l] = c.corner;
    return c;
}

// A lattice place is in an octant of every level from its leaf upwards: the first one met is the
// leaf.
ty_octant ty_octree_leaf(const ty_octree* t, ty_octree_cursor* c, const int x[3])
{
    for (int l = 0; l < t->n_levels; ++l) {
        ty_octant o = {.level = l, .x = {x[0] >> l, x[1] >> l, x[2] >> l}};
        o.id = ty_lattice_id(&t->level[l].octants, &c->level[l], o.x[0], o.x[1], o.x[2]);
        if (o.id < 0) continue;
        o.id += t->level[l].first;
        return o;
    }
    return (ty_octant){.id = -1};
}

typedef struct locate_args {
    const ty_octree* t;
    const double (*point)[3];
    int* octant;
} locate_args;

static void locate_block(void* ctx, ty_range r)
{
    const locate_args* k = ctx;
    ty_octree_cursor c = ty_octree_cursor_start();
    for (int64_t i = r.begin; i < r.end; ++i) {
        int x[3];
        ty_octree_lattice_of(k->t, k->point[i], x);
        k->octant[i] = ty_octree_leaf(k->t, &c, x).id;
    }
}

void ty_octree_locate(const ty_octree* t, int64_t n, const double (*point)[3], int* octant)
{
    locate_args k = {t, point, octant};
    ty_parallel_for(n, LOCATE_BLOCK, locate_block, &k);
}
