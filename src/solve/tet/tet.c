// SPDX-License-Identifier: Apache-2.0
// Solver `tet`: the step of [Chentanez2007] Figure 2, and its row in the table of solvers.
//
// Departs: see the heads of the stages. Most of all, the pressure's gradient is exact for linear
// pressures and the pressure's acceleration is carried along (carry.c).
#include <string.h>

#include "core/clock.h"
#include "solve/kinds.h"
#include "solve/tet/paper.h"
#include "solve/tet/viscosity.h"

// The share of a usual step that finds the first acceleration.
static const double PROBE_STEP = 0.01;

static ty_status want_divergence(ty_tetflow* tf, const ty_liquid* liquid, const double** divergence)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    int n = m->state.mesh.n_tets;
    bool wanted = liquid->divergence.eval != NULL;
    *divergence = NULL;
    tf->divergence.n = 0;
    if (!wanted && ty_world_n_sources(tf->world) == 0) return ty_ok();
    if (!ty_array_resize(&tf->divergence, n)) return ty_no_memory("divergence");
    if (n) memset(tf->divergence.at, 0, (size_t)n * sizeof(double));
    for (int at = 0; at < n && wanted; at += TY_SAMPLE_BATCH) {
        double x[TY_SAMPLE_BATCH][3];
        int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        for (int i = 0; i < count; ++i) ty_store3(x[i], m->centre.at[at + i]);
        ty_sample(&liquid->divergence, count, (const double(*)[3])x, tf->divergence.at + at);
    }
    ty_tetflow_emit(tf, liquid);
    *divergence = tf->divergence.at;
    return ty_ok();
}

static void no_acceleration(ty_tet_state* s)
{
    for (int t = 0; t < s->mesh.n_tets; ++t) s->a.at[t] = ty_vec(0, 0, 0);
}

// The skin of the new motion, and the last that the old one is asked for: a projection needs the
// most memory of a step.
static ty_status leave_old(ty_tetflow* tf, const ty_liquid* liquid, double dt)
{
    ty_tet_motion* old = ty_tetflow_old(tf);
    TY_TRY(ty_tet_motion_close(ty_tetflow_new(tf)));
    TY_TRY(ty_tetflow_loose(tf, liquid, dt));
    bool paper = old->paper, sticks = old->sticks, sharpens = old->sharpens;
    ty_tet_motion_free(old);
    old->paper = paper, old->sticks = sticks, old->sharpens = sharpens;
    return ty_ok();
}

// From u in the new mesh's tets to a motion. Volumes and centres are sooner measured again than
// kept meanwhile.
static ty_status project(ty_tetflow* tf, const ty_liquid* liquid, double solve_dt,
                         ty_solve_stats* stats)
{
    const double* divergence;
    ty_tet_motion* m = ty_tetflow_new(tf);
    TY_TRY(want_divergence(tf, liquid, &divergence));
    if (m->state.mesh.n_tets == 0) return ty_ok();
    ty_array_free(&m->volume);
    ty_array_free(&m->centre);
    TY_TRY(ty_tet_project(tf->projector, &m->state, solve_dt, divergence, stats));
    ty_tet_projector_rest(tf->projector);
    return ty_tet_motion_measure(m);
}

// Friction as strong as gravity acts on what gravity and pressure leave over, or a heap of honey
// would sink by g dt in every step, however stiff it is. Two projections then; their pressures add
// up.
static ty_status project_stiff(ty_tetflow* tf, const ty_liquid* liquid, double dt,
                               ty_solve_stats* stats)
{
    ty_tet_state* s = &ty_tetflow_new(tf)->state;
    TY_TRY(project(tf, liquid, dt, stats));
    int64_t n = s->pressure.n;
    if (!ty_array_resize(&tf->kept, n)) return ty_no_memory("pressures");
    if (n) memcpy(tf->kept.at, s->pressure.at, (size_t)n * sizeof(double));
    TY_TRY(ty_tetflow_viscosity(tf, dt, stats));
    TY_TRY(ty_tetflow_give(tf, liquid, false));
    TY_TRY(project(tf, liquid, dt, stats));
    for (int64_t v = 0; v < n; ++v) s->pressure.at[v] += tf->kept.at[v];
    return ty_ok();
}

