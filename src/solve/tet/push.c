// SPDX-License-Identifier: Apache-2.0
// Forces, steering and sources in the liquid's tets, and gravity where it is not part of the
// pressure.
#include <string.h>

#include "core/parallel.h"
#include "solve/tet/motion.h"

enum { BATCH = TY_SAMPLE_BATCH };

// Cells below a source's surface from where on its tets are held. With all of them a jet, which begins to contract where
// it comes out, is kept from that by half a cell: 2.8 instead of 1.9 % too much in tests/shaken's.
static const double HELD = 0.25;

typedef struct push_job {
    ty_tetflow* tf;
    ty_tet_motion* m;
    const ty_liquid* liquid;
    double dt, solve_dt;
    ty_vec3 gravity;      // zero when the pressure has it
    ty_status* status;    // of the block that runs alone to say what failed; or NULL
} push_job;

static ty_status push_points(const push_job* job, int n, const double (*x)[3], double (*v)[3],
                             double (*a)[3])
{
    const ty_world* world = job->tf->world;
    for (int i = 0; i < n; ++i) ty_store3(a[i], job->gravity);
    if (ty_world_has_forces(world)) TY_TRY(ty_world_forces(world, n, x, (const double(*)[3])v, a));
    for (int i = 0; i < n; ++i) ty_store3(v[i], ty_load3(v[i]) + job->solve_dt * ty_load3(a[i]));
    return ty_world_steers(world) ? ty_world_steer(world, job->dt, n, x, v) : ty_ok();
}

// Whether the pressure may not change the velocity of a tet in a source: that pours into air. (A source under water
// pushes.)
static bool is_held(const push_job* job, int t, const ty_source* s, ty_vec3 x, ty_vec3 v)
{
    return job->tf->holds && job->m->state.open.at[t] == 1.0 &&
           !ty_tetflow_is_covered(job->tf, job->liquid, s, x, v);
}

// Liquid in a source has the source's velocity at the end of the step. Where it pours into air that is held; elsewhere
// what the pressure did there in the last step is taken off before. (With that alone honey was pulled out of a nozzle of 0.25 m/s at 0.39.)
// The tets from `first` on; tf->source: per tet, which source it is in.
static void push_sources(const push_job* job, int first, int n, const double (*x)[3],
                         double (*v)[3])
{
    double d[BATCH], emitted[BATCH][3];
    if (!ty_world_n_sources(job->tf->world)) return;
    int* source = job->tf->source.at + first;
    uint8_t* held = job->m->state.held.at + first;
    for (int i = 0; i < n; ++i) source[i] = -1, held[i] = 0;
    for (int k = 0; k < ty_world_n_sources(job->tf->world); ++k) {
        ty_source s = ty_world_source(job->tf->world, k);
        if (!s.on || !s.velocity.eval) continue;
        ty_sample(&s.distance, n, x, d);
        bool any = false;
        for (int i = 0; i < n && !any; ++i) any = d[i] < 0.0;
        if (!any) continue;
        ty_sample(&s.velocity, n, x, emitted[0]);
        ty_vec3 off = job->solve_dt * job->tf->source_a.at[k];
        for (int i = 0; i < n; ++i) {
            if (!(d[i] < 0.0)) continue;
            ty_vec3 out = ty_load3(emitted[i]);
            source[i] = k;
            held[i] = d[i] < -HELD * job->tf->def->cell &&
                      is_held(job, first + i, &s, ty_load3(x[i]), out);
            ty_store3(v[i], held[i] ? out : out - off);
        }
    }
}

static ty_status open_sources(ty_tetflow* tf)
{
    ty_tet_state* s = &ty_tetflow_new(tf)->state;
    int64_t n = ty_world_n_sources(tf->world), known = tf->source_a.n;
    s->held.n = 0;
    if (n == 0) return ty_ok();
    if (!ty_array_resize(&tf->source_a, n) || !ty_array_resize(&tf->source, s->mesh.n_tets) ||
        !ty_array_resize(&s->held, s->mesh.n_tets))
        return ty_no_memory("sources");
    for (int64_t k = known; k < n; ++k) tf->source_a.at[k] = ty_vec(0, 0, 0);
    return ty_ok();
}

void ty_tetflow_measure_sources(ty_tetflow* tf)
{
    const ty_tet_motion* m = ty_tetflow_new(tf);
    for (int64_t k = 0; k < tf->source_a.n; ++k) {
        ty_vec3 sum = ty_vec(0, 0, 0);
        double volume = 0.0;
        for (int t = 0; t < m->state.mesh.n_tets; ++t) {
            if (tf->source.at[t] != k || ty_tet_is_held(&m->state, t)) continue;
            sum += m->volume.at[t] * m->state.a.at[t];
            volume += m->volume.at[t];
        }
        tf->source_a.at[k] = volume > 0.0 ? sum / volume : sum;
    }
}

