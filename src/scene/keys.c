// SPDX-License-Identifier: Apache-2.0
// The table of keys, first half: the scene as a whole, time, solver, surface, output. The world's
// are in keys_world.c. A fallback that starts with @ is worked out by fallback_text in read.c.
#include "scene/keys.h"

#include <math.h>
#include <string.h>

#include "core/config.h"
#include "scene/checks.h"

#define DRAFT(field) TY_AT(ty_scene_draft, field)
#define DEF(field)   TY_AT(ty_scene_draft, def.field)
#define SAME         1    // a group stored in the same struct
#define POSITIVE     .min = 0.0, .max = INFINITY, .min_open = true
#define NOT_NEGATIVE .min = 0.0, .max = INFINITY
#define SHARE        .min = 0.0, .max = 1.0

#if TETHYS_HAVE_VDB
#define NEEDS_VDB NULL
#else
#define NEEDS_VDB "this program was built without OpenVDB"
#endif

static const ty_choice fluids[] = {
    {"liquid", 0, "water and the like, with a free surface", NULL},
    {"smoke", 1, "gas that fills the domain", "no smoke solver is built yet"},
    {0}};
static const ty_choice axes_up[] = {
    {"y", 1, "y points up", NULL}, {"z", 2, "z points up, as in Blender", NULL}, {0}};

static const ty_choice solver_kinds[] = {
    {"prescribed", 0, "the velocity is given by `velocity`; nothing is solved", NULL},
    {"grid", 0, "uniform staggered grid", NULL},
    {"tet", 0, "graded tetrahedra", NULL},
    {"octree", 0, "smoke on a view-dependent octree", NULL},
    {"voronoi", 0, "pressure samples matched to the surface", NULL},
    {0}};
static const ty_choice pressure_kinds[] = {
    {"face", 0, "one unknown per face", NULL},
    {"nodal", 0, "one unknown per vertex: cheap, for calm water", NULL},
    {"two-point", 0, "one unknown per tetrahedron, as in the paper", NULL},
    {0}};
static const ty_choice obstacle_kinds[] = {
    {"embed", 0, "obstacles cut through the tetrahedra", NULL},
    {"conform", 0, "tetrahedra follow obstacles, as in the paper", NULL},
    {0}};
static const ty_choice viscosity_forms[] = {
    {"diffusion", TY_VISCOSITY_DIFFUSION,
     "each component of the velocity is diffused: fast, for thin liquids", NULL},
    {"variational", TY_VISCOSITY_VARIATIONAL,
     "the whole stress and a free surface: honey that coils, drops that turn", NULL},
    {0}};
static const ty_choice advections[] = {
    {"semi-lagrangian", TY_ADVECT_SEMI_LAGRANGIAN, "smooth and robust", NULL},
    {"maccormack", TY_ADVECT_MACCORMACK, "second order, limited", NULL},
    {"cubic", TY_ADVECT_CUBIC, "third order, limited", NULL},
    {0}};
static const ty_choice methods[] = {
    {"best", 0, "what measured best", NULL},
    {"paper", 1,
     "the paper's own rules, for comparison; `tet`: two-point pressures, gravity as a force, conforming "
     "obstacles, its interpolation; `grid`: whole voxels, water up to half a cell off, linear advection",
     NULL},
    {0}};
static const ty_choice tracker_kinds[] = {{"levelset", 0, "level set on a grid", NULL},
                                          {"particle", 0, "particle level set", NULL},
                                          {"contour", 0, "semi-Lagrangian contouring", NULL},
                                          {"mesh", 0, "explicit triangle mesh", NULL},
                                          {0}};
static const ty_choice transports[] = {
    {"semi-lagrangian", TY_TRANSPORT_SEMI_LAGRANGIAN, "smooth and robust", NULL},
    {"maccormack", TY_TRANSPORT_MACCORMACK, "second order, limited", NULL},
    {"weno5", TY_TRANSPORT_WENO5, "fifth order", NULL},
    {0}};
