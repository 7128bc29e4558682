// SPDX-License-Identifier: Apache-2.0
// The particle level set's state and stages [Enright2002] [Enright2005]: a level set
// (track/levelset) and particles on both sides of its surface that remember where the transport
// went wrong.
//
//   way.c        how far the flow goes in a step                                    sort.c     by cell
//   move.c       carries the particles along it, keeps them out of solids
//   correct.c    what escaped particles do to the level set; radii                  seed.c     new ones, surplus ones
//   particle.c   the kind: create, the order of a step, edits, archive              spray.c    those that are alone
//
// A particle's cell is the cube between eight of the grid's centres (the level set's values), named
// by the lowest:
//
//      o-------o      o   value of phi, grid index of the lower left one = cell
//      |  .    |      .   particle: place 0..1 in the cell, along each axis
//      o-------o
#ifndef TY_TRACK_PARTICLE_PARTICLE_H
#define TY_TRACK_PARTICLE_PARTICLE_H

#include "track/levelset/levelset.h"

// One array per quantity, all of the same length. Floats: a place within a cell is right to 6e-8
// cells.
typedef struct ty_swarm {
    TY_ARRAY(float) place[3];    // 0 to 1 in the cell
    TY_ARRAY(float)
    radius;    // cells; positive in air, negative in liquid, 0: to be removed by the next sort
    TY_ARRAY(int) cell;
} ty_swarm;

// A bit of liquid too far from the level set to be part of it.
typedef struct ty_drop {
    double x[3], v[3], radius;    // SI units
} ty_drop;

// Open, private to this folder.
typedef struct ty_particle {
    ty_levelset* ls;
    ty_swarm now;
    TY_ARRAY(ty_drop) drop;
    int64_t step;    // part of what random places are made from
    // What follows from the above, and scratch.
    ty_swarm spare;
    TY_ARRAY(float) value;      // per particle: phi there, in cells
    int64_t measured;           // the first so many values are of phi and places as they are
    TY_ARRAY(float) before;     // the same before an edit or an offset
    TY_ARRAY(int) order;        // of the sort: particles by plane
    TY_ARRAY(int) count;        // of the sort: per block and plane; of seeding: per plane
    TY_ARRAY(int64_t) plane;    // first particle of each plane of cells, and the end
    TY_ARRAY(int) first;        // per cell: its first particle, as far as its plane has any
    TY_ARRAY(int64_t) begin;    // of seeding: first new particle of each plane
    TY_ARRAY(float) way;        // per axis and face: cells along the axis in this step
    TY_ARRAY(uint8_t) asked;    // the same order: some particle is near
} ty_particle;

static inline int64_t ty_swarm_count(const ty_swarm* s) { return s->radius.n; }
ty_status ty_swarm_resize(ty_swarm* s, int64_t n);
// The end of the run of particles from the i-th on that are in its cell, at most `end`.
static inline int64_t ty_swarm_run(const ty_swarm* s, int64_t i, int64_t end)
{
    const int* cell = s->cell.at;
    int64_t k = i + 1;
    while (k < end && cell[k] == cell[i]) ++k;
    return k;
}
void ty_swarm_free(ty_swarm* s);

// Radii in cells, [Enright2002] section 3.1.
static inline float ty_particle_radius(float distance)
{
    float most = distance > 0.5f ? 0.5f : distance;
    return most < 0.1f ? 0.1f : most;
}

// A particle is escaped when it is on the other side of the surface by more than a share of its
// radius. Departs: [Enright2002] takes the whole radius. Half of it sees smaller errors: symmetric
// difference of the slotted sphere (100 cells, CFL 1) 1.2 instead of 1.5 %, of the deformed one (50
// cells, CFL 1) 1.4 instead of 2.4 %.
static inline bool ty_particle_escaped(float radius, float value)
{
    static const float share = 0.5f;
    float beyond = value + share * radius;    // of the surface, against its side
    return copysignf(1.0f, radius) * beyond < 0.0f;
}

// Where a particle is, and the other way round: false where x is not in the grid.
void ty_particle_place(const ty_particle* p, int64_t i, double x[3]);
bool ty_particle_put(ty_particle* p, int64_t i, const double x[3]);
// Whether x is beyond an open side.
bool ty_particle_left(const ty_levelset* ls, const double x[3]);

// Faces of one axis in memory: one more than cells along every axis.
typedef struct ty_way_lattice {
    int64_t dy, dz, size;
} ty_way_lattice;

static inline ty_way_lattice ty_particle_lattice(const ty_grid* g)
{
    int64_t dy = g->n[0] + 1, dz = dy * (g->n[1] + 1);
    return (ty_way_lattice){dy, dz, dz * (g->n[2] + 1)};
}
// The lowest of the faces that a particle of the cell asks.
static inline int64_t ty_particle_face(const ty_grid* g, int64_t cell)
{
    int row = (int)cell / g->n[0], plane = row / g->n[1];
    return cell + row + (int64_t)plane * (g->n[0] + 1);
}

// The flow's ways through dt around all particles.
ty_status ty_particle_ways(ty_particle* p, const ty_flow* flow, double dt);
// Carries all particles by them; those beyond open sides, and in solids for good, get radius 0.
// Breaks the order.
void ty_particle_move(ty_particle* p, double dt);
// Orders by cell, drops those of radius 0. Particles of a cell keep their order.
ty_status ty_particle_sort(ty_particle* p);
// phi at particles of a range, in cells.
void ty_particle_measure(const ty_particle* p, int64_t begin, int64_t end, float* value);

// Measures, and lists the escaped particles: those of a plane are the first count[plane] of its
// part of `order`. Needs the order. The next two use the list.
ty_status ty_particle_find(ty_particle* p);
// Those without any level set around leave the swarm; liquid ones become drops, with the flow's
// velocity.
ty_status ty_particle_loosen(ty_particle* p, const ty_flow* flow);
// They pull the level set's values towards their spheres.
void ty_particle_correct(ty_particle* p);
// Drops fall through dt; those that meet liquid are particles again. Breaks the order.
ty_status ty_particle_fall(ty_particle* p, const ty_world* world, double dt);
// Radii from the distance of particles of a range that are not escaped; those far from the surface
// are dropped. From p->value.
void ty_particle_radii(ty_particle* p, int64_t begin, int64_t end);
// Measures; drops those on the wrong side, too, and sets the radii of the others.
void ty_particle_renew(ty_particle* p);
// Fills up cells near the surface that have too few particles, thins out those that have too many.
// Needs the order and p->value; breaks it.
ty_status ty_particle_seed(ty_particle* p);

#endif
