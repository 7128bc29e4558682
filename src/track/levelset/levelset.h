// SPDX-License-Identifier: Apache-2.0
// The level set tracker's state and stages. Values sit at the centres of cells that cover the
// domain and TY_LEVELSET_MARGIN cells more on every side.
//
//   transport.c   carries the values along the flow            solid.c     continues them into solids and outside
//   change.c      sources, drains, the ledger's offsets        fit.c       linear functions, for solid.c
//   amount.c      how much liquid is in a cell                 box.c       and between eight centres
//   weigh.c       what a step should have kept, by fluxes      leaks.c     nothing goes through walls
//   swept.c       the same by the carried surface              keep.c      gives back what it lost, where it was
//   owed.c        carries along what could not be given back        lend.c   and shows it meanwhile
//   surface.c     triangles and bodies of liquid
//   levelset.c    the kind: create, the order of a step, archive
#ifndef TY_TRACK_LEVELSET_LEVELSET_H
#define TY_TRACK_LEVELSET_LEVELSET_H

#include "field/grid.h"
#include "field/label.h"
#include "field/redistance.h"
#include "mesh/contour.h"
#include "track/cut.h"
#include "track/track.h"

enum { TY_LEVELSET_MARGIN = 3 };

// A cell that no liquid can be in, and the open cell whose liquid it continues (-1: there is none).
typedef struct ty_ghost {
    int cell, source;
    int pattern;     // its fit; -1: to be found anew
    bool as_last;    // that of the ghost before it in the list is the same function
    double apart;    // metres from the open cell
} ty_ghost;

// fit.h: open cells around a wall point, four by four, and what each gives to the function c . (1,
// dx, dy, dz). Cells that fill up the last four have no weight.
enum { TY_PATTERN_FOURS = 16 };
typedef struct ty_fit_four {
    ty_vec3 share[4], d[3], weight;
    int offset[4];    // cells after the closed one
} ty_fit_four;
typedef struct ty_fit_pattern {
    ty_vec3 from_wall;    // place of the closed cell, in cells
    double weights;
    int n_fours;
    ty_fit_four four[TY_PATTERN_FOURS];
} ty_fit_pattern;

// A cell near the surface: cells^3 of liquid that should be and are not there, that are there, cells^2
// of surface in it.
typedef struct ty_kept {
    int cell;
    double lost, now, area;
    double should;           // swept.c: what should be there, with what is owed
    double more, let_out;    // in this step: liquid that came in, and that sources let out there
} ty_kept;

// A box between eight centres of cells: cells^3 of liquid that belong to the cell around each
// corner; bit k: the surface goes through that of corner k.
typedef struct ty_box_parts {
    float liquid[8];
    uint8_t at_surface;
} ty_box_parts;

// Open, private to this folder and to trackers that build on it.
typedef struct ty_levelset {
    ty_track_def def;
    const ty_world* world;
    ty_grid grid;
    double lo[3], hi[3];    // the domain
    bool closed_side[TY_N_SIDES];
    double *phi, *next, *spare;    // metres, negative inside; the others are scratch of a stage
    double band;                   // values are distances up to here and constant beyond
    double moved;                  // metres since the last redistancing
    bool has_obstacles;
    bool weighed;               // the last carry counted what every cell should hold
    bool by_surface;            // and did so by the carried surface
    bool counts_all;            // and all of it, because no obstacle cuts it
    bool fills_last;            // sources are full at the end of their last step, too
    double missed;              // swept.c: cells^3 that the step should have brought besides
    double* owed;               // owed.c: cells^3 of liquid that phi does not show, per cell
    double* filled;             // distance of sources that stand still, as edits see it; or NULL
    uint64_t filled_by;         // which sources, as a number; 0: none
    double* solid;              // distance of the obstacles at cell centres; NULL without any
    unsigned char* closed;      // per cell: its centre is inside a solid or outside the domain
    unsigned char* doubtful;    // scratch of ty_levelset_sample
    TY_ARRAY(ty_ghost) ghost;
    TY_ARRAY(ty_fit_pattern) pattern;
    TY_ARRAY(int) active;         // cells that the transport works on
    TY_ARRAY(double) velocity;    // WENO: 3 per active cell
    TY_ARRAY(ty_kept) kept;       // scratch of keep.c, with the corners of the cells
    TY_ARRAY(int) box;       // scratch of amount.c: lowest cells of boxes around the cells of kept
    TY_ARRAY(int) box_at;    // per cell: place in that list
    TY_ARRAY(ty_box_parts) parts;
    TY_ARRAY(uint8_t) listed;    // per cell: it is in `kept`
    TY_ARRAY(int) corner;
    TY_ARRAY(int) slot;
    TY_ARRAY(double) foot;
    ty_redistance redistance;
    ty_contour contour;
    ty_label label;
    ty_tri_mesh surface;
    TY_ARRAY(int) piece;    // per vertex of the surface
    int n_pieces;
    TY_ARRAY(double) later;    // per piece: offset that waits for the next step; empty: none
    ty_cutter* cutter;         // measures what edits change
    ty_tri_mesh measured;
} ty_levelset;