static const ty_choice topologies[] = {{"collide", 0, "collision-safe mesh changes", NULL},
                                       {"remesh", 0, "global grid", NULL},
                                       {"local", 0, "local marching cubes", NULL},
                                       {"hull", 0, "local convex hulls", NULL},
                                       {0}};
static const ty_choice surface_files[] = {
    {"none", 0, "not written", NULL}, {"ply", 1, "binary PLY", NULL}, {0}};
static const ty_choice volume_files[] = {
    {"none", 0, "not written", NULL}, {"vdb", 1, "OpenVDB", NEEDS_VDB}, {0}};
static const ty_choice tet_files[] = {
    {"none", 0, "not written", NULL}, {"vtu", 1, "ParaView's XML", NULL}, {0}};
static const ty_choice particle_files[] = {
    {"none", 0, "not written", NULL}, {"ply", 1, "binary PLY", NULL}, {0}};
const ty_choice ty_ease_choices[] = {{"smooth", 0, "eases in and out of every key frame", NULL},
                                     {"linear", 1, "straight lines between key frames", NULL},
                                     {0}};
const ty_choice ty_side_choices[] = {{"left", TY_LEFT, "least x", NULL},
                                     {"right", TY_RIGHT, "largest x", NULL},
                                     {"bottom", TY_BOTTOM, "least y (up: z: least z)", NULL},
                                     {"top", TY_TOP, "largest y (up: z: largest z)", NULL},
                                     {"back", TY_BACK, "least z (up: z: largest y)", NULL},
                                     {"front", TY_FRONT, "largest z (up: z: least y)", NULL},
                                     {0}};

static const ty_key domain_keys[] = {
    {"min", TY_KEY_VEC3, .at = DEF(world.min), .unit = "m", .fallback = "[0, 0, 0]",
     .sentence = "The corner with the least coordinates."},
    {"max", TY_KEY_VEC3, .at = DEF(world.max), .has_at = DRAFT(has_domain_max), .unit = "m",
     .fallback = "[1, 1, 1]", .fallback_says = "min + size",
     .sentence = "The opposite corner; or give size."},
    {"size", TY_KEY_VEC3, .at = DRAFT(domain_size), .has_at = DRAFT(has_domain_size), .unit = "m",
     POSITIVE, .fallback_says = "max - min", .input_only = true,
     .sentence = "Lengths of the sides, instead of max."},
    {"closed", TY_KEY_SIDES, .at = DEF(world.wall), .unit = "",
     .fallback = "[left, right, bottom, top, back, front]", .choices = ty_side_choices,
     .sentence = "The sides that are walls; liquid leaves through the others."},
    {0}};
static const ty_group domain_group = {
    .name = "domain",
    .sentence =
        "The box in which everything happens. Trackers and solvers that need no box do without.",
    .size = sizeof(ty_scene_draft),
    .keys = domain_keys,
    .check = ty_check_domain,
    .example = "domain: {min: [0, 0, 0], size: [2, 1, 1], closed: [left, right, bottom, front, "
               "back]}    # top is open"};

static const ty_key wall_keys[] = {
    {"velocity", TY_KEY_VARYING3, .at = TY_AT(ty_wall_def, velocity), .unit = "m/s",
     .fallback = "[0, 0, 0]", .sentence = "How the wall moves in its own plane."},
    {"slip", TY_KEY_NUMBER, .at = TY_AT(ty_wall_def, slip), .unit = "share", .fallback = "1", SHARE,
     .sentence = "1: the liquid slides along freely; 0: it sticks."},
    {0}};
const ty_group ty_wall_group = {
    .name = "wall",
    .sentence = "One side of the domain.",
    .size = sizeof(ty_wall_def),
    .keys = wall_keys,
};

#define WALL(side, which)                                                                          \
    {                                                                                              \
        side, TY_KEY_WALL, .at = DEF(world.wall), .unit = "", .value = which,                      \
                           .group = &ty_wall_group,                                                \
                           .sentence = "The " side " side: velocity and slip."                     \
    }
