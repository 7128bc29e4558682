// SPDX-License-Identifier: Apache-2.0
// The one lattice octree: finest leaves all along { phi = 0 }, twice as wide from layer to layer
// away from it.
//
//   level l       octants of width cell * 2^l; octant x of level l covers [x, x + 1] * 2^l in lattice units
//   lattice       point p is at origin + cell * p; every octant corner is a lattice point
//   octants[l]    all octants of the level, split ones included; numbered from first[l] in Morton order
//   split[l]      those with children (always eight, in octants[l - 1]); the others are the leaves
//   corners       every corner of every leaf
//
//      .-------.---.---.     balanced: leaves that share a face or an edge differ by one level at most;
//      |       |   |   |     leaves that share a corner only may differ by more
//      |       |---+---|
//      |       |   |   |     There is no root: the coarsest octants are a set like every other, and it grows
//      '-------'---'---'     where the surface goes.
//
// Open type; zero-initialise, ty_octree_build, ty_octree_free. Building again reuses the memory.
// Free to read from any thread.
#ifndef TY_SPACE_OCTREE_H
#define TY_SPACE_OCTREE_H

#include "core/vec.h"
#include "geometry/sampler.h"
#include "space/lattice_set.h"

enum { TY_OCTREE_MAX_LEVELS = 12 };

// What the finest leaves must cover beside every octant in which the signs of phi differ.
typedef enum ty_octree_rule {
    TY_OCTREE_CONTOUR,    // octants whose corners differ in sign
    // [Labelle2007]'s continuation, strengthened: all octants around a corner, and all face
    // neighbours of a centre, that ends an edge of the body-centred lattice on which the sign
    // changes or is zero.
    TY_OCTREE_STUFF
} ty_octree_rule;

typedef struct ty_octree_def {
    double cell;         // finest width, metres; must be given
    double origin[3];    // of the lattice
    ty_box
        box;    // where to look for the surface first; it is followed out of the box where it leaves it
    int levels;    // 1 + coarsest level
    ty_octree_rule rule;
    bool uniform;    // every octant that is not outside is finest
    // Bound on |grad phi|; 1 for distances. Above 1.25 it holds where the values are as steep.
    double lipschitz;
    // phi where that is less than a cell, elsewhere its sign with more than a cell; NULL: phi
    const ty_sampler* roughly;
} ty_octree_def;
ty_octree_def ty_octree_default(void);    // 6 levels, graded, for stuffing, lipschitz 1

typedef struct ty_octree_level {
    ty_lattice_set octants, split;
    ty_lattice_set before;    // scratch: `octants` of the round before
    TY_ARRAY(double)
    value;    // phi at the centres; when the rule is for contouring, not a number at finest ones, and infinite
        // where only the sign is known
    TY_ARRAY(double) value_before;
    int first;    // id of the level's first octant
} ty_octree_level;

typedef struct ty_octree {
    double origin[3], cell;
    int n_levels, n_octants;
    ty_octree_level level[TY_OCTREE_MAX_LEVELS];
    ty_lattice_set roots;    // coarsest octants that liquid reaching the tree's border asks for
    int lo[3], hi[3];        // finest octants the tree may grow to
    ty_lattice_set corners, corners_before;
    TY_ARRAY(double) corner_value;    // phi at the corners
    TY_ARRAY(double) corner_value_before;
    TY_ARRAY(int) corner;        // ids of the leaves' corners: ask ty_octree_corners_of
    TY_ARRAY(uint8_t) leaves;    // per eight octants: bit i where the i-th is a leaf
    int n_eights;                // octants that come in eights: all but the coarsest
    TY_ARRAY(uint8_t) inside;    // per octant: bit v where phi < 0 at corner v; 0 for split ones
    TY_ARRAY(uint8_t) active_corner;    // scratch
    TY_ARRAY(uint8_t) active_centre;
    int64_t n_samples;    // points at which phi was asked by the last build
    int n_rounds;
} ty_octree;

// Builds the tree of { phi = 0 }. Not a number counts as outside, `cell` away. Where phi is no
// distance a feature may be missed that lies between the octants' centres; the result is balanced
// and obeys the rule all the same. The liquid is followed out of the box, three times its size at
// most. Fails with TY_BAD_INPUT when it goes farther, for a cell that is not positive or a box more
// than 2^20 cells wide or away; TY_NO_MEMORY. An octree without surface is no error.
ty_status ty_octree_build(ty_octree* t, const ty_sampler* phi, const ty_octree_def* def);
// Fills `corner`, `leaves` and `inside` from the sets and `corner_value`, as a build does.
ty_status ty_octree_find_corners(ty_octree* t);
void ty_octree_free(ty_octree* t);
// Gives back scratch memory.
void ty_octree_trim(ty_octree* t);
// Moves scratch memory to a tree that is going to be built; its own must not be asked for any more.
void ty_octree_lend(ty_octree* from, ty_octree* to);
// Gives back all memory but that of the sets: leaves are found as before, corners and values are
// gone.
void ty_octree_tidy(ty_octree* t);

