// SPDX-License-Identifier: Apache-2.0
// The pressure of [Chentanez2007] section 3.3.2: one unknown per tet, one normal velocity per face.
// For comparison: the gradient between two tets' pressures is not exact for linear ones.
//
//     F = F* + w A (x_a - x_b) / d,  d = 3 (V_a + V_b) / (4 A)      flux out of tet a; w the open share of the face
//     sum of F over the faces of a tet, and of what the wall in it takes = V D
//
// At air faces x is given at the face, d = 3 V_a / (4 A). With [Gong2008]'s outside share s > 0
// there is a pressure s x_a outside instead, as far from the face as the one inside.
#include <string.h>

#include "core/parallel.h"
#include "solve/tet/cut_tet.h"
#include "solve/tet/projector.h"

enum { BLOCK = 1024, MAX_ENTRIES = 5 };

// Faces less open than this are closed.
static const double CLOSED = 1e-9;
// What holds a vector that four fluxes do not, in parts of the trace.
static const double HOLD = 1e-9;

static int other_tet(const ty_tet_mesh* m, int face, int tet)
{
    const int* side = m->face_tet[face];
    return side[0] == tet ? side[1] : side[0];
}

// w A / d of a face as seen from a tet, and where the other side is: a tet, or -1 for air. 0 when
// it is closed.
static double conductance(const ty_tet_job* job, int tet, int i, const ty_tet_geometry* g,
                          int* other)
{
    const ty_tet_state* s = job->s;
    int f = s->mesh.tet_face[tet][i];
    *other = other_tet(&s->mesh, f, tet);
    if (*other < 0 ? job->p->face_unknown.at[f] != TY_FACE_GIVEN : s->open.at[*other] == 0.0)
        return 0.0;
    double open = ty_tet_face_open(s, tet, i), volume = g->volume;
    if (open < CLOSED) return 0.0;
    if (*other >= 0) volume += ty_tet_mesh_geometry(&s->mesh, *other).volume;
    ty_vec3 S = ty_load3(g->S[i]);
    return open * ty_dot(S, S) / (0.75 * volume);
}

static double given_at_face(const ty_tet_job* job, int tet, int i)
{
    double sum = 0.0;
    for (int j = 0; j < 4; ++j) sum += j == i ? 0.0 : job->p->given.at[job->s->mesh.tet[tet][j]];
    return sum / 3.0;
}

// The part of an air face's conductance that is left with a pressure outside.
static double outside(const ty_tet_projector* p)
{
    return p->outside_share > 0.0 ? 0.5 * (1.0 - p->outside_share) : 1.0;
}

// The flux of u* out of a tet through the open part of a face: of the vector between the tets' by
// their distances.
static double carried_flux(const ty_tet_job* job, int tet, int i, const ty_tet_geometry* g,
                           int other)
{
    const ty_tet_state* s = job->s;
    ty_vec3 u = s->u.at[tet];
    if (other >= 0) {
        double there = ty_tet_mesh_geometry(&s->mesh, other).volume;
        u = (there * u + g->volume * s->u.at[other]) / (g->volume + there);
    }
    return ty_tet_face_open(s, tet, i) * ty_dot(ty_load3(g->S[i]), u);
}

static void flux_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    ty_tet_state* s = job->s;
    for (int64_t f = r.begin; f < r.end; ++f) {
        int t = s->mesh.face_tet[f][0], i = 0, other;
        double flux = 0.0;
        if (s->open.at[t] == 0.0) {
            s->flux.at[f] = flux;
            continue;
        }
        while (s->mesh.tet_face[t][i] != f) ++i;
        ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, t);
        if (conductance(job, t, i, &g, &other) > 0.0)
            flux = job->p->fluxes_given ? s->flux.at[f] : carried_flux(job, t, i, &g, other);
        s->flux.at[f] = flux;
    }
}

