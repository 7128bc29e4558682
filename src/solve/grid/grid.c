// SPDX-License-Identifier: Apache-2.0
// Solver `grid`: the step, and its row in the table of solvers.
#include <string.h>

#include "core/clock.h"
#include "core/hash.h"
#include "solve/grid/gridflow.h"
#include "solve/kinds.h"

enum { MOST_CFL = 200 };    // marks of layers are bytes

// The share of a usual step that finds the first pressure and acceleration.
static const double PROBE_STEP = 0.01;
// Sides nearer than this to a lattice plane are on it, cells.
static const double ALIGNED = 1e-6;

static void clear(double* values[3], int n)
{
    for (int axis = 0; axis < 3; ++axis) memset(values[axis], 0, sizeof(double) * (size_t)n);
}

static void swap_arrays(double* a[3], double* b[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        double* t = a[axis];
        a[axis] = b[axis];
        b[axis] = t;
    }
}

static ty_status place(ty_gridflow* gf, const ty_liquid* liquid)
{
    ty_gridflow_open_pockets(gf);
    ty_gridflow_find_box(gf, liquid);
    TY_TRY(ty_gridflow_bodies(gf));
    ty_gridflow_close_rims(gf, liquid);
    TY_TRY(ty_gridflow_classify(gf, liquid));
    return ty_gridflow_swell(gf);
}

static ty_status move(ty_gridflow* gf, const ty_liquid* liquid, double dt, double theta,
                      ty_solve_stats* stats)
{
    double solve_dt = theta * dt, begin = ty_clock();
    gf->dt = dt;
    clear(gf->next, gf->cells.count);
    TY_TRY(ty_gridflow_advect(gf, dt));
    if (gf->carries) clear(gf->next_acc, gf->cells.count);
    TY_TRY(ty_gridflow_push(gf, dt));
    if (gf->def->viscosity_form == TY_VISCOSITY_DIFFUSION)
        TY_TRY(ty_gridflow_viscosity(gf, solve_dt, stats));
    stats->advect_seconds += ty_clock() - begin;
    begin = ty_clock();
    TY_TRY(ty_gridflow_project(gf, liquid, solve_dt, true, stats));
    if (gf->def->viscosity_form == TY_VISCOSITY_VARIATIONAL) {
        // The stress acts on what gravity and pressure leave over: a pool at rest does not see it.
        TY_TRY(ty_gridflow_stress(gf, dt, stats));
        TY_TRY(ty_gridflow_project(gf, liquid, solve_dt, false, stats));
    }
    stats->project_seconds += ty_clock() - begin;
    if (gf->carries && theta < 1.0) ty_gridflow_smooth(gf);
    return ty_gridflow_continue(gf);
}

static void set_velocity(ty_gridflow* gf, int axis)
{
    ty_sampler velocity = ty_world_liquid_velocity(gf->world);
    const ty_ids* face = &gf->face[axis];
    for (int64_t begin = 0; begin < face->n; begin += TY_SAMPLE_BATCH) {
        double x[TY_SAMPLE_BATCH][3], v[TY_SAMPLE_BATCH][3];
        int n = (int)(face->n - begin < TY_SAMPLE_BATCH ? face->n - begin : TY_SAMPLE_BATCH);
        for (int i = 0; i < n; ++i) ty_face_center(&gf->cells, axis, face->at[begin + i], x[i]);
        ty_sample(&velocity, n, (const double(*)[3])x, v[0]);
        for (int i = 0; i < n; ++i) gf->next[axis][face->at[begin + i]] = v[i][axis];
    }
}