static const ty_key walls_keys[] = {WALL("left", TY_LEFT),
                                    WALL("right", TY_RIGHT),
                                    WALL("bottom", TY_BOTTOM),
                                    WALL("top", TY_TOP),
                                    WALL("back", TY_BACK),
                                    WALL("front", TY_FRONT),
                                    {0}};
static const ty_group walls_group = {
    .name = "walls",
    .sentence = "How the closed sides of the domain move and how slippery they are.",
    .size = sizeof(ty_scene_draft),
    .keys = walls_keys,
    .example =
        "walls: {top: {velocity: [1, 0, 0], slip: 0}}    # a lid that drags the liquid along"};

static const ty_key frames_keys[] = {
    {"count", TY_KEY_INTEGER, .at = DEF(frame_count), .unit = "frames", .fallback = "48", .min = 1,
     .max = 1e6, .no_result = true,
     .sentence = "How many frames; the first is the start, at time 0."},
    {"rate", TY_KEY_NUMBER, .at = DEF(frame_rate), .unit = "1/s", .fallback = "24", .min = 0.001,
     .max = 1e6, .sentence = "Frames per second."},
    {"start", TY_KEY_INTEGER, .at = DEF(frame_start), .unit = "", .fallback = "1", .min = 0,
     .max = 1e6, .sentence = "Number of the first frame in file names; shifts the numbers only."},
    {"cfl", TY_KEY_NUMBER, .at = DEF(solve.cfl), .unit = "cells", .fallback = "2", .min = 0.01,
     .max = 50,
     .sentence =
         "How many cells the liquid may move in one step; a frame is cut into as many "
         "steps as that takes. With solver `grid` steps in a closed tank may be 8 % longer where a frame takes one "
         "less so; and one liquid cell in a hundred may move 6 cells "
         "farther, at most four times as far, where it flies freely; one in a thousand 2 cells, at most "
         "twice as far, in any case; and one in ten thousand as far as those that fly."},
    {0}};
static const ty_group frames_group = {
    .name = "frames",
    .sentence = "How long, how finely in time.",
    .size = sizeof(ty_scene_draft),
    .keys = frames_keys,
    .example = "frames: {count: 96, rate: 24, start: 1001, cfl: 2}"};