// What the kind does with it, for trackers that build on a level set. On failure *ls is NULL and
// nothing is left.
ty_status ty_levelset_create(ty_levelset** ls, const ty_track_def* def, const ty_world* world);
void ty_levelset_destroy(ty_levelset* ls);    // NULL is fine
// One that only samples and continues regions, on a part of the cells that cover the domain; phi is
// undefined.
ty_status ty_levelset_create_ground(ty_levelset** ls, const ty_track_def* def,
                                    const ty_world* world, const ty_grid* part);
ty_liquid ty_levelset_liquid(const ty_levelset* ls);
ty_status ty_levelset_archive(ty_levelset* ls, ty_archive* ar);
// A step is carry, settle, keep (below) when `weighed`, contour. Carry takes phi to the step's end,
// with solids where they are then, and weighs where it can; before, it makes the band wide enough for
// the step. *went, metres: what settle wants, which redistances after enough motion.
ty_status ty_levelset_carry(ty_levelset* ls, const ty_flow* flow, const ty_world* world, double dt,
                            double* went);
ty_status ty_levelset_settle(ty_levelset* ls, double went);

// The active cells: those within `band` of the surface.
ty_status ty_levelset_activate(ty_levelset* ls);
// phi after dt. *displacement: the farthest that anything near the surface went, metres.
ty_status ty_levelset_transport(ty_levelset* ls, const ty_flow* flow, double dt,
                                double* displacement);

// How far x lies beyond the open sides, 0 inside. Everything out there is air.
double ty_levelset_beyond_open(const ty_levelset* ls, const double x[3]);

// Puts a cell at the end of a list of n that has room for one more, unless it has a place there,
// place[cell] >= 0. Whether it has cannot be foreseen, so that no branch asks.
static inline void ty_levelset_list(int64_t cell, int* place, int* list, int64_t* n)
{
    int at = place[cell];
    list[*n] = (int)cell;
    place[cell] = at < 0 ? (int)*n : at;
    *n += at < 0;
}

// amount.c: cells^3 of liquid in a cell of the list `kept`, by phi or an array like it. *area: how
// that grows with -phi / cell. List_boxes before, after a change of the list; measure_boxes with the
// same values, only of boxes where they differ from those before (NULL: all).
ty_status ty_levelset_list_boxes(ty_levelset* ls);
void ty_levelset_measure_boxes(ty_levelset* ls, const double* values, const double* before);
double ty_levelset_liquid_in(const ty_levelset* ls, int cell, const double* values, double* area);
// The share of a box that is liquid, from phi at its centre; `across`: the root of the squared
// differences of phi across it. Exact for planes along the box, and in the mean for all others.
double ty_share_below(double phi, double across);
// box.c: what of the box between eight centres is liquid, `low` the first of them; of the part
// between `from` and `to`, cells after that, when a side of the domain cuts it.
double ty_levelset_whole_box(const ty_levelset* ls, const double* values, int64_t low);
double ty_levelset_cut_box(const ty_levelset* ls, const double* values, int64_t low,
                           const double from[3], const double to[3]);
// Whether a source is full at the end of this step.
bool ty_levelset_fills(const ty_levelset* ls, const ty_source* source);
// Lowers phi at n points, at most TY_SAMPLE_BATCH, to the distance of sources that stand still.
void ty_levelset_fill_sources(const ty_levelset* ls, int n, const double (*x)[3], double* phi);
// Whether a source is within so many cells of a cell's centre; negative: farther inside it.
bool ty_levelset_near_source(const ty_levelset* ls, int cell, double cells);
void ty_levelset_low_corner(const ty_levelset* ls, int cell, double low[3]);