// A short step that is thrown away but for the pressure and the acceleration it needed: at the
// start, and when a source is switched. A jump of the velocity is no acceleration; carried along as
// one it would ring.
static ty_status probe(ty_gridflow* gf, const ty_liquid* liquid, ty_solve_stats* stats)
{
    double dt = PROBE_STEP * fmin(gf->dt_limit, 1.0), divergence = stats->max_divergence;
    TY_TRY(place(gf, liquid));
    if (gf->carries) clear(gf->acc, gf->cells.count);    // there is none to carry yet
    TY_TRY(move(gf, liquid, dt, 1.0, stats));
    stats->max_divergence = divergence;
    ty_gridflow_take_back_flux(gf);
    if (gf->carries) swap_arrays(gf->acc, gf->next_acc);
    return ty_gridflow_expose(gf);
}

// The initial velocities, made divergence-free.
static ty_status start(ty_gridflow* gf, const ty_liquid* liquid, ty_solve_stats* stats)
{
    TY_TRY(place(gf, liquid));
    clear(gf->next, gf->cells.count);
    if (gf->carries) clear(gf->next_acc, gf->cells.count);
    for (int axis = 0; axis < 3; ++axis) set_velocity(gf, axis);
    TY_TRY(ty_gridflow_project(gf, liquid, 1.0, false, stats));
    TY_TRY(ty_gridflow_continue(gf));
    swap_arrays(gf->u, gf->next);
    TY_TRY(ty_gridflow_measure(gf, stats));
    return probe(gf, liquid, stats);
}

// Which sources are on, as a number.
static uint64_t sources_on(const ty_world* world)
{
    uint64_t on = 0;
    for (int i = 0; i < ty_world_n_sources(world); ++i)
        if (ty_world_source(world, i).on) on = ty_mix2(on, (uint64_t)i + 1);
    return on;
}

static ty_status advance(void* self, const ty_liquid* liquid, const ty_world* world, double t,
                         double dt, ty_solve_stats* stats)
{
    ty_gridflow* gf = self;
    (void)t;
    *stats = (ty_solve_stats){0};
    if (!liquid) return ty_fail(TY_NOT_YET, "solver 'grid' has no smoke yet; use 'octree'");
    gf->world = world;
    gf->middle_dt = 0.0;
    gf->layers = ty_gridflow_layers(gf);
    ty_varying* mu = (ty_varying*)&gf->def->viscosity;    // only its cache of volume files changes
    TY_TRY(ty_varying_prepare(mu, t, t + dt));
    uint64_t on = sources_on(world);
    bool switched = on != gf->sources_on;
    gf->sources_on = on;
    if (dt <= 0.0) return start(gf, liquid, stats);
    double begin = ty_clock();
    TY_TRY(place(gf, liquid));
    stats->mesh_seconds = ty_clock() - begin;
    TY_TRY(move(gf, liquid, dt, gf->carries ? gf->def->theta : 1.0, stats));
    swap_arrays(gf->u, gf->next);
    if (gf->carries) swap_arrays(gf->acc, gf->next_acc);
    TY_TRY(ty_gridflow_expose(gf));
    TY_TRY(ty_gridflow_measure(gf, stats));
    if (switched && gf->carries) TY_TRY(probe(gf, liquid, stats));
    if (!(gf->max_speed < INFINITY))
        return ty_fail(TY_DIVERGED, "the liquid's speed is not finite");
    return ty_ok();
}

static ty_status lead(void* self, const ty_liquid* liquid, double dt)
{
    (void)liquid;
    ty_gridflow_lead(self, dt);
    return ty_ok();
}

static void slow(void* self, ty_slow slow) { ((ty_gridflow*)self)->loss = slow.loss; }