// One cursor per level and one for the corners. Value; one per thread.
typedef struct ty_octree_cursor {
    ty_lattice_cursor level[TY_OCTREE_MAX_LEVELS], corner;
} ty_octree_cursor;
ty_octree_cursor ty_octree_cursor_start(void);

typedef struct ty_octant {
    int id, level, x[3];    // id -1: there is none
} ty_octant;

// The leaf that covers the finest octant x; id -1 when x is outside the tree.
ty_octant ty_octree_leaf(const ty_octree* t, ty_octree_cursor* c, const int x[3]);
// Where a point is, in finest cells, and the finest octant that holds it (upper faces belong to the
// next octant).
static inline void ty_octree_cells_of(const ty_octree* t, const double point[3], double u[3],
                                      int x[3])
{
    const double far = (double)(1 << 22);
    for (int axis = 0; axis < 3; ++axis) {
        u[axis] = (point[axis] - t->origin[axis]) / t->cell;
        x[axis] = (int)floor(ty_clamp(u[axis], -far, far));
    }
}
static inline void ty_octree_lattice_of(const ty_octree* t, const double point[3], int x[3])
{
    double u[3];
    ty_octree_cells_of(t, point, u, x);
}
// The leaves that hold n points; -1 outside the tree. Fast when neighbouring points follow each
// other.
void ty_octree_locate(const ty_octree* t, int64_t n, const double (*point)[3], int* octant);

static inline bool ty_octree_is_split(const ty_octree* t, ty_lattice_cursor* c, int level,
                                      const int x[3])
{
    return level > 0 && ty_lattice_has(&t->level[level].split, c, x[0], x[1], x[2]);
}
// Eight siblings share the ids of their 27 corners, x fastest; a coarsest octant has its own eight.
static const uint8_t TY_OCTREE_PLACE[8] = {0, 1, 3, 4, 9, 10, 12, 13};    // of corner or child i

static inline int64_t ty_octree_corner_at(const ty_octree* t, int64_t octant, int v)
{
    int64_t eights = octant < t->n_eights ? octant : t->n_eights;
    return octant < t->n_eights
               ? 27 * (eights >> 3) + TY_OCTREE_PLACE[octant & 7] + TY_OCTREE_PLACE[v]
               : 27 * (eights >> 3) + 8 * (octant - eights) + v;
}
// The id of a leaf's corner, bit `axis` of v: at the upper end along it. Undefined for split octants.
static inline int ty_octree_corner(const ty_octree* t, int64_t octant, int v)
{
    return t->corner.at[ty_octree_corner_at(t, octant, v)];
}
static inline void ty_octree_corners_of(const ty_octree* t, int64_t octant, int corner[8])
{
    const int* at = t->corner.at + ty_octree_corner_at(t, octant, 0);
    if (octant < t->n_eights)
        for (int v = 0; v < 8; ++v) corner[v] = at[TY_OCTREE_PLACE[v]];
    else
        for (int v = 0; v < 8; ++v) corner[v] = at[v];
}
static inline bool ty_octree_is_leaf(const ty_octree* t, int64_t octant)
{
    return t->leaves.at[octant >> 3] >> (octant & 7) & 1;
}
static inline ty_vec3 ty_octree_point(const ty_octree* t, ty_vec3 lattice)
{
    return ty_load3(t->origin) + t->cell * lattice;
}

// Balanced, complete (eight children or none), leaves cover what their level's octants cover, all
// corners present, no coarse leaf whose vertices differ in sign, finest leaves as the rule wants
// them.
ty_status ty_octree_validate(const ty_octree* t, ty_octree_rule rule);

// [Gong2008] section 6.2: values at corners, `width` each, spread from the corners where known[i]
// is not 0 to all others, nearest first, along the axes with weights 1 / distance^2. `known` is set
// to 1 where a value was given.
ty_status ty_octree_extrapolate(const ty_octree* t, int width, double* values, uint8_t* known);
// Trilinear interpolation of corner values in the leaf that holds each point; 0 outside the tree.
void ty_octree_interpolate(const ty_octree* t, int width, const double* values, int64_t n,
                           const double (*point)[3], double* out);

#endif