static ty_status finish(ty_tetflow* tf)
{
    TY_TRY(ty_tet_motion_values(ty_tetflow_new(tf), &tf->stars));
    ty_tet_stars_free(&tf->stars);
    return ty_ok();
}

static ty_status move(ty_tetflow* tf, const ty_liquid* liquid, double dt, double theta,
                      ty_solve_stats* stats)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    double solve_dt = theta * dt, begin = ty_clock();
    TY_TRY(ty_tetflow_carry(tf, dt));
    if (tf->def->paper) TY_TRY(ty_tetflow_keep_unpushed(tf));
    TY_TRY(ty_tetflow_push(tf, liquid, dt, solve_dt));
    if (!tf->stiff) TY_TRY(ty_tetflow_viscosity(tf, dt, stats));
    if (tf->def->paper) {
        TY_TRY(ty_tetflow_carry_faces(tf, dt));
        ty_tet_projector_take_fluxes(tf->projector);
    }
    stats->advect_seconds += ty_clock() - begin;
    begin = ty_clock();
    TY_TRY(ty_tetflow_give(tf, liquid, true));
    TY_TRY(leave_old(tf, liquid, dt));
    TY_TRY((tf->stiff ? project_stiff : project)(tf, liquid, solve_dt, stats));
    stats->project_seconds += ty_clock() - begin;
    begin = ty_clock();
    ty_tetflow_measure_sources(tf);
    ty_tetflow_calm_slivers(tf);
    TY_TRY(ty_tetflow_hold(tf, liquid));
    if (tf->carries) {
        // At first there is none to compare with.
        TY_TRY(ty_tetflow_limit_accelerations(tf, dt, theta < 1.0));
        ty_tetflow_acting_pressure(tf, theta);
        TY_TRY(ty_tetflow_carried_pressure(tf));
    } else no_acceleration(&m->state);
    ty_tetflow_rest_sources(tf);
    ty_array_free(&tf->before);
    ty_array_free(&tf->force);
    TY_TRY(finish(tf));
    stats->advect_seconds += ty_clock() - begin;
    return ty_ok();
}

static ty_status set_velocity(ty_tetflow* tf)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    ty_sampler velocity = ty_world_liquid_velocity(tf->world);
    int n = m->state.mesh.n_tets;
    if (!ty_array_resize(&m->state.u, n)) return ty_no_memory("velocities");
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        double x[TY_SAMPLE_BATCH][3], v[TY_SAMPLE_BATCH][3];
        int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        for (int i = 0; i < count; ++i) ty_store3(x[i], m->centre.at[at + i]);
        ty_sample(&velocity, count, (const double(*)[3])x, v[0]);
        for (int i = 0; i < count; ++i) m->state.u.at[at + i] = ty_load3(v[i]);
    }
    return ty_ok();
}

static void turn_over(ty_tetflow* tf) { tf->now = 1 - tf->now; }