static ty_flow flow(const void* self)
{
    const ty_gridflow* gf = self;
    ty_flow f = {.velocity = {gf, 3, 0.0, ty_gridflow_seen_velocity},
                 .flux = {gf, 9, 0.0, ty_gridflow_fluxes},
                 .pressure = {gf, 1, 0.0, ty_gridflow_pressure},
                 .lattice = {.cell = gf->cells.h},
                 .cell = gf->cells.h,
                 .max_speed = gf->max_speed,
                 .dt_limit = gf->dt_limit,
                 .dt_slack = ty_gridflow_slack(gf),
                 .counts_drains = true,
                 .drain_rate = gf->drain_rate};
    // Beside solids that move the rate does not follow the wall: paths through it led out of a
    // sealed container.
    if (gf->carries && !gf->rides) f.motion = (ty_sampler){gf, 6, 0.0, ty_gridflow_motion};
    if (gf->middle_dt > 0.0) {
        f.middle = (ty_sampler){gf, 3, 0.0, ty_gridflow_middle};
        f.middle_center = (ty_sampler){gf, 3, 0.0, ty_gridflow_middle_center};
        f.middle_faces = (ty_sampler){gf, 9, 0.0, ty_gridflow_middle_faces};
        f.middle_dt = gf->middle_dt;
    }
    for (int axis = 0; axis < 3; ++axis) {
        f.lattice.origin[axis] = gf->cells.origin[axis] + 0.5 * gf->cells.h;
        f.lattice.n[axis] = gf->cells.n[axis];
    }
    return f;
}

static int fields(const void* self, int max, ty_named_field* out)
{
    ty_flow f = flow(self);
    ty_named_field all[2] = {{"velocity", f.velocity}, {"pressure", f.pressure}};
    int n = max < 2 ? max : 2;
    for (int i = 0; i < n; ++i) out[i] = all[i];
    return n;
}

static ty_status archive(void* self, ty_archive* ar)
{
    ty_gridflow* gf = self;
    static const char* const u_names[3] = {"u", "v", "w"};
    static const char* const a_names[3] = {"du", "dv", "dw"};
    for (int axis = 0; axis < 3; ++axis) {
        TY_TRY(ty_archive_f64(ar, u_names[axis], gf->u[axis], gf->cells.count));
        TY_TRY(ty_archive_f64(ar, "seen", gf->seen[axis], gf->cells.count));
        TY_TRY(ty_archive_f64(ar, "flux", gf->flux[axis], gf->cells.count));
        TY_TRY(ty_archive_f64(ar, "flux_rate", gf->flux_rate[axis], gf->cells.count));
        if (gf->emitted[axis])
            TY_TRY(ty_archive_f64(ar, "emitted", gf->emitted[axis], gf->cells.count));
        if (!gf->carries) continue;
        TY_TRY(ty_archive_f64(ar, a_names[axis], gf->acc[axis], gf->cells.count));
        TY_TRY(ty_archive_f64(ar, "rate", gf->rate[axis], gf->cells.count));
    }
    TY_TRY(ty_archive_f64(ar, "pressure", gf->pressure, gf->cells.count));
    TY_TRY(ty_archive_f64(ar, "acting", gf->acting, gf->cells.count));
    TY_TRY(ty_archive_fixed(ar, "state", gf->state, gf->cells.count, 1));
    TY_TRY(ty_archive_fixed(ar, "noted", gf->noted, gf->cells.count, 1));
    TY_TRY(ty_archive_f64(ar, "gravity", gf->gravity, 3));
    TY_TRY(ty_archive_f64(ar, "reference", gf->ref, 3));
    TY_TRY(ty_archive_f64(ar, "max_speed", &gf->max_speed, 1));
    TY_TRY(ty_archive_f64(ar, "drain_rate", &gf->drain_rate, 1));
    TY_TRY(ty_archive_fixed(ar, "sources_on", &gf->sources_on, 1, sizeof gf->sources_on));
    if (ar->loading) gf->bodies_fixed = false;
    TY_TRY(ty_archive_fixed(ar, "started", &gf->started, 1, sizeof gf->started));
    return ty_archive_f64(ar, "dt_limit", &gf->dt_limit, 1);
}

