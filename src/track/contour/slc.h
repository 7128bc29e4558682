// SPDX-License-Identifier: Apache-2.0
// Semi-Lagrangian contouring [Bargteil2006] [Chentanez2007]: the state of tracker `contour` and its
// stages.
//
//   slc.c        the kind: create, the order of a step, archive     distance.c   exact near the triangles, interpolated far
//   remake.c     triangles of a function, attributes, pieces        walls.c      the liquid continued into solids
//   bend.c       the surface between its vertices is curved         cells.c      triangles of a cell
//   change.c     sources, drains, the ledger's offsets              thicken.c    thin places kept from tearing; thicken_mesh.c for the mesh
//   thin.c       liquid thinner than a cell                         behind.c     liquid does not come through walls
//   deep.c       where no free surface comes in a step              crease.c     the liquid in solids beside concave edges
//   region.c     regions that touch solids                          loss.c       what contouring loses in a step
//   nudge.c      small offsets without a remake                     sharp.c      edges of the liquid
//   keep.c       what a step loses is given back where it was      blocks.c     what a surface encloses of blocks of cells
#ifndef TY_TRACK_CONTOUR_SLC_H
#define TY_TRACK_CONTOUR_SLC_H

#include "mesh/contour.h"
#include "space/hash_grid.h"
#include "space/mesh_distance.h"
#include "track/contour/blocks.h"
#include "track/cut.h"
#include "track/levelset/levelset.h"
#include "track/track.h"

enum {
    TY_SLC_LEVELS = 6,    // of the octree: leaves up to 32 cells wide
    TY_SLC_EXACT_LEVEL =
        1,    // distances are exact in leaves up to this level, two cells around the surface
    TY_SLC_OVERLAP = 3,    // cells that the liquid runs on into solids
    TY_SLC_DEPTH = 4,      // cells below a wall, or outside the domain, where it ends
    // Cells from solids beyond which they are not felt: images (walls.c) reach half as far.
    TY_SLC_CLEAR = 2 * TY_SLC_DEPTH
};

// A surface and its distance. The triangles are all in finest leaves, so the sign is constant in
// every other one.
typedef struct ty_slc_surface {
    ty_tri_mesh mesh;
    ty_octree tree;
    ty_mesh_distance exact;
    TY_ARRAY(double)
    inset;    // per vertex: how far inside the mesh the liquid begins, metres; empty: nowhere (thin.c)
    TY_ARRAY(float)
    bend;    // 4 per vertex: unit normal, and how smooth the surface is there (1; at edges 0), or
             // - 1 - which of `sharp` it is
    TY_ARRAY(float)
    sharp;    // 4 per vertex beside a sharp edge: unit normal and curvature (per cell) of its side
    TY_ARRAY(int) sharp_vert;    // which vertex
    TY_ARRAY(int) first_tri;     // per eight finest leaves, and one more: their triangles
    TY_ARRAY(double)
    far;    // distance at the corners of the leaves above TY_SLC_EXACT_LEVEL; others undefined
    TY_ARRAY(double) point;    // scratch
    TY_ARRAY(int) id;
} ty_slc_surface;

// Particles near the medial axis of thin places [Chentanez2007] section 3.4.
typedef struct ty_slc_particles {
    TY_ARRAY(double) x;          // 3 each, metres
    TY_ARRAY(double) radius;     // metres
    TY_ARRAY(double) from;       // the rest is scratch: where they were before the step,
    TY_ARRAY(double) way;        // metres that each went,
    TY_ARRAY(double) grow;       // and may grow,
    TY_ARRAY(int) vertex;        // whose ray it was,
    TY_ARRAY(int) near;          // big ones near each small one,
    TY_ARRAY(int) small;         // the small ones,
    TY_ARRAY(double) small_x;    // and where they were
    ty_hash_grid grid, small_grid;
} ty_slc_particles;

// keep.c: scratch of a step, and where obstacles are.
typedef struct ty_slc_keep {
    ty_slc_blocks blocks;       // what they should hold and do not, between begin and end
    bool on;                    // between the two
    int* slot;                  // per block: 1 + its place in `near`; 0: none
    TY_ARRAY(int) near;         // blocks around vertices,
    TY_ARRAY(double) area;      // the surface that is theirs, blocks squared,
    TY_ARRAY(double) offset;    // and how far it is to go, blocks
    TY_ARRAY(ty_slc_amount) lost;
    TY_ARRAY(double) to;            // where the surface's vertices are; 3 each
    TY_ARRAY(double) first, was;    // and were at first, and before a move
    TY_ARRAY(double) amount;        // per vertex: how far it moves, metres
    TY_ARRAY(double) share;         // per vertex: of an offset
    TY_ARRAY(uint8_t) hidden;       // per vertex: buried, none of it is open
} ty_slc_keep;