static void fill_row(const ty_tet_job* job, int tet, ty_csr* a, int* at)
{
    const ty_tet_state* s = job->s;
    ty_tet_projector* p = job->p;
    int k = p->tet_unknown.at[tet], diagonal = (*at)++;
    ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, tet);
    double at_wall[4],
        rhs = s->open.at[tet] * g.volume * ty_wanted(job, tet) - ty_tet_wall_flux(s, tet, at_wall);
    a->col[diagonal] = k;
    a->val[diagonal] = 0.0;
    for (int i = 0; i < 4; ++i) {
        int f = s->mesh.tet_face[tet][i], other;
        double c = conductance(job, tet, i, &g, &other);
        rhs -= s->mesh.face_tet[f][0] == tet ? s->flux.at[f] : -s->flux.at[f];
        if (c > 0.0 && other < 0) {
            a->val[diagonal] += c * outside(p);
            rhs += c * outside(p) * given_at_face(job, tet, i);
        } else if (c > 0.0) {
            a->val[diagonal] += c;
            a->col[*at] = p->tet_unknown.at[other];
            a->val[(*at)++] = -c;
        }
    }
    p->rhs.at[k] = rhs;
}

static ty_status make_room(const ty_tet_job* job)
{
    ty_tet_projector* p = job->p;
    const ty_tet_state* s = job->s;
    int n = 0;
    if (!ty_array_resize(&p->tet_unknown, s->mesh.n_tets)) return ty_no_memory("pressure");
    for (int t = 0; t < s->mesh.n_tets; ++t) p->tet_unknown.at[t] = s->open.at[t] > 0.0 ? n++ : -1;
    p->n_unknowns = n;
    if (!ty_array_resize(&p->rhs, n) || !ty_array_resize(&p->guess, n) ||
        !ty_array_resize(&p->x, n))
        return ty_no_memory("pressure");
    return ty_csr_reserve(&p->matrix, n, n, MAX_ENTRIES * (int64_t)n);
}

void ty_tet_projector_take_fluxes(ty_tet_projector* p) { p->fluxes_given = true; }

ty_status ty_tet_two_point_assemble(const ty_tet_job* job)
{
    ty_tet_projector* p = job->p;
    TY_TRY(ty_tet_mark_faces(job));
    TY_TRY(make_room(job));
    ty_parallel_for(job->s->mesh.n_faces, BLOCK, flux_block, (void*)job);
    p->fluxes_given = false;
    int at = 0;
    for (int t = 0; t < job->s->mesh.n_tets; ++t) {
        if (p->tet_unknown.at[t] < 0) continue;
        fill_row(job, t, &p->matrix, &at);
        p->matrix.row_start[p->tet_unknown.at[t] + 1] = at;
    }
    ty_csr_sort(&p->matrix);
    return ty_ok();
}

void ty_tet_two_point_guess(const ty_tet_job* job)
{
    const ty_tet_state* s = job->s;
    for (int t = 0; t < s->mesh.n_tets; ++t) {
        int k = job->p->tet_unknown.at[t];
        if (k < 0) continue;
        const int* v = s->mesh.tet[t];
        double sum = s->pressure.at[v[0]] + s->pressure.at[v[1]] + s->pressure.at[v[2]] +
                     s->pressure.at[v[3]];
        job->p->guess.at[k] = 0.25 * job->solve_dt * sum;
    }
}

// Symmetric 3 x 3 system by Cramer's rule.
static ty_vec3 solve3(const ty_vec3 m[3], ty_vec3 b)
{
    ty_vec3 yz = ty_cross(m[1], m[2]), zx = ty_cross(m[2], m[0]), xy = ty_cross(m[0], m[1]);
    double det = ty_dot(m[0], yz);
    return det > 0.0 ? (b[0] * yz + b[1] * zx + b[2] * xy) / det : ty_vec(0, 0, 0);
}

// The vector that fits the fluxes of a tet best: exactly, when they cancel and the tet is not cut
// (the closed form of notes section 2 is then the same). `wall` is the flux into the solid.
static ty_vec3 fit_vector(const ty_tet_state* s, int tet, const ty_tet_geometry* g,
                          const double flux[4], double wall)
{
    ty_vec3 m[3] = {ty_vec(0, 0, 0), ty_vec(0, 0, 0), ty_vec(0, 0, 0)}, b = m[0], x[4], S[5];
    double d[4], w[5];
    for (int i = 0; i < 4; ++i) {
        x[i] = ty_load3(s->mesh.vert[s->mesh.tet[tet][i]]);
        d[i] = s->solid.at[s->mesh.tet[tet][i]];
        S[i] = ty_load3(g->S[i]);
    }
    for (int i = 0; i < 4; ++i) {
        w[i] = ty_tet_face_open(s, tet, i);
    }
    S[4] = ty_tet_wall_part(d, x).area;
    w[4] = 1.0;
    double trace = 0.0;
    for (int i = 0; i < 5; ++i) {
        double size = ty_norm(S[i]);
        if (size == 0.0) continue;
        for (int axis = 0; axis < 3; ++axis) m[axis] += w[i] * S[i][axis] / size * S[i];
        b += (i < 4 ? flux[i] : wall) / size * S[i];
        trace += w[i] * size;
    }
    for (int axis = 0; axis < 3; ++axis) m[axis][axis] += HOLD * trace;
    return solve3(m, b + HOLD * trace * s->u.at[tet]);
}