// Weigh, after a carry, finds how much liquid should be in the cells at the surface (phi before the
// step is in `next`); keep, after settle, moves the surface where it is not. Not for WENO5, which
// has no paths. Find_lost, between the two, takes away what is there; again after a change of phi,
// which was `before`.
bool ty_levelset_can_weigh(const ty_levelset* ls, const ty_flow* flow);    // fluxes are known
// The flow tells its velocities at the level set's own cells.
bool ty_levelset_on_lattice(const ty_levelset* ls, const ty_flow* flow, double dt);
ty_status ty_levelset_weigh(ty_levelset* ls, const ty_flow* flow, double dt);
void ty_levelset_find_lost(ty_levelset* ls, const double* before);
ty_status ty_levelset_find_lost_swept(ty_levelset* ls);    // the first time when by_surface
ty_status ty_levelset_find_lost_again(ty_levelset* ls);    // afterwards, by the surface itself
ty_status ty_levelset_keep(ty_levelset* ls);
// Moves the surface by what is owed; the end of keep.
ty_status ty_levelset_lend(ty_levelset* ls);
// What keep could not give back, to the step's end; before a weigh.
ty_status ty_levelset_carry_owed(ty_levelset* ls, const ty_flow* flow, double dt);

// Takes away liquid that went through an obstacle: after a transport, before values are continued;
// with flow NULL after a change of values in place. `before`: phi then.
void ty_levelset_stop_leaks(ty_levelset* ls, const ty_flow* flow, double dt, const double* before);

// Which cells are closed, after the obstacles moved (or at the start).
ty_status ty_levelset_solids(ty_levelset* ls, const ty_world* world);
// The same from ls->solid as it is.
ty_status ty_levelset_ghosts(ty_levelset* ls);
// Whether no obstacle is between two points near each other, as the world is now.
bool ty_levelset_in_sight(const ty_levelset* ls, ty_vec3 from, ty_vec3 to);
// Whether a cell lies beside an obstacle so thin that moving values on one side moves those of the other.
bool ty_levelset_at_shared_wall(const ty_levelset* ls, int64_t cell);
// Moves x into the domain and out of the obstacles. False when it is still in one.
bool ty_levelset_push_out(const ty_levelset* ls, double x[3]);
// Continues phi into closed cells, exactly for linear functions. Where open cells do not tell the
// slope, the value that a closed cell has (carried along, if it is not NAN) stays, as near as it
// may be to the open cells.
void ty_levelset_continue(ty_levelset* ls, double* phi);
// Samples a region at all cells. Where its surface lies on or in a solid it is no surface of the
// liquid: there the values of open cells are continued from those that the solid has no part in,
// and closed cells have NAN. Uses doubtful, active, velocity.
ty_status ty_levelset_sample(ty_levelset* ls, const ty_sampler* region, double* out);

// Per cell: it lies behind a side of the domain, and ty_levelset_continue makes its value, whatever
// it was. NULL where that is not so everywhere: obstacles hide values, open sides let liquid out.
const unsigned char* ty_levelset_behind(const ty_levelset* ls);

// Distances again, wide enough for steps that go as far as `reach`.
ty_status ty_levelset_redistance(ty_levelset* ls, double reach);
// The same before a step: what that loses is owed.
ty_status ty_levelset_redistance_owing(ty_levelset* ls, double reach);

ty_status ty_levelset_edit(ty_levelset* ls, int n, const ty_edit* edits, double* volume_changed);
// Unites phi or an array like it with sources that stand still, as an edit would. Find_filled before,
// after the world moved.
ty_status ty_levelset_find_filled(ty_levelset* ls);
void ty_levelset_fill(ty_levelset* ls, double* values);
ty_status ty_levelset_offset(ty_levelset* ls, const double* metres_per_piece);
// The same in two calls; the second, before the next carry, changes phi only and not the triangles.
ty_status ty_levelset_offset_later(ty_levelset* ls, const double* metres_per_piece);
ty_status ty_levelset_offset_now(ty_levelset* ls);

// Remakes the triangles and their pieces.
ty_status ty_levelset_contour(ty_levelset* ls);
// The triangles only, of phi or an array like it.
ty_status ty_levelset_triangles(ty_levelset* ls, const double* values);
// phi as a function of space; `values` is phi or an array like it.
typedef struct ty_levelset_field {
    const ty_grid* grid;
    const double* values;
} ty_levelset_field;
void ty_levelset_eval(const void* field, int n, const double (*x)[3], double* out);

#endif