// The initial velocities, made divergence-free; then a short step that is thrown away but for the
// acceleration and the pressure it needed.
static ty_status start(ty_tetflow* tf, const ty_liquid* liquid, ty_solve_stats* stats)
{
    TY_TRY(ty_tetflow_fill(tf, liquid));
    TY_TRY(set_velocity(tf));
    TY_TRY(ty_tetflow_start_sources(tf, liquid));
    TY_TRY(ty_tetflow_give(tf, liquid, false));
    TY_TRY(leave_old(tf, liquid, 0.0));
    TY_TRY(project(tf, liquid, 1.0, stats));
    ty_tet_motion* first = ty_tetflow_new(tf);
    no_acceleration(&first->state);
    TY_TRY(finish(tf));
    turn_over(tf);
    TY_TRY(ty_tetflow_measure(tf, liquid, stats));
    ty_solve_stats kept = *stats;
    double dt = PROBE_STEP * fmin(tf->dt_limit, 1.0);
    TY_TRY(ty_tetflow_fill(tf, liquid));
    int64_t n = first->state.u.n;
    if (!ty_array_resize(&tf->first, n)) return ty_no_memory("velocities");
    if (n) memcpy(tf->first.at, first->state.u.at, (size_t)n * sizeof(ty_vec3));
    TY_TRY(move(tf, liquid, dt, 1.0, stats));    // there is no acceleration to carry yet
    if (n) memcpy(ty_tetflow_new(tf)->state.u.at, tf->first.at, (size_t)n * sizeof(ty_vec3));
    ty_array_free(&tf->first);
    TY_TRY(leave_old(tf, liquid, 0.0));    // what is loose has not moved either
    TY_TRY(finish(tf));
    turn_over(tf);
    *stats = kept;
    ty_tet_band_free(&tf->band);
    return ty_tetflow_measure(tf, liquid, stats);
}

static ty_status advance(void* self, const ty_liquid* liquid, const ty_world* world, double t,
                         double dt, ty_solve_stats* stats)
{
    ty_tetflow* tf = self;
    *stats = (ty_solve_stats){0};
    if (!liquid) return ty_fail(TY_NOT_YET, "solver 'tet' has no smoke; use 'octree'");
    tf->world = world;
    ty_varying* mu =
        (ty_varying*)&tf->scene->viscosity;    // only its cache of volume files changes
    TY_TRY(ty_varying_prepare(mu, t, t + dt));
    if (dt <= 0.0) return start(tf, liquid, stats);
    double begin = ty_clock();
    ty_tet_band_free(&tf->band);    // nobody asks before it is made again
    TY_TRY(ty_tetflow_fill(tf, liquid));
    stats->mesh_seconds = ty_clock() - begin;
    TY_TRY(move(tf, liquid, dt, tf->theta, stats));
    turn_over(tf);
    begin = ty_clock();
    TY_TRY(ty_tetflow_measure(tf, liquid, stats));
    stats->advect_seconds += ty_clock() - begin;
    if (!(tf->max_speed < INFINITY))
        return ty_fail(TY_DIVERGED, "the liquid's speed is not finite");
    return ty_ok();
}

static ty_status lead(void* self, const ty_liquid* liquid, double dt)
{
    return ty_tetflow_sweep(self, liquid, dt);
}

static void slow(void* self, ty_slow slow) { ((ty_tetflow*)self)->slow = slow; }

static ty_flow flow(const void* self) { return ty_tetflow_flow(self); }

static int fields(const void* self, int max, ty_named_field* out)
{
    ty_flow f = flow(self);
    ty_named_field all[2] = {{"velocity", f.velocity}, {"pressure", f.pressure}};
    int n = max < 2 ? max : 2;
    for (int i = 0; i < n; ++i) out[i] = all[i];
    return n;
}

static ty_status write_tets(const void* self, const char* path)
{
    return ty_tetflow_write(self, path);
}

static ty_status archive(void* self, ty_archive* ar)
{
    ty_tetflow* tf = self;
    TY_TRY(ty_tet_motion_archive(ty_tetflow_old(tf), ar, &tf->stars));
    ty_tet_stars_free(&tf->stars);
    TY_TRY(ty_archive_f64(ar, "tet.max_speed", &tf->max_speed, 1));
    TY_TRY(ty_archive_f64(ar, "tet.dt_limit", &tf->dt_limit, 1));
    TY_TRY(ty_archive_growing(ar, "tet.source_a", &tf->source_a));
    TY_TRY(ty_archive_growing(ar, "tet.divergence", &tf->divergence));
    if (tf->divergence.n && tf->divergence.n != ty_tetflow_old(tf)->state.mesh.n_tets)
        return ty_fail(TY_DAMAGED, "the wanted divergence does not fit the tetrahedra");
    return ar->loading ? ty_tet_band_make(&tf->band, ty_tetflow_old(tf), tf->world, tf->dt_limit)
                       : ty_ok();
}