static const ty_key solver_keys[] = {
    {"kind", TY_KEY_WORD, .at = DEF(solver_kind), .unit = "", .fallback = "@solver",
     .fallback_says = "grid; for smoke octree, or grid where that is missing",
     .choices = solver_kinds, .table = TY_SOLVER_TABLE,
     .sentence = "Which solver moves the liquid."},
    {"velocity", TY_KEY_VARYING3, .at = DEF(solve.velocity), .unit = "m/s", .fallback = "[0, 0, 0]",
     .only_solver = "prescribed", .sentence = "The velocity everywhere."},
    {"density", TY_KEY_NUMBER, .at = DEF(solve.density), .unit = "kg/m3", .fallback = "1000",
     POSITIVE, .only_solver = "grid tet voronoi", .sentence = "Mass of a cubic metre."},
    {"viscosity", TY_KEY_VARYING, .at = DEF(solve.viscosity), .unit = "Pa s", .fallback = "0",
     NOT_NEGATIVE, .only_solver = "grid tet",
     .sentence = "Dynamic viscosity: water 0.001, honey 10."},
    {"viscosity_form", TY_KEY_CHOICE, .at = DEF(solve.viscosity_form), .unit = "",
     .fallback = "diffusion", .choices = viscosity_forms, .only_solver = "grid tet",
     .sentence = "How viscosity acts."},
    {"surface_tension", TY_KEY_NUMBER, .at = DEF(solve.surface_tension), .unit = "N/m",
     .fallback = "0", NOT_NEGATIVE, .only_solver = "tet", .essential = true,
     .sentence = "Pull of the surface: water 0.072. Liquid meets walls at 90 degrees."},
    {"tolerance", TY_KEY_NUMBER, .at = DEF(solve.tolerance), .unit = "relative", .fallback = "1e-6",
     .min = 1e-14, .max = 0.1, .only_solver = "grid tet voronoi octree",
     .sentence =
         "The pressure is solved until its residual has fallen by this factor; with the pressure "
         "`face` of `tet` only until the fluxes of a face, seen from both sides, differ by less "
         "than this part of the largest flux."},
    {"advection", TY_KEY_CHOICE, .at = DEF(solve.advection), .unit = "", .fallback = "cubic",
     .choices = advections, .only_solver = "grid", .sentence = "How velocities are carried along."},
    {"theta", TY_KEY_NUMBER, .at = DEF(solve.theta), .unit = "share", .fallback = "0.55",
     .min = 0.5, .max = 1, .only_solver = "grid tet",
     .sentence = "Weight of the new pressure's acceleration, the rest is the old one's; 1 carries "
                 "none along."},
    {"reduced_pressure", TY_KEY_BOOL, .at = DEF(solve.reduced_pressure), .unit = "",
     .fallback = "true", .only_solver = "grid tet",
     .sentence = "Gravity enters as a boundary value of the pressure."},
    {"method", TY_KEY_FLAG, .at = DEF(solve.paper), .unit = "", .fallback = "best",
     .choices = methods, .only_solver = "grid tet",
     .sentence = "Our rules, or those of the paper the solver comes from."},
    {"pressure", TY_KEY_WORD, .at = DEF(pressure_kind), .unit = "", .fallback = "face",
     .choices = pressure_kinds, .only_solver = "tet",
     .sentence = "Where the pressure unknowns sit."},
    {"obstacles", TY_KEY_WORD, .at = DEF(obstacle_kind), .unit = "", .fallback = "embed",
     .choices = obstacle_kinds, .only_solver = "tet",
     .sentence = "How tetrahedra and obstacles meet."},
    {"snap", TY_KEY_NUMBER, .at = DEF(solve.snap), .unit = "leaves", .fallback = "0.125", .min = 0,
     .max = 0.5, .only_solver = "tet",
     .sentence = "obstacles: conform: how far a vertex is moved onto an obstacle."},
    {"no_slip", TY_KEY_BOOL, .at = DEF(solve.no_slip), .unit = "", .fallback = "false",
     .only_solver = "tet", .sentence = "obstacles: conform: the liquid sticks to obstacles."},
    {"outside_share", TY_KEY_NUMBER, .at = DEF(solve.outside_share), .unit = "share",
     .fallback = "0", SHARE, .only_solver = "tet",
     .sentence = "method: paper: Gong's share of the pressure outside."},
    {"traced_interpolant", TY_KEY_BOOL, .at = DEF(solve.traced_interpolant), .unit = "",
     .fallback = "false", .only_solver = "tet",
     .sentence =
         "method: paper: paths, too, go through the dual cells' interpolation, as Gong has them."},
    {"sweeps", TY_KEY_INTEGER, .at = DEF(solve.sweeps), .unit = "", .fallback = "2", .min = 1,
     .max = 100, .only_solver = "tet",
     .sentence = "method: paper: smoothing sweeps of the multigrid before and after; Gong has 10."},
    {0}};
static const ty_group solver_group = {
    .name = "solver",
    .sentence = "How the liquid moves, and what it is made of.",
    .size = sizeof(ty_scene_draft),
    .keys = solver_keys,
    .check = ty_check_solver,
    .example = "solver: {kind: grid, density: 1000, viscosity: 0, tolerance: 1e-6}"};