void ty_tetflow_rest_sources(ty_tetflow* tf)
{
    ty_tet_state* s = &ty_tetflow_new(tf)->state;
    for (int t = 0; t < s->mesh.n_tets && tf->source_a.n; ++t)
        if (tf->source.at[t] >= 0) s->a.at[t] = ty_vec(0, 0, 0);
    ty_array_free(&tf->source);
}

// Vertices with nothing around them that the pressure could move have none.
static void mark_held(ty_tet_state* s)
{
    bool any = false;
    for (int64_t t = 0; t < s->held.n && !any; ++t) any = s->held.at[t] != 0;
    if (!any) {
        s->held.n = 0;
        return;
    }
    for (int v = 0; v < s->mesh.n_verts; ++v) s->vert_kind.at[v] |= TY_VERT_HELD;
    for (int t = 0; t < s->mesh.n_tets; ++t)
        for (int i = 0; i < 4 && s->open.at[t] > 0.0 && !s->held.at[t]; ++i)
            s->vert_kind.at[s->mesh.tet[t][i]] &= (uint8_t)~TY_VERT_HELD;
}

// The liquid that is in sources at the start.
ty_status ty_tetflow_start_sources(ty_tetflow* tf, const ty_liquid* liquid)
{
    TY_TRY(open_sources(tf));
    ty_tet_motion* m = ty_tetflow_new(tf);
    push_job job = {.tf = tf, .m = m, .liquid = liquid};
    int n = m->state.mesh.n_tets;
    for (int at = 0; at < n && ty_world_n_sources(tf->world); at += BATCH) {
        double x[BATCH][3], v[BATCH][3];
        int count = n - at < BATCH ? n - at : BATCH;
        for (int i = 0; i < count; ++i) {
            ty_store3(x[i], m->centre.at[at + i]);
            ty_store3(v[i], m->state.u.at[at + i]);
        }
        push_sources(&job, at, count, (const double(*)[3])x, v);
        for (int i = 0; i < count; ++i) m->state.u.at[at + i] = ty_load3(v[i]);
    }
    mark_held(&m->state);
    return ty_ok();
}

static void push_block(void* ctx, ty_range r)
{
    const push_job* job = ctx;
    ty_vec3* u = job->m->state.u.at + r.begin;
    double x[BATCH][3], v[BATCH][3], a[BATCH][3];
    int n = (int)(r.end - r.begin);
    for (int i = 0; i < n; ++i) {
        ty_store3(x[i], job->m->centre.at[r.begin + i]);
        ty_store3(v[i], u[i]);
    }
    ty_status s = push_points(job, n, (const double(*)[3])x, v, a);
    push_sources(job, (int)r.begin, n, (const double(*)[3])x, v);
    for (int i = 0; i < n; ++i) {
        u[i] = ty_load3(v[i]);
        job->tf->force.at[r.begin + i] = ty_load3(a[i]);
    }
    job->tf->code.at[r.block] = s.code;
    if (job->status) *job->status = s;
}

ty_status ty_tetflow_push(ty_tetflow* tf, const ty_liquid* liquid, double dt, double solve_dt)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    int64_t n = m->state.mesh.n_tets, blocks = (n + BATCH - 1) / BATCH;
    tf->force.n = 0;
    TY_TRY(open_sources(tf));
    bool gravity = !tf->def->reduced_pressure;
    if (!gravity && !ty_world_has_forces(tf->world) && !ty_world_steers(tf->world) &&
        !ty_world_n_sources(tf->world))
        return ty_ok();
    if (!ty_array_resize(&tf->force, n) || !ty_array_resize(&tf->code, blocks))
        return ty_no_memory("forces");
    push_job job = {
        tf, m, liquid, dt, solve_dt, gravity ? ty_world_gravity(tf->world) : ty_vec(0, 0, 0), NULL};
    ty_parallel_for(n, BATCH, push_block, &job);
    for (int64_t b = 0; b < blocks; ++b) {
        if (tf->code.at[b] == TY_OK) continue;
        ty_status status;
        int64_t begin = b * BATCH, end = begin + BATCH;
        job.status = &status;
        push_block(&job, (ty_range){begin, end < n ? end : n, b, 0});
        return status;
    }
    mark_held(&m->state);
    return ty_ok();
}