static void destroy(void* self)
{
    ty_gridflow* gf = self;
    if (!gf) return;
    for (int axis = 0; axis < 3; ++axis) {
        double* arrays[] = {gf->u[axis],         gf->next[axis],    gf->acc[axis],
                            gf->next_acc[axis],  gf->carried[axis], gf->open[axis],
                            gf->body[axis],      gf->hold[axis],    gf->seen[axis],
                            gf->rate[axis],      gf->drift[axis],   gf->flux[axis],
                            gf->flux_rate[axis], gf->emitted[axis]};
        for (int i = 0; i < 14; ++i) ty_free(arrays[i]);
        ty_free(gf->mark[axis]);
        ty_free(gf->path[axis]);
        ty_free(gf->stress_row[axis]);
        ty_array_free(&gf->cut[axis].face);
        ty_array_free(&gf->cut[axis].velocity);
        ty_array_free(&gf->cut[axis].slip);
        ty_array_free(&gf->face[axis]);
    }
    void* arrays[] = {gf->pressure, gf->acting, gf->state,    gf->phi,    gf->solid,
                      gf->spout,    gf->row,    gf->face_row, gf->within, gf->noted};
    for (int i = 0; i < 10; ++i) ty_free(arrays[i]);
    ty_array_free(&gf->emission);
    ty_array_free(&gf->pocket);
    ty_array_free(&gf->wet);
    ty_array_free(&gf->near);
    ty_array_free(&gf->layer);
    ty_array_free(&gf->front);
    ty_array_free(&gf->balanced);
    ty_free(gf->swell);
    ty_array_free(&gf->scratch);
    ty_array_free(&gf->stress_face);
    ty_array_free(&gf->rhs);
    ty_array_free(&gf->x);
    ty_array_free(&gf->guess);
    ty_csr_free(&gf->matrix);
    ty_linear_destroy(gf->linear);
    ty_linear_destroy(gf->viscous);
    ty_free(gf);
}

static ty_status make_cells(ty_gridflow* gf, const ty_world_def* def)
{
    ty_cells* c = &gf->cells;
    c->h = gf->def->cell;
    c->per_h = 1.0 / c->h;
    double count = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        double cells = (def->max[axis] - def->min[axis]) / c->h;
        if (!(cells > 0.0))
            return ty_fail(TY_BAD_INPUT, "the domain has no extent along %c", "xyz"[axis]);
        c->origin[axis] = def->min[axis];
        double whole = ceil(cells - ALIGNED);
        count *= whole + 3.0;
        if (!(count < 2147483647.0))
            return ty_fail(TY_BAD_INPUT, "the domain has more than 2^31 cells; use larger cells");
        c->n[axis] = (int)whole;
        c->m[axis] = c->n[axis] + 3;
        bool cut = gf->closed[2 * axis + 1] && whole - cells > ALIGNED;
        gf->wall_at[axis] = cut ? def->max[axis] : INFINITY;
    }
    c->stride[0] = 1;
    c->stride[1] = c->m[0];
    c->stride[2] = c->m[0] * c->m[1];
    c->count = c->stride[2] * c->m[2];
    return ty_ok();
}

static bool sources_move(const ty_world* world)
{
    for (int i = 0; i < ty_world_n_sources(world); ++i)
        if (ty_world_source(world, i).moves) return true;
    return false;
}