#define CONTOUR .only_tracker = "contour"
static const ty_key thickening_keys[] = {
    {"surface", TY_KEY_BOOL, .at = DEF(track.thicken_surface), .unit = "", .fallback = "@thicken",
     CONTOUR, .fallback_says = "true with contour",
     .sentence = "Thin places of the surface are kept from tearing."},
    {"mesh", TY_KEY_BOOL, .at = DEF(track.thicken_mesh), .unit = "", .fallback = "@thicken",
     CONTOUR, .fallback_says = "true with contour",
     .sentence = "The solver's mesh reaches around thin places."},
    {"gamma", TY_KEY_NUMBER, .at = DEF(track.thicken_gamma), .unit = "surface cells",
     .fallback = "1.2", POSITIVE, CONTOUR, .sentence = "A place thinner than this counts as thin."},
    {"redistribute", TY_KEY_NUMBER, .at = DEF(track.thicken_redistribute), .unit = "surface cells",
     .fallback = "1.5", NOT_NEGATIVE, CONTOUR,
     .sentence =
         "Small particles within this of big ones go, and leave them what they could grow."},
    {"reject", TY_KEY_NUMBER, .at = DEF(track.thicken_reject), .unit = "ratio", .fallback = "0.75",
     SHARE, CONTOUR,
     .sentence =
         "The middle of an inward ray is none when the surface is nearer than this share of half the ray."},
    {"beta", TY_KEY_NUMBER, .at = DEF(track.thicken_beta), .unit = "surface cells",
     .fallback = "0.6", POSITIVE, CONTOUR, .sentence = "Thickness above which a particle is big."},
    {"offset", TY_KEY_NUMBER, .at = DEF(track.thicken_offset), .unit = "cells", .fallback = "0.6",
     NOT_NEGATIVE, CONTOUR, .sentence = "How far the solver's mesh reaches beyond thin places."},
    {"kernel", TY_KEY_NUMBER, .at = DEF(track.thicken_kernel), .unit = "cells", .fallback = "4",
     POSITIVE, CONTOUR, .sentence = "Radius over which the mesh's offset fades."},
    {"grow_big", TY_KEY_NUMBER, .at = DEF(track.thicken_grow_big), .unit = "surface cells/step",
     .fallback = "0.25", NOT_NEGATIVE, CONTOUR,
     .sentence =
         "The most by which big particles grow to make up for lost volume; less where they move less than a tenth of a "
         "cell."},
    {"grow_small", TY_KEY_NUMBER, .at = DEF(track.thicken_grow_small), .unit = "surface cells/step",
     .fallback = "0.15", NOT_NEGATIVE, CONTOUR, .sentence = "The same for small particles."},
    {"radius", TY_KEY_NUMBER, .at = DEF(track.thicken_radius), .unit = "surface cells",
     .fallback = "2", POSITIVE, CONTOUR,
     .sentence =
         "Particles within this, weighted as by Zhu and Bridson, tell how thin the liquid is."},
    {0}};
static const ty_group thickening_group = {
    .name = "thickening",
    .sentence = "Keeps sheets thinner than a cell alive.",
    .size = sizeof(ty_scene_draft),
    .keys = thickening_keys,
    .example =
        "surface: {tracker: contour, thickening: {surface: true, mesh: true, redistribute: 1.5}}"};

static const ty_key volume_keys[] = {
    {"correct", TY_KEY_BOOL, .at = DEF(volume_correct), .unit = "", .fallback = "true",
     .sentence = "What tracking lost or gained is given back every step."},
    {0}};
static const ty_group volume_group = {
    .name = "volume",
    .sentence = "The ledger that knows how much liquid there should be.",
    .size = sizeof(ty_scene_draft),
    .keys = volume_keys,
    .example = "surface: {volume: {correct: false}}    # to see what the tracker alone keeps"};

