// SPDX-License-Identifier: Apache-2.0
// The tracker interface: where is the liquid? A kind is one row of the table in kinds.c.
#ifndef TY_TRACK_TRACK_H
#define TY_TRACK_TRACK_H

#include "core/archive.h"
#include "world/exchange.h"
#include "world/world.h"

typedef enum ty_transport {
    TY_TRANSPORT_SEMI_LAGRANGIAN,
    TY_TRANSPORT_MACCORMACK,
    TY_TRANSPORT_WENO5
} ty_transport;

// Everything the scene's `surface:` says. Value; strings are borrowed.
typedef struct ty_track_def {
    const char* kind;
    double cell;               // of the surface, metres
    ty_transport transport;    // levelset
    double redistance;         // levelset: cells of motion between redistancings
    bool thicken_surface, thicken_mesh;
    double thicken_gamma;           // detection, cells of the surface
    double thicken_redistribute;    // cells of the surface
    double
        thicken_reject;    // a middle nearer to the surface than this share of half its ray is none
    double thicken_beta;    // cells of the surface: thickness of a big particle
    double thicken_grow_big, thicken_grow_small;    // cells of the surface, the most in a step
    double thicken_radius;                          // cells of the surface: reach of a particle
    double thicken_offset, thicken_kernel;          // cells of the solver
    int particles_per_cell;                         // particle
    bool one_sided;                                 // particle: in the liquid only
} ty_track_def;

ty_track_def ty_track_default(void);

// No offset moves a surface farther than this in a step (cells): a jump would make waves.
#define TY_MAX_OFFSET 0.05

// A change of the liquid by a source or a drain.
typedef struct ty_edit {
    bool add;             // unite with the region, else cut it out
    ty_sampler region;    // distance, negative inside
} ty_edit;

typedef struct ty_tracker_kind {
    const char* name;
    bool needs_domain;
    // The liquid of ty_world_liquid at time 0. On failure *self is NULL and nothing is left.
    ty_status (*create)(void** self, const ty_track_def*, const ty_world*);
    // Carries the surface along the flow from t to t + dt. `world` is at t + dt.
    ty_status (*advance)(void* self, const ty_flow*, const ty_world*, double t, double dt);
    // Sources and drains; volume_changed[i] in m3, signed, for each edit, or NULL: measuring costs
    // as much as the change.
    ty_status (*edit)(void* self, int n, const ty_edit*, double* volume_changed);
    // Moves the surface of each piece outward by metres_per_piece[piece], sparing thin places.
    ty_status (*offset)(void* self, const double* metres_per_piece);
    // The same together with the next advance; until then the liquid stays as it is, and is not
    // edited. NULL: it would make no difference.
    ty_status (*offset_later)(void* self, const double* metres_per_piece);
    ty_liquid (*liquid)(const void* self);
    // Gives back memory that only changes of the surface need; what `liquid` says stays. NULL: all
    // of it is needed.
    void (*rest)(void* self);
    // The tracker's particles as points with "radius" (metres) and "side" (-1 liquid, 1 air). NULL:
    // it has none.
    ty_status (*particles)(const void* self, ty_tri_mesh* out);
    // Saves or loads the whole state, by the archive's direction. After create with the same def.
    ty_status (*archive)(void* self, ty_archive*);
    void (*destroy)(void* self);
} ty_tracker_kind;

// The kind of that name, NULL when there is none. All kinds: ty_tracker_kinds()[i] until NULL.
const ty_tracker_kind* ty_tracker_find(const char* name);
const ty_tracker_kind* const* ty_tracker_kinds(void);

#endif
