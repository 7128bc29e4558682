// SPDX-License-Identifier: Apache-2.0
// The projection of solver `tet`: system, solve, new velocities, and what is measured of them.
#include <string.h>

#include "core/log.h"
#include "core/parallel.h"
#include "linear/vector.h"
#include "solve/tet/projector.h"

enum { BLOCK = 4096, LAYERS = 8 };

// A residual is a flux jump. The solver measures all of them together, the tolerance is for the
// largest: 3 to 5 times the share of the mean.
static const double JUMPS = 0.2;

// `face` asks for jumps of the tolerance times the largest flux; they are solved to this part of it.
// (In a splash the guess's jumps are a hundredth of the fluxes: solved relative to them alone, the
// largest jump was 1e-8 of the largest flux where 1e-6 was asked for.)
static const double JUMP_MARGIN = 0.5;

void ty_tet_state_free(ty_tet_state* s)
{
    ty_tet_mesh_free(&s->mesh);
    ty_array_free(&s->solid);
    ty_array_free(&s->open);
    ty_array_free(&s->solid_velocity);
    ty_array_free(&s->vert_kind);
    ty_array_free(&s->held);
    ty_array_free(&s->given);
    ty_array_free(&s->u);
    ty_array_free(&s->a);
    ty_array_free(&s->flux);
    ty_array_free(&s->outflow);
    ty_array_free(&s->pressure);
}

ty_status ty_tet_projector_create(ty_tet_projector** out, ty_tet_pressure scheme,
                                  const ty_solve_def* def)
{
    *out = NULL;
    ty_tet_projector* p = ty_alloc_zero(1, sizeof *p);
    if (!p) return ty_no_memory("pressure solver");
    p->scheme = scheme;
    p->paper_air = def->paper && strcmp(def->obstacles, "conform") == 0;
    p->outside_share = def->outside_share;
    p->tolerance = def->tolerance;
    ty_linear_def linear = ty_linear_default();
    if (def->paper) linear.method = TY_LINEAR_PAPER, linear.sweeps = def->sweeps;
    linear.tolerance = JUMPS * def->tolerance;
    ty_status status = ty_linear_create(&p->linear, &linear);
    if (status.code != TY_OK) ty_free(p);
    else *out = p;
    return status;
}

void ty_tet_projector_rest(ty_tet_projector* p)
{
    ty_linear_rest(p->linear);
    ty_csr_free(&p->matrix);
    ty_csr_free(&p->prolongation);
    ty_csr_free(&p->coarse);
    ty_array_free(&p->face_unknown);
    ty_array_free(&p->vert_unknown);
    ty_array_free(&p->vert_coarse);
    ty_array_free(&p->unknown_face);
    ty_array_free(&p->unknown_vert);
    ty_array_free(&p->around_start);
    ty_array_free(&p->around);
    ty_array_free(&p->seen);
    ty_array_free(&p->row_col);
    ty_array_free(&p->row_val);
    ty_array_free(&p->tet_unknown);
    ty_array_free(&p->given);
    ty_array_free(&p->rhs);
    ty_array_free(&p->guess);
    ty_array_free(&p->x);
    ty_array_free(&p->back_flux);
    ty_array_free(&p->weight);
    ty_array_free(&p->dropped);
    ty_array_free(&p->known);
}

void ty_tet_projector_destroy(ty_tet_projector* p)
{
    if (!p) return;
    ty_tet_projector_rest(p);
    ty_linear_destroy(p->linear);
    ty_free(p);
}

static void given_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    const ty_tet_state* s = job->s;
    for (int64_t v = r.begin; v < r.end; ++v)
        job->p->given.at[v] = s->vert_kind.at[v] & TY_VERT_AIR ? job->solve_dt * s->given.at[v]
                                                               : 0.0;
}

static ty_status make_room(const ty_tet_job* job)
{
    ty_tet_projector* p = job->p;
    ty_tet_state* s = job->s;
    const ty_tet_mesh* m = &s->mesh;
    int64_t had = s->pressure.n;
    if (!ty_array_resize(&s->pressure, m->n_verts) || !ty_array_resize(&p->given, m->n_verts) ||
        (p->scheme == TY_TET_TWO_POINT && !ty_array_resize(&s->flux, m->n_faces)))
        return ty_no_memory("projection");
    if (had != m->n_verts && m->n_verts)
        memset(s->pressure.at, 0, sizeof(double) * (size_t)m->n_verts);
    ty_parallel_for(m->n_verts, BLOCK, given_block, (void*)job);
    return ty_ok();
}