// Open, private to this folder.
typedef struct ty_slc {
    ty_track_def def;
    const ty_world* world;
    double origin[3];       // of the lattice
    double lo[3], hi[3];    // the domain; infinite without one
    bool has_domain, has_solid;
    ty_slc_surface now, next;
    ty_contour contour;
    TY_ARRAY(int) piece;    // per vertex of now.mesh
    int n_pieces;
    TY_ARRAY(int) parent;    // scratch of the pieces, per corner
    TY_ARRAY(double)
    thickness;    // per vertex: inward to the other side, INFINITY when farther than asked
    TY_ARRAY(double)
    ray;    // the same of the surface as it is, up to ray_reach metres; empty: not known
    double ray_reach;
    TY_ARRAY(double) amount;    // offset per vertex
    TY_ARRAY(double) later;     // the same, of the next advance; empty: 0
    TY_ARRAY(double)
    fat;    // per vertex of now.mesh: `inset` of what it becomes in the remake to come; empty: 0
    TY_ARRAY(double) grow;    // likewise: what it may grow
    TY_ARRAY(double) carried_grow;
    double
        gained;    // m3 by which contouring made more than it lost; what it loses next does not count
    ty_tri_mesh shown;               // the liquid's surface where `inset` is not empty
    ty_slc_particles thin;           // of the last step
    ty_slc_particles mesh_thin;      // thin for the solver's mesh; the radius is d
    TY_ARRAY(double) mesh_weight;    // how many places each of them stands for
    double mesh_cell;                // of that mesh, metres; 0: none asks
    ty_lattice_set free_at,
        free_near;          // scratch of deep.c: blocks at the free surface, and around
    ty_levelset* ground;    // samples the region that was opened last; NULL: none
    ty_cutter* cutter;
    ty_slc_keep keep;
} ty_slc;

// n signed distances to the surface; triangle[i] (unless NULL) is the closest one where that was
// asked exactly, else -1. An empty surface is TY_FAR away. Re-entrant.
void ty_slc_distance(const ty_slc_surface* s, int n, const double (*x)[3], double* out,
                     int* triangle, double (*closest)[3]);
// The same for a remake: right in sign, in its zeros, and near them.
void ty_slc_rough_distance(const ty_slc_surface* s, int n, const double (*x)[3], double* out,
                           int* triangle, double (*closest)[3]);
// How near, metres.
double ty_slc_rough_band(const ty_slc* s);
// The same where the distance is more than `band`, which is at least 1.2 cells.
void ty_slc_distance_within(const ty_slc_surface* s, double band, int n, const double (*x)[3],
                            double* out);
// Either of s->now, less `fat` and `later`.
void ty_slc_fat_distance(const ty_slc* s, bool rough, int n, const double (*x)[3], double* out);
ty_sampler ty_slc_distance_sampler(const ty_slc_surface* s);
// Fills `bend` from mesh and `sharp`; before ty_slc_surface_finish. turns (unless NULL; zeros) is set to 1 for
// vertices of triangles whose normals differ by more than a resolved surface's.
ty_status ty_slc_bend(ty_slc_surface* s, uint8_t* turns);
// How far the curved surface lies outside of point p of a triangle, metres.
double ty_slc_bulge(const ty_slc_surface* s, int triangle, const double p[3]);
// sharp.c: the normal of the side that vertex v is on, and its curvature, when it is beside an edge, else NULL.
static inline const float* ty_slc_side(const ty_slc_surface* s, int64_t v)
{
    float which = s->bend.at[4 * v + 3];
    return which < 0.0f ? s->sharp.at + 4 * ((int64_t)-which - 1) : NULL;
}
// The distance of x to the curved surface at a triangle's edge of the liquid; `smooth` where there is
// none. flat: to the triangle itself.
double ty_slc_sharp(const ty_slc_surface* s, int triangle, const double x[3], double flat,
                    double smooth);