static const ty_key surface_keys[] = {
    {"tracker", TY_KEY_WORD, .at = DEF(tracker_kind), .has_at = DRAFT(has_tracker), .unit = "",
     .fallback = "@tracker", .fallback_says = "the best that is available for the solver",
     .choices = tracker_kinds, .table = TY_TRACKER_TABLE,
     .sentence = "What follows the liquid's surface."},
    {"ratio", TY_KEY_NUMBER, .at = DRAFT(ratio), .unit = "", .fallback = "@ratio",
     .fallback_says = "2 with solver tet, else 1", .min = 0.25, .max = 16,
     .sentence = "The surface's cell is the solver's cell divided by this."},
    {"transport", TY_KEY_CHOICE, .at = DEF(track.transport), .unit = "",
     .fallback = "semi-lagrangian", .choices = transports, .only_tracker = "levelset particle",
     .sentence = "How the level set is carried along."},
    {"redistance", TY_KEY_NUMBER, .at = DEF(track.redistance), .unit = "cells", .fallback = "0.7",
     POSITIVE, .only_tracker = "levelset particle",
     .sentence = "The distance is remade after this much motion."},
    {"particles_per_cell", TY_KEY_INTEGER, .at = DEF(track.particles_per_cell), .unit = "",
     .fallback = "32", .min = 1, .max = 1000, .only_tracker = "particle",
     .sentence = "Particles in every cell near the surface."},
    {"one_sided", TY_KEY_BOOL, .at = DEF(track.one_sided), .unit = "", .fallback = "false",
     .only_tracker = "particle",
     .sentence = "Particles only inside the liquid (Foster and Fedkiw) instead of on both sides."},
    {"topology", TY_KEY_WORD, .unit = "", .fallback = "local", .choices = topologies,
     .only_tracker = "mesh", .sentence = "How pieces of the mesh merge and split."},
    {"thickening", TY_KEY_GROUP, .at = SAME, .unit = "", .group = &thickening_group,
     .sentence = "Keeps sheets thinner than a cell alive."},
    {"volume", TY_KEY_GROUP, .at = SAME, .unit = "", .group = &volume_group,
     .sentence = "The volume ledger."},
    {0}};
static const ty_group surface_group = {
    .name = "surface",
    .sentence = "How the liquid's surface is followed.",
    .size = sizeof(ty_scene_draft),
    .keys = surface_keys,
    .check = ty_check_surface,
    .example = "surface: {tracker: levelset, transport: weno5, volume: {correct: true}}"};

static const ty_key checkpoint_keys[] = {
    {"every", TY_KEY_INTEGER, .at = DEF(checkpoint_every), .unit = "frames", .fallback = "1",
     .min = 0, .max = 1e6, .sentence = "A checkpoint after every so many frames; 0: none."},
    {"keep", TY_KEY_INTEGER, .at = DEF(checkpoint_keep), .unit = "", .fallback = "2", .min = 0,
     .max = 1e6, .sentence = "How many of the latest are kept; 0: all."},
    {0}};
static const ty_group checkpoint_group = {.name = "checkpoint",
                                          .sentence = "What a stopped run goes on from.",
                                          .size = sizeof(ty_scene_draft),
                                          .keys = checkpoint_keys,
                                          .example = "checkpoint: {every: 10, keep: 2}"};

static const ty_key output_keys[] = {
    {"surface", TY_KEY_FLAG, .at = DEF(write_surface), .unit = "", .fallback = "ply",
     .choices = surface_files, .sentence = "The surface as triangles with velocities."},
    {"volume", TY_KEY_FLAG, .at = DEF(write_volume), .unit = "",
     .fallback = TETHYS_HAVE_VDB ? "vdb" : "none", .choices = volume_files,
     .sentence = "Level set and velocity as a volume."},
    {"tets", TY_KEY_FLAG, .at = DEF(write_tets), .unit = "", .fallback = "none",
     .choices = tet_files, .sentence = "The solver's tetrahedra."},
    {"particles", TY_KEY_FLAG, .at = DEF(write_particles), .unit = "", .fallback = "none",
     .choices = particle_files,
     .sentence =
         "The tracker's particles with their radius: those of tracker particle, or those of thin liquid of tracker contour."},
    {"every", TY_KEY_INTEGER, .at = DEF(output_every), .unit = "frames", .fallback = "1", .min = 1,
     .max = 1e6, .sentence = "Only every so many frames are written."},
    {0}};
static const ty_group output_group = {.name = "output",
                                      .sentence = "What is written for every frame.",
                                      .size = sizeof(ty_scene_draft),
                                      .keys = output_keys,
                                      .example = "output: {surface: ply, volume: none, every: 2}"};