// The multigrid's memory is given back first.
static ty_status make_room_for_result(const ty_tet_job* job)
{
    ty_tet_projector* p = job->p;
    ty_tet_state* s = job->s;
    const ty_tet_mesh* m = &s->mesh;
    ty_linear_rest(p->linear);
    if (!ty_array_resize(&s->a, m->n_tets) || !ty_array_resize(&s->flux, m->n_faces) ||
        !ty_array_resize(&s->outflow, m->n_verts) || !ty_array_resize(&p->weight, m->n_verts) ||
        !ty_array_resize(&p->back_flux, m->n_faces) || !ty_array_resize(&p->dropped, m->n_tets) ||
        !ty_array_resize(&p->known, m->n_tets))
        return ty_no_memory("projection");
    return ty_ok();
}

static void add_guess(void* ctx, ty_range r)
{
    const ty_tet_projector* p = ctx;
    for (int64_t k = r.begin; k < r.end; ++k) p->x.at[k] += p->guess.at[k];
}

// Jumps that are small enough, whatever they were with the guess.
static double allowed_jump(const ty_tet_job* job)
{
    if (job->p->scheme != TY_TET_FACE) return 0.0;
    return JUMP_MARGIN * job->p->tolerance * ty_tet_linear_sample_flux(job);
}

// Ends at jumps that are allowed, or where they have all fallen as far as the solver's tolerance
// says, whatever comes first: near rest that is sooner. Goes on where the fluxes came out much
// smaller than the guess had them.
static ty_status solve_change(const ty_tet_job* job, ty_linear_stats* stats)
{
    ty_tet_projector* p = job->p;
    double allowed = allowed_jump(job);
    TY_TRY(ty_linear_solve_to(p->linear, allowed, p->rhs.at, p->x.at, stats));
    double now = allowed_jump(job);
    if (now >= JUMP_MARGIN * allowed) return ty_ok();
    int before = stats->iterations;
    TY_TRY(ty_linear_solve_to(p->linear, now, p->rhs.at, p->x.at, stats));
    stats->iterations += before;
    return ty_ok();
}

// Solves for the change from the guess, so that a good one makes the result better; a bad one is
// not used. With nothing to do the result is exactly zero.
static ty_status solve(const ty_tet_job* job, ty_solve_stats* stats)
{
    ty_tet_projector* p = job->p;
    int n = p->n_unknowns;
    stats->unknowns = n;
    ty_vector_zero(n, p->x.at);
    double wanted = ty_vector_dot(n, p->rhs.at, p->rhs.at);
    if (wanted == 0.0) return ty_ok();
    ty_csr_residual(&p->matrix, p->guess.at, p->rhs.at, p->x.at);
    if (ty_vector_dot(n, p->x.at, p->x.at) < wanted)
        memcpy(p->rhs.at, p->x.at, sizeof(double) * (size_t)n);
    else ty_vector_zero(n, p->guess.at);
    ty_vector_zero(n, p->x.at);
    ty_linear_stats linear;
    bool face = p->scheme == TY_TET_FACE;
    TY_TRY(ty_linear_setup_taking(p->linear, &p->matrix, face ? &p->prolongation : NULL,
                                  face ? &p->coarse : NULL));
    TY_TRY(solve_change(job, &linear));
    stats->iterations += linear.iterations;
    stats->residual = fmax(stats->residual, linear.last_residual);
    if (!linear.converged)
        ty_log(TY_LOG_WARNING, "pressure: residual %.1e after %d iterations", linear.last_residual,
               linear.iterations);
    ty_parallel_for(n, BLOCK, add_guess, p);
    return ty_ok();
}