// `bend` knows `sharp`.
void ty_slc_apply_sharp(ty_slc_surface* s);
// The corner values of the remake between the corners of leaf o, at u cells; false where they differ in sign:
// elsewhere it holds no triangle, and the sign is right.
bool ty_slc_rough(const ty_slc_surface* s, const ty_octant* o, const double u[3], double* value);
// The same in any leaf; false within 1.2 cells of the surface too.
bool ty_slc_told(const ty_slc_surface* s, const ty_octant* o, const double u[3], double* value);
// A place on the surface. Value.
typedef struct ty_slc_foot {
    ty_closest at;
    int triangle;
} ty_slc_foot;
// cells.c: fills `first_tri`. The place closest to x, which lies in leaf o, at u cells, when a triangle of the
// cells around it, or of the place found before, is near; false: ask the hierarchy.
typedef struct ty_slc_walk {
    ty_lattice_cursor block;
    int leaf;    // of the hierarchy, where the last place was; -1: none yet
} ty_slc_walk;
static inline ty_slc_walk ty_slc_walk_start(void)
{
    return (ty_slc_walk){ty_lattice_cursor_start(), -1};
}
ty_status ty_slc_index_cells(ty_slc_surface* s);
bool ty_slc_foot_near(const ty_slc_surface* s, ty_slc_walk* walk, const ty_octant* o,
                      const double x[3], const double u[3], ty_slc_foot* foot);
// Makes mesh and tree askable: hierarchy, pseudonormals, far values.
ty_status ty_slc_surface_finish(ty_slc_surface* s);
ty_status ty_slc_surface_archive(ty_slc_surface* s, ty_archive* ar);
void ty_slc_surface_free(ty_slc_surface* s);
// `to`, which cannot be asked yet, takes over the memory that makes `from` askable: most of it, and
// not needed twice. `from` is empty.
void ty_slc_surface_lend(ty_slc_surface* from, ty_slc_surface* to);

// What a remake does. Value.
typedef struct ty_slc_remake_def {
    ty_sampler phi;
    ty_box box;    // where to look first
    double lipschitz;
    const ty_flow* flow;    // that brought the surface here, for attributes; NULL: it did not move
    double dt;
    bool keep_old;    // `next` is the old surface then, and knows its distance
} ty_slc_remake_def;
// `bend` and `sharp` of s->next, from its mesh and, near edges, from s->now, which can still be asked.
ty_status ty_slc_sharpen(ty_slc* s, const ty_slc_remake_def* def);
// The triangles of { phi = 0 } become the surface, with pieces. On failure there may be none.
ty_status ty_slc_remake(ty_slc* s, const ty_slc_remake_def* def);
ty_box ty_slc_bounds(const ty_slc* s, double margin);

// behind.c: feet of up to TY_SAMPLE_BATCH points that lie behind a wall come to its near face.
void ty_slc_stop_at_walls(const ty_slc* s, int n, const double (*x)[3], double (*from)[3]);

// A function of the open space, continued into solids: exact for linear ones. Value; borrows.
// Re-entrant sampler.
typedef struct ty_slc_walled {
    const ty_slc* slc;
    ty_sampler inner, solid;
    ty_sampler rough;    // for `inner` where only sign and zeros count: in the open
    bool knows_deep;     // ty_slc_find_deep was asked
    bool apart;          // liquid is nowhere near a solid or a side of the domain
} ty_slc_walled;
// crease.c: the value at x in a solid, continued from the open around its way out. False where that
// does not tell it.
bool ty_slc_crease(const ty_slc_walled* w, ty_vec3 x, double* out);
ty_slc_walled ty_slc_wall(const ty_slc* s, const ty_sampler* inner);
ty_sampler ty_slc_walled_sampler(const ty_slc_walled* w);
// deep.c: finds where no free surface can come within TY_SLC_DEPTH cells in a step that moves nothing
// farther than `reach` metres. Solids stand still.
ty_status ty_slc_find_deep(ty_slc* s, double reach);
// Of up to TY_SAMPLE_BATCH points: whether they are there, and in the liquid. Re-entrant.
void ty_slc_is_deep(const ty_slc* s, int n, const double (*x)[3], bool* deep);
// Of up to TY_SAMPLE_BATCH points in the open: whether none comes near them and what is near stays where
// it is; the distance then. Re-entrant.
void ty_slc_still(const ty_slc* s, int n, const double (*x)[3], bool* still, double* value);
// Of up to TY_SAMPLE_BATCH of the surface's points: whether they are so deep in solids that none of their
// triangles comes out. Half of a dam break's surface is the end of the liquid in walls. Re-entrant.
void ty_slc_find_buried(const ty_slc* s, int n, const double (*x)[3], bool* hidden);
// Whether a vertex of the mesh is within two cells of a solid or of a side of the domain.
ty_status ty_slc_touches(const ty_slc* s, const ty_tri_mesh* mesh, bool* touches);

// walls.c: how far x is outside the domain; negative inside.
double ty_slc_beyond(const ty_slc* s, const double x[3]);