#define LIST(word, array, count, items, what)                                                      \
    {                                                                                              \
        word, TY_KEY_LIST, .at = DEF(array), .count_at = DEF(count), .unit = "", .group = &items,  \
                           .sentence = what                                                        \
    }
static const ty_key scene_keys[] = {
    {"name", TY_KEY_TEXT, .at = DEF(name), .unit = "", .fallback = "@name",
     .fallback_says = "the file's name", .no_result = true,
     .sentence = "What the scene is called."},
    {"fluid", TY_KEY_FLAG, .at = DEF(smoke), .unit = "", .fallback = "liquid", .choices = fluids,
     .sentence = "What is simulated."},
    {"up", TY_KEY_CHOICE, .at = DEF(world.up), .unit = "", .fallback = "y", .choices = axes_up,
     .sentence = "Which axis points up: turns default gravity, the names of sides and the output."},
    {"domain", TY_KEY_GROUP, .at = SAME, .has_at = DEF(world.has_domain), .unit = "",
     .group = &domain_group, .sentence = "The box in which everything happens."},
    {"walls", TY_KEY_GROUP, .at = SAME, .unit = "", .group = &walls_group,
     .sentence = "Motion and slip of the sides."},
    {"cell", TY_KEY_NUMBER, .at = DEF(cell), .has_at = DRAFT(has_cell), .unit = "m", .min = 1e-6,
     .max = 1e6, .fallback_says = "from resolution", .sentence = "The solver's finest cell."},
    {"resolution", TY_KEY_INTEGER, .at = DRAFT(resolution), .has_at = DRAFT(has_resolution),
     .unit = "cells", .fallback = "64", .min = 2, .max = 100000, .input_only = true,
     .sentence = "Cells along the domain's longest side, instead of cell."},
    {"frames", TY_KEY_GROUP, .at = SAME, .unit = "", .group = &frames_group,
     .sentence = "How long, how finely in time."},
    {"solver", TY_KEY_GROUP, .at = SAME, .unit = "", .group = &solver_group,
     .sentence = "How the liquid moves."},
    {"surface", TY_KEY_GROUP, .at = SAME, .unit = "", .group = &surface_group,
     .sentence = "How the liquid's surface is followed."},
    LIST("liquid", world.liquids, world.n_liquids, ty_liquid_group,
         "The liquid at the start: shapes, united."),
    LIST("obstacles", world.obstacles, world.n_obstacles, ty_obstacle_group,
         "Solid things, still or moving."),
    LIST("sources", world.sources, world.n_sources, ty_source_group, "Where liquid comes in."),
    LIST("drains", world.drains, world.n_drains, ty_drain_group, "Where liquid is taken out."),
    {"forces", TY_KEY_LIST, .at = DEF(world.forces), .count_at = DEF(world.n_forces), .unit = "",
     .group = &ty_force_group, .fallback_says = "gravity alone",
     .sentence = "What pushes the liquid."},
    LIST("steer", world.steers, world.n_steers, ty_steer_group, "Velocities that are blended in."),
    {"cameras", TY_KEY_LIST, .at = DEF(world.cameras), .count_at = DEF(world.n_cameras), .unit = "",
     .group = &ty_camera_group, .no_result = true, .sentence = "Where pictures are taken from."},
    LIST("probes", probes, n_probes, ty_probe_group,
         "What an experiment would measure, recorded every step."),
    {"checkpoint", TY_KEY_GROUP, .at = SAME, .unit = "", .group = &checkpoint_group,
     .no_result = true, .sentence = "What a stopped run goes on from."},
    {"output", TY_KEY_GROUP, .at = SAME, .unit = "", .group = &output_group, .no_result = true,
     .sentence = "What is written for every frame."},
    {0}};
const ty_group ty_scene_group = {.name = "scene",
                                 .sentence = "The whole file.",
                                 .size = sizeof(ty_scene_draft),
                                 .keys = scene_keys,
                                 .check = ty_check_scene,
                                 .example = NULL,
                                 .check_anyway = true};