// Velocities of dropped tets: the mean of the face neighbours that have one, layer by layer.
static void fill_dropped(const ty_tet_job* job)
{
    ty_tet_projector* p = job->p;
    ty_tet_state* s = job->s;
    const ty_tet_mesh* m = &s->mesh;
    int n = 0;
    for (int t = 0; t < m->n_tets; ++t) {
        p->known.at[t] = s->open.at[t] > 0.0;
        if (!p->known.at[t]) p->dropped.at[n++] = t, s->u.at[t] = s->a.at[t] = ty_vec(0, 0, 0);
    }
    for (int layer = 0; layer < LAYERS && n; ++layer) {
        for (int k = 0; k < n; ++k) {
            int t = p->dropped.at[k], count = 0;
            ty_vec3 u = ty_vec(0, 0, 0), a = u;
            for (int i = 0; i < 4; ++i) {
                const int* side = m->face_tet[m->tet_face[t][i]];
                int other = side[0] == t ? side[1] : side[0];
                if (other < 0 || p->known.at[other] != 1) continue;
                u += s->u.at[other], a += s->a.at[other], ++count;
            }
            if (count == 0) continue;
            s->u.at[t] = u / count, s->a.at[t] = a / count;
            p->known.at[t] = 2;
        }
        int left = 0;
        for (int k = 0; k < n; ++k)
            if (p->known.at[p->dropped.at[k]] == 2) p->known.at[p->dropped.at[k]] = 1;
            else p->dropped.at[left++] = p->dropped.at[k];
        n = left;
    }
}

static double largest_flux(void* ctx, ty_range r)
{
    const ty_tet_state* s = ctx;
    double top = 0.0;
    for (int64_t f = r.begin; f < r.end; ++f) top = fmax(top, fabs(s->flux.at[f]));
    return top;
}

static double largest_jump(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    double top = 0.0;
    for (int64_t f = r.begin; f < r.end; ++f) {
        const int* side = job->s->mesh.face_tet[f];
        if (job->p->face_unknown.at[f] < 0 || side[1] < 0) continue;
        if (job->s->open.at[side[0]] > 0.0 && job->s->open.at[side[1]] > 0.0)
            top = fmax(top, fabs(job->s->flux.at[f] + job->p->back_flux.at[f]));
    }
    return top;
}

// |net flux / volume - wanted divergence| of tets whose faces all have a flux of their own.
static double largest_net(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    const ty_tet_mesh* m = &job->s->mesh;
    double top = 0.0;
    for (int64_t t = r.begin; t < r.end; ++t) {
        double at_wall[4], net = job->p->scheme == TY_TET_TWO_POINT
                                     ? ty_tet_wall_flux(job->s, (int)t, at_wall)
                                     : 0.0;
        bool own = job->s->open.at[t] > 0.0;
        for (int i = 0; i < 4; ++i) {
            int f = m->tet_face[t][i];
            own &= job->p->scheme == TY_TET_TWO_POINT ||
                   job->p->face_unknown.at[f] != TY_FACE_NODAL;
            net += m->face_tet[f][0] == t ? job->s->flux.at[f] : -job->s->flux.at[f];
        }
        double open = job->s->open.at[t] * ty_tet_mesh_geometry(m, (int)t).volume;
        if (own) top = fmax(top, fabs(net / open - ty_wanted(job, (int)t)));
    }
    return top;
}

ty_status ty_tet_project(ty_tet_projector* p, ty_tet_state* s, double solve_dt,
                         const double* divergence, ty_solve_stats* stats)
{
    ty_tet_job job = {p, s, solve_dt, divergence};
    const ty_tet_mesh* m = &s->mesh;
    TY_TRY(make_room(&job));
    bool two_point = p->scheme == TY_TET_TWO_POINT;
    TY_TRY(two_point ? ty_tet_two_point_assemble(&job) : ty_tet_linear_assemble(&job));
    (two_point ? ty_tet_two_point_guess : ty_tet_linear_guess)(&job);
    ty_array_free(&p->unknown_face);    // of no use to the solve, which needs the most memory
    ty_array_free(&p->vert_coarse);
    ty_array_free(&p->around_start);
    TY_TRY(solve(&job, stats));
    TY_TRY(make_room_for_result(&job));
    (two_point ? ty_tet_two_point_apply : ty_tet_linear_apply)(&job);
    if (m->n_tets == 0) return ty_ok();
    double jump = two_point ? 0.0 : ty_parallel_max(m->n_faces, BLOCK, largest_jump, &job);
    if (!two_point) ty_tet_linear_flux(&job);
    double flux = ty_parallel_max(m->n_faces, BLOCK, largest_flux, s);
    stats->flux_jump = flux > 0.0 ? jump / flux : 0.0;
    stats->max_divergence = ty_parallel_max(m->n_tets, BLOCK, largest_net, &job);
    fill_dropped(&job);
    return ty_ok();
}