static void destroy(void* self)
{
    ty_tetflow* tf = self;
    if (!tf) return;
    for (int i = 0; i < 2; ++i) ty_tet_motion_free(&tf->motion[i]);
    ty_tet_band_free(&tf->band);
    ty_tet_projector_destroy(tf->projector);
    ty_tet_viscous_destroy(tf->viscous);
    ty_stuff_free(&tf->stuff);
    ty_tet_stars_free(&tf->stars);
    ty_array_free(&tf->first);
    ty_array_free(&tf->unpushed);
    ty_array_free(&tf->snapped);
    ty_array_free(&tf->kept);
    ty_array_free(&tf->force);
    ty_array_free(&tf->before);
    ty_array_free(&tf->limited);
    ty_array_free(&tf->divergence);
    ty_array_free(&tf->source);
    ty_array_free(&tf->source_a);
    ty_array_free(&tf->loose_id);
    ty_array_free(&tf->contact);
    ty_array_free(&tf->contact_id);
    ty_array_free(&tf->contact_x);
    ty_hash_grid_free(&tf->contact_grid);
    ty_array_free(&tf->code);
    ty_free(tf);
}

static ty_status pressure_scheme(const char* name, ty_tet_pressure* scheme)
{
    static const char* const names[] = {
        [TY_TET_FACE] = "face", [TY_TET_NODAL] = "nodal", [TY_TET_TWO_POINT] = "two-point"};
    for (int i = 0; i < 3; ++i)
        if (strcmp(names[i], name) == 0) {
            *scheme = (ty_tet_pressure)i;
            return ty_ok();
        }
    return ty_fail(TY_BAD_INPUT, "unknown pressure '%s'; use face, nodal or two-point", name);
}

// `method: paper` is more than one key.
static void set_def(ty_tetflow* tf, const ty_solve_def* def)
{
    tf->def = tf->scene = def;
    if (def->paper) {
        tf->paper = *def;
        tf->paper.pressure = "two-point";
        tf->paper.obstacles = "conform";
        tf->paper.reduced_pressure = false;
        tf->def = &tf->paper;
    }
    tf->conforms = strcmp(tf->def->obstacles, "conform") == 0;
    for (int i = 0; i < 2; ++i)
        tf->motion[i].paper = def->paper, tf->motion[i].sticks = tf->conforms && def->no_slip;
}

static ty_status create(void** self, const ty_solve_def* def, const ty_world* world)
{
    ty_tetflow* tf = ty_alloc_zero(1, sizeof *tf);
    *self = NULL;
    if (!tf) return ty_no_memory("the tetrahedra");
    set_def(tf, def);
    tf->world = world;
    tf->slow.most = INFINITY;
    const ty_world_def* w = ty_world_get_def(world);
    for (int axis = 0; w->has_domain && axis < 3; ++axis) tf->origin[axis] = w->min[axis];
    ty_tet_pressure scheme = TY_TET_FACE;
    ty_status status = pressure_scheme(tf->def->pressure, &scheme);
    // Two-point velocities are no projection in the energy's norm: a carried acceleration would
    // grow.
    tf->stiff = ty_tetflow_is_stiff(def, world);
    tf->theta = scheme == TY_TET_TWO_POINT || tf->stiff ? 1.0 : def->theta;
    tf->carries = tf->theta < 1.0;
    tf->holds = scheme != TY_TET_TWO_POINT;
    for (int i = 0; i < 2; ++i) tf->motion[i].sharpens = scheme == TY_TET_FACE;
    if (status.code == TY_OK) status = ty_tet_projector_create(&tf->projector, scheme, tf->def);
    if (status.code == TY_OK) *self = tf;
    else destroy(tf);
    return status;
}

const ty_solver_kind ty_solver_tet = {
    .name = "tet",
    .create = create,
    .advance = advance,
    .lead = lead,
    .slow = slow,
    .flow = flow,
    .fields = fields,
    .write_tets = write_tets,
    .archive = archive,
    .destroy = destroy,
};