// New fluxes; the old ones stay in back_flux.
static void change_flux(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    ty_tet_state* s = job->s;
    const ty_tet_projector* p = job->p;
    for (int64_t f = r.begin; f < r.end; ++f) {
        int t = s->mesh.face_tet[f][0], i = 0, other;
        p->back_flux.at[f] = s->flux.at[f];
        if (s->open.at[t] == 0.0) continue;
        while (s->mesh.tet_face[t][i] != f) ++i;
        ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, t);
        double c = conductance(job, t, i, &g, &other), x = p->x.at[p->tet_unknown.at[t]];
        if (c == 0.0) continue;
        if (other < 0) s->flux.at[f] += c * outside(p) * (x - given_at_face(job, t, i));
        else s->flux.at[f] += c * (x - p->x.at[p->tet_unknown.at[other]]);
    }
}

static void update_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    ty_tet_state* s = job->s;
    for (int64_t t = r.begin; t < r.end; ++t) {
        s->a.at[t] = ty_vec(0, 0, 0);
        if (s->open.at[t] == 0.0) continue;
        double after[4], before[4], at_wall[4], wall = ty_tet_wall_flux(s, (int)t, at_wall);
        for (int i = 0; i < 4; ++i) {
            int f = s->mesh.tet_face[t][i];
            double sign = s->mesh.face_tet[f][0] == t ? 1.0 : -1.0;
            after[i] = sign * s->flux.at[f];
            before[i] = sign * job->p->back_flux.at[f];
        }
        ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, (int)t);
        ty_vec3 fitted = fit_vector(s, (int)t, &g, before, wall);
        s->u.at[t] = fit_vector(s, (int)t, &g, after, wall);
        s->a.at[t] = (s->u.at[t] - fitted) / job->solve_dt;
    }
}

static void make_outflow(const ty_tet_job* job)
{
    ty_tet_state* s = job->s;
    const ty_tet_mesh* m = &s->mesh;
    if (m->n_verts) memset(s->outflow.at, 0, sizeof(double) * (size_t)m->n_verts);
    for (int f = m->n_inner_faces; f < m->n_faces; ++f) {
        int t = m->face_tet[f][0];
        for (int i = 0; i < 4; ++i)
            if (m->tet_face[t][i] != f && s->vert_kind.at[m->tet[t][i]] & TY_VERT_AIR)
                s->outflow.at[m->tet[t][i]] += s->flux.at[f] / 3.0;
    }
}

static void make_pressure(const ty_tet_job* job)
{
    const ty_tet_projector* p = job->p;
    ty_tet_state* s = job->s;
    const ty_tet_mesh* m = &s->mesh;
    for (int v = 0; v < m->n_verts; ++v) s->pressure.at[v] = p->weight.at[v] = 0.0;
    for (int t = 0; t < m->n_tets; ++t) {
        if (s->open.at[t] == 0.0) continue;
        double volume = ty_tet_mesh_geometry(m, t).volume, x = p->x.at[p->tet_unknown.at[t]];
        for (int i = 0; i < 4; ++i) {
            s->pressure.at[m->tet[t][i]] += volume * x / job->solve_dt;
            p->weight.at[m->tet[t][i]] += volume;
        }
    }
    for (int v = 0; v < m->n_verts; ++v)
        if (s->vert_kind.at[v] & TY_VERT_AIR) s->pressure.at[v] = s->given.at[v];
        else if (p->weight.at[v] > 0.0) s->pressure.at[v] /= p->weight.at[v];
}

void ty_tet_two_point_apply(const ty_tet_job* job)
{
    ty_parallel_for(job->s->mesh.n_faces, BLOCK, change_flux, (void*)job);
    ty_parallel_for(job->s->mesh.n_tets, BLOCK, update_block, (void*)job);
    make_outflow(job);
    make_pressure(job);
}