// A region of liquid (or of a drain) beside solids: where its surface lies on them it is none.
// ground_region is what the sampler borrows, until another is opened.
typedef struct ty_slc_region {
    ty_sampler region;
    ty_levelset_field field;
    double reach;    // cells from a wall in which `field` counts
    const ty_slc* slc;
    ty_sampler solid;
} ty_slc_region;
ty_status ty_slc_region_open(ty_slc* s, const ty_sampler* region, ty_slc_region* out);
ty_sampler ty_slc_region_sampler(const ty_slc_region* r);
void ty_slc_region_close(ty_slc* s);    // gives the ground back

ty_status ty_slc_edit(ty_slc* s, int n, const ty_edit* edits, double* volume_changed);
ty_status ty_slc_offset(ty_slc* s, const double* metres_per_piece);
ty_status ty_slc_offset_later(ty_slc* s, const double* metres_per_piece);
// nudge.c: an offset of `amount` in place, where none is larger than `most` metres and may_nudge says so:
// the surface is as a remake left it in this step.
bool ty_slc_may_nudge(const ty_slc* s, double most);
ty_status ty_slc_nudge(ty_slc* s);
// The vertices alone, of a surface that a remake has just made: s->now or s->next.
void ty_slc_nudge_along(const ty_slc* s, ty_slc_surface* surface, const double* amount);
// Where there is an inset, that takes an offset.
void ty_slc_offset_fat(ty_slc* s, const double* amount);

// thin.c: a value per vertex at a point of a triangle; `shown` anew; what others see of the
// surface.
double ty_slc_value_at(const ty_tri_mesh* m, const double* value, int triangle,
                       const double point[3]);
// What edited liquid `away` metres from the mesh gets of an inset there.
double ty_slc_inset_share(const ty_slc* s, double away);
ty_status ty_slc_draw(ty_slc* s);
const ty_tri_mesh* ty_slc_shown(const ty_slc* s);
void ty_slc_inset_tidy(ty_slc_surface* s);
// Thin places grow as `carried_grow` says, all told by at most `lost` m3, less what was gained.
ty_status ty_slc_grow(ty_slc* s, double lost);
ty_sampler ty_slc_fattening(const ty_slc* s);
ty_sampler ty_slc_fattened(const ty_slc* s);    // the distance less that

// loss.c: the volume that the flow is going to leave, before a step's remake and after
// ty_slc_thicken; and what of it is not there after the remake, m3. 0 where nothing is thin, and
// with obstacles: only of the domain's sides is it known where they are.
typedef struct ty_slc_expected {
    double all, in_open;    // m3; in_open: where the domain's sides are far enough
} ty_slc_expected;
ty_status ty_slc_expect(ty_slc* s, const ty_flow* flow, double dt, ty_slc_expected* out);
double ty_slc_lost(const ty_slc* s, const ty_slc_expected* expected);

// keep.c: counts what the flow is going to leave where, before a remake; moves the vertices of `next` to
// where they hold it, when it has its normals and insets.
ty_status ty_slc_keep_begin(ty_slc* s, const ty_flow* flow, double dt);
ty_status ty_slc_keep_end(ty_slc* s);
void ty_slc_keep_rest(ty_slc_keep* k);
void ty_slc_keep_free(ty_slc_keep* k);

// Cells: places thinner than that get a share of an offset.
static const double TY_SLC_THICK = 4.0;
// Fills `thickness`: the liquid's from each vertex straight inward to the other side; INFINITY
// beyond `reach` metres. Rays are cast once for each surface, as far as anybody asks.
ty_status ty_slc_thickness(ty_slc* s, double reach);
// Half way through it.
ty_vec3 ty_slc_middle(const ty_slc* s, int64_t vertex);
// The particles of the step's end, and `fat` and `grow` for its remake. `world` is at t + dt.
ty_status ty_slc_thicken(ty_slc* s, const ty_flow* flow, double dt);

// Section 3.4.2: the particles of the present surface for a mesh whose finest cell is `mesh_cell`.
// Clears them when it is 0.
ty_status ty_slc_thicken_mesh(ty_slc* s);
ty_status ty_slc_mesh_particles_finish(ty_slc* s);
// phi - offset, for the mesh generator. Borrows `s`.
ty_sampler ty_slc_filling(const ty_slc* s);
// The same beyond about a cell of the solver's mesh only by its sign. eval NULL where there is no such mesh.
ty_sampler ty_slc_roughly_filling(const ty_slc* s);
ty_sampler ty_slc_thickening(const ty_slc* s);

#endif