static ty_status reserve(ty_gridflow* gf)
{
    size_t n = (size_t)gf->cells.count;
    bool ok = (gf->pressure = ty_alloc_zero(n, sizeof(double))) &&
              (gf->acting = ty_alloc_zero(n, sizeof(double))) &&
              (gf->state = ty_alloc_zero(n, 1)) && (gf->phi = ty_alloc_zero(n, sizeof(double))) &&
              (gf->solid = ty_alloc_zero(n, sizeof(double))) && (gf->spout = ty_alloc_zero(n, 1)) &&
              (gf->row = ty_alloc_zero(n, sizeof(int))) && (gf->within = ty_alloc_zero(n, 1)) &&
              (gf->noted = ty_alloc_zero(n, 1));
    for (int axis = 0; axis < 3 && ok; ++axis) {
        ok = (gf->u[axis] = ty_alloc_zero(n, sizeof(double))) &&
             (gf->next[axis] = ty_alloc_zero(n, sizeof(double))) &&
             (gf->open[axis] = ty_alloc_zero(n, sizeof(double))) &&
             (gf->body[axis] = ty_alloc_zero(n, sizeof(double))) &&
             (gf->seen[axis] = ty_alloc_zero(n, sizeof(double))) &&
             (gf->flux[axis] = ty_alloc_zero(n, sizeof(double))) &&
             (gf->flux_rate[axis] = ty_alloc_zero(n, sizeof(double))) &&
             (gf->mark[axis] = ty_alloc_zero(n, 1));
        if (ok && ty_world_n_sources(gf->world))
            ok = (gf->emitted[axis] = ty_alloc_zero(n, sizeof(double)));
        if (ok && sources_move(gf->world))
            ok = (gf->drift[axis] = ty_alloc_zero(n, sizeof(double)));
        if (!ok || !gf->carries) continue;
        ok = (gf->acc[axis] = ty_alloc_zero(n, sizeof(double))) &&
             (gf->next_acc[axis] = ty_alloc_zero(n, sizeof(double))) &&
             (gf->rate[axis] = ty_alloc_zero(n, sizeof(double))) &&
             (gf->path[axis] = ty_alloc_zero(n, sizeof(float))) &&
             (gf->carried[axis] = ty_alloc_zero(n, sizeof(double)));
    }
    return ok ? ty_ok() : ty_no_memory("the grid");
}

static void find_within(ty_gridflow* gf)
{
    const ty_cells* c = &gf->cells;
    for (int i = 0; i < c->count; ++i) {
        int at[3];
        ty_cell_coords(c, i, at);
        for (int axis = 0; axis < 3; ++axis) {
            bool in = true;
            for (int d = 0; d < 3; ++d) in &= at[d] >= 1 && at[d] <= c->n[d] + (d == axis);
            if (in) gf->within[i] |= (uint8_t)(1 << axis);
            if (at[axis] <= 1 || at[axis] >= c->n[axis]) gf->within[i] |= TY_BESIDE_SIDE;
        }
    }
}

static ty_status create_parts(ty_gridflow* gf, const ty_world* world)
{
    const ty_world_def* def = ty_world_get_def(world);
    if (!def->has_domain)
        return ty_fail(TY_BAD_INPUT,
                       "solver 'grid' needs a domain; give 'domain:' with min and size");
    for (int side = 0; side < TY_N_SIDES; ++side) gf->closed[side] = def->wall[side].closed;
    gf->world = world;
    // Stress that stops all acceleration is no acceleration to carry along.
    gf->carries = gf->def->theta < 1.0 && gf->def->viscosity_form != TY_VISCOSITY_VARIATIONAL &&
                  !gf->def->paper;
    // As far as anything can go, and one more.
    double farthest = ty_clamp(gf->def->cfl, 1.0, MOST_CFL) + TY_FARTHEST_BEYOND;
    gf->layers = gf->most_layers = (int)ceil((1.0 + TY_STEP_SLACK) * farthest) + 1;
    TY_TRY(make_cells(gf, def));
    TY_TRY(reserve(gf));
    find_within(gf);
    ty_linear_def linear = ty_linear_default();
    linear.tolerance = gf->def->tolerance;
    return ty_linear_create(&gf->linear, &linear);
}

static ty_status create(void** self, const ty_solve_def* def, const ty_world* world)
{
    ty_gridflow* gf = *self = ty_alloc_zero(1, sizeof *gf);
    if (!gf) return ty_no_memory("the grid");
    gf->def = def;
    ty_status s = create_parts(gf, world);
    if (s.code != TY_OK) destroy(gf), *self = NULL;
    return s;
}

const ty_solver_kind ty_solver_grid = {
    .name = "grid",
    .needs_domain = true,
    .create = create,
    .advance = advance,
    .lead = lead,
    .slow = slow,
    .flow = flow,
    .fields = fields,
    .archive = archive,
    .destroy = destroy,
};
