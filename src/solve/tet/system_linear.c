// SPDX-License-Identifier: Apache-2.0
// Pressures that are linear in each tet: `face` (Crouzeix-Raviart) and `nodal`, one velocity vector
// per tet.
//
// With the shape function q_k of unknown k, V grad q_k = S_k in a tet, open share phi, wanted
// divergence D:
//     sum_t phi/V S_k . S_l x_l = sum_t phi S_k . u* + phi V D mean(q_k) - q_k(wall) N . u_solid
// with N the area vector of the wall in the tet, into the solid.
//
// For a face between uncut tets S_k are its area vectors as seen from both: the flux S . u + V D /
// 4 out of one tet is that into the other. Where faces of cut tets take the mean of their vertices
// this is P^T A P with A = sum phi S.S/V.
//
// A held tet keeps its velocity: no term on the left, S . u on the right, so that what it lets out is exactly what
// comes in beside it.
//
// Moving solids push at the wall, not by (1 - phi) S_k . u_solid in the volume: both are exact for
// rigid walls, but where a moving solid meets a still one the velocity in the volume has sources (a
// piston in a tank gave 11 % too much).
#include <limits.h>
#include <string.h>

#include "core/parallel.h"
#include "linear/scan.h"
#include "solve/tet/projector.h"

enum { BLOCK = 1024, SAMPLES = 100000 };

// One row being made, columns rising.
typedef struct row {
    int n, *col;
    double *val, rhs;
} row;

static void add(row* r, int col, double val)
{
    int at = r->n;
    while (at > 0 && r->col[at - 1] >= col) --at;
    if (at < r->n && r->col[at] == col) {
        r->val[at] += val;
        return;
    }
    for (int k = r->n++; k > at; --k) r->col[k] = r->col[k - 1], r->val[k] = r->val[k - 1];
    r->col[at] = col;
    r->val[at] = val;
}

// What flows into the wall, as far as the shape function at a corner counts it, or at the face
// opposite: all that goes through that face when it is closed. (Faces of their own belong to whole
// tets, which have no other wall.)
static double wall_part(const ty_tet_job* job, int tet, const ty_tet_local* local, int own)
{
    const ty_tet_state* s = job->s;
    ty_vec3 velocity = ty_tet_solid_velocity(s, tet);
    double at[4];
    if (ty_dot(velocity, velocity) == 0.0) return 0.0;
    if (local->corner[own] < 0)
        return ty_tet_face_open(s, tet, local->corner[own] + 4) == 0.0
                   ? ty_dot(local->S[own], velocity)
                   : 0.0;
    ty_tet_wall_flux(s, tet, at);
    return at[local->corner[own]];
}

// What a tet has to say to the row of unknown k.
static void add_tet(const ty_tet_job* job, int tet, int k, row* r)
{
    const ty_tet_state* s = job->s;
    double open = s->open.at[tet];
    if (open == 0.0) return;
    ty_tet_local local;
    ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, tet);
    ty_tet_make_local(job, tet, &g, &local);
    double scale = open / local.volume;
    int own = 0;
    while (own < local.n && local.unknown[own] != k) ++own;
    if (own == local.n) return;
    ty_vec3 S = local.S[own];
    r->rhs += open *
              (ty_dot(S, s->u.at[tet]) + local.volume * ty_wanted(job, tet) * local.mean[own]);
    if (ty_tet_is_held(s, tet)) return;
    r->rhs -= scale * ty_dot(S, local.known);
    r->rhs -= wall_part(job, tet, &local, own);
    for (int l = 0; l < local.n; ++l) add(r, local.unknown[l], scale * ty_dot(S, local.S[l]));
}

// The tets that have a say in row k: how many, and the n-th.
static int n_tets_of_row(const ty_tet_job* job, int k)
{
    const ty_tet_projector* p = job->p;
    if (k < p->n_face_unknowns) return job->s->mesh.face_tet[p->unknown_face.at[k]][1] >= 0 ? 2 : 1;
    const int* start = p->around_start.at + p->unknown_vert.at[k - p->n_face_unknowns];
    return start[1] - start[0];
}

static int tet_of_row(const ty_tet_job* job, int k, int n)
{
    const ty_tet_projector* p = job->p;
    if (k < p->n_face_unknowns) return job->s->mesh.face_tet[p->unknown_face.at[k]][n];
    int v = p->unknown_vert.at[k - p->n_face_unknowns];
    return p->around.at[p->around_start.at[v] + n] / 4;
}

static row empty_row(const ty_tet_projector* p, int worker)
{
    int64_t at = (int64_t)p->row_room * worker;
    return (row){.col = p->row_col.at + at, .val = p->row_val.at + at};
}

static int count_row(const ty_tet_job* job, int k, int worker)
{
    row r = empty_row(job->p, worker);
    int n_tets = n_tets_of_row(job, k), unknown[8];
    for (int i = 0; i < n_tets; ++i) {
        int tet = tet_of_row(job, k, i);
        if (job->s->open.at[tet] == 0.0 || ty_tet_is_held(job->s, tet)) continue;
        int n = ty_tet_local_unknowns(job, tet, unknown);
        bool has = false;
        for (int l = 0; l < n; ++l) has |= unknown[l] == k;
        for (int l = 0; l < n && has; ++l) add(&r, unknown[l], 0.0);
    }
    return r.n;
}

// Most rows are those of faces whose tets have no face that is a mean of vertices: such a row has
// the faces of its tets, each once.
static bool is_plain(const ty_tet_job* job, int k)
{
    const ty_tet_mesh* m = &job->s->mesh;
    if (k >= job->p->n_face_unknowns) return false;
    const int *tets = m->face_tet[job->p->unknown_face.at[k]], *unknown = job->p->face_unknown.at;
    bool plain = true;
    for (int side = 0; side < 2 && tets[side] >= 0; ++side)
        for (int i = 0; i < 4; ++i) plain &= unknown[m->tet_face[tets[side]][i]] != TY_FACE_NODAL;
    return plain;
}

static int count_plain_row(const ty_tet_job* job, int k)
{
    const ty_tet_mesh* m = &job->s->mesh;
    const int *tets = m->face_tet[job->p->unknown_face.at[k]], *unknown = job->p->face_unknown.at;
    int n = 1;
    for (int side = 0; side < 2 && tets[side] >= 0; ++side) {
        if (job->s->open.at[tets[side]] == 0.0 || ty_tet_is_held(job->s, tets[side])) continue;
        for (int i = 0; i < 4; ++i) n += unknown[m->tet_face[tets[side]][i]] >= 0;
        --n;    // its own
    }
    return n;
}

static void count_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    for (int64_t k = r.begin; k < r.end; ++k)
        job->p->matrix.row_start[k + 1] = is_plain(job, (int)k) ? count_plain_row(job, (int)k)
                                                                : count_row(job, (int)k, r.worker);
}

// The mean of a face that is given.
static double given_mean(const ty_tet_job* job, int tet, int i)
{
    const int* vert = job->s->mesh.tet[tet];
    double sum = 0.0;
    for (int j = 0; j < 4; ++j) sum += j == i ? 0.0 : job->p->given.at[vert[j]];
    return sum / 3.0;
}

// Adds a tet's entries behind those that are there; its part of the diagonal is returned.
static double add_plain_tet(const ty_tet_job* job, int tet, int f, row* r)
{
    const ty_tet_state* s = job->s;
    const int* face = s->mesh.tet_face[tet];
    double open = s->open.at[tet], volume, product[4];
    if (open == 0.0) return 0.0;
    int own = (face[1] == f) + 2 * (face[2] == f) + 3 * (face[3] == f);
    ty_vec3 S = ty_tet_mesh_products(&s->mesh, tet, own, &volume, product),
            velocity = ty_tet_solid_velocity(s, tet);
    r->rhs += open * (ty_dot(S, s->u.at[tet]) + volume * ty_wanted(job, tet) * 0.25);
    if (ty_dot(velocity, velocity) != 0.0 && ty_tet_face_open(s, tet, own) == 0.0)
        r->rhs -= ty_dot(S, velocity);
    if (ty_tet_is_held(s, tet)) return 0.0;
    // Nobody could guess which of the four is the row's own.
    for (int i = 0; i < 4; ++i) {
        int k = job->p->face_unknown.at[face[i]];
        r->col[r->n] = k, r->val[r->n] = open * product[i];
        r->n += k >= 0 && i != own;
        if (k < 0) r->rhs -= open * product[i] * given_mean(job, tet, i);
    }
    return open * product[own];
}

// A row of at most seven entries, put in order by counting the smaller ones.
static double fill_plain_row(const ty_tet_job* job, int k, int* col, double* val)
{
    int f = job->p->unknown_face.at[k], unsorted[8], at[8] = {0};
    const int* tets = job->s->mesh.face_tet[f];
    double entry[8];
    row r = {.n = 1, .col = unsorted, .val = entry};
    unsorted[0] = k;
    entry[0] = add_plain_tet(job, tets[0], f, &r);
    if (tets[1] >= 0) entry[0] += add_plain_tet(job, tets[1], f, &r);
    for (int i = r.n; i < 8; ++i) unsorted[i] = INT_MAX;
    for (int j = 0; j < 8; ++j)
        for (int i = 0; i < 8; ++i) at[i] += unsorted[j] < unsorted[i];
    for (int i = 0; i < r.n; ++i) col[at[i]] = unsorted[i], val[at[i]] = entry[i];
    return r.rhs;
}

static void fill_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    ty_csr* a = &job->p->matrix;
    for (int64_t k = r.begin; k < r.end; ++k) {
        if (is_plain(job, (int)k)) {
            int at = a->row_start[k];
            job->p->rhs.at[k] = fill_plain_row(job, (int)k, a->col + at, a->val + at);
            continue;
        }
        row made = empty_row(job->p, r.worker);
        int n_tets = n_tets_of_row(job, (int)k);
        for (int i = 0; i < n_tets; ++i) add_tet(job, tet_of_row(job, (int)k, i), (int)k, &made);
        memcpy(a->col + a->row_start[k], made.col, sizeof(int) * (size_t)made.n);
        memcpy(a->val + a->row_start[k], made.val, sizeof(double) * (size_t)made.n);
        job->p->rhs.at[k] = made.rhs;
    }
}

static void count_columns(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    const ty_tet_projector* p = job->p;
    const ty_tet_mesh* m = &job->s->mesh;
    for (int64_t k = r.begin; k < r.end; ++k) {
        int n = k >= p->n_face_unknowns;
        if (!n) {
            int f = p->unknown_face.at[k], t = m->face_tet[f][0];
            for (int i = 0; i < 4; ++i)
                n += m->tet_face[t][i] != f && p->vert_coarse.at[m->tet[t][i]] >= 0;
        }
        p->prolongation.row_start[k + 1] = n;
    }
}

static void fill_columns(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    const ty_tet_projector* p = job->p;
    const ty_tet_mesh* m = &job->s->mesh;
    const ty_csr* c = &p->prolongation;
    for (int64_t k = r.begin; k < r.end; ++k) {
        int first = c->row_start[k], at = first;
        if (k >= p->n_face_unknowns) {
            c->col[at] = p->vert_coarse.at[p->unknown_vert.at[k - p->n_face_unknowns]];
            c->val[at] = 1.0;
            continue;
        }
        int f = p->unknown_face.at[k], t = m->face_tet[f][0];
        for (int i = 0; i < 4; ++i) {
            int col = p->vert_coarse.at[m->tet[t][i]], to = at;
            if (m->tet_face[t][i] == f || col < 0) continue;
            for (; to > first && c->col[to - 1] > col; --to) c->col[to] = c->col[to - 1];
            c->col[to] = col;
            c->val[at++] = 1.0 / 3.0;
        }
    }
}

// A face unknown is the mean of its vertices, a vertex unknown itself.
static ty_status make_prolongation(const ty_tet_job* job)
{
    ty_tet_projector* p = job->p;
    int n = p->n_unknowns;
    TY_TRY(ty_csr_reserve(&p->prolongation, n, p->n_coarse, 0));
    ty_parallel_for(n, BLOCK, count_columns, (void*)job);
    int entries = ty_scan_rows(n, p->prolongation.row_start);
    TY_TRY(ty_csr_reserve(&p->prolongation, n, p->n_coarse, entries));
    p->prolongation.row_start[n] = entries;
    ty_parallel_for(n, BLOCK, fill_columns, (void*)job);
    return ty_ok();
}

// P^T A P is the matrix of pressures that are linear between vertices, zero at those without a
// column: a face's mean of such a pressure is its value there, whoever has the unknown. With the
// area vectors of the faces opposite, an entry is the sum of phi / V S_v . S_w / 9 over the tets of
// both. (As a product of matrices it took an eighth of a projection.)
static void count_coarse_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    const ty_tet_projector* p = job->p;
    int* seen = p->seen.at + (int64_t)p->n_coarse * r.worker;
    for (int64_t v = r.begin; v < r.end; ++v) {
        int i = p->vert_coarse.at[v], n = 0;
        if (i < 0) continue;
        for (int k = p->around_start.at[v]; k < p->around_start.at[v + 1]; ++k)
            for (int j = 0; j < 4; ++j) {
                int t = p->around.at[k] / 4, col = p->vert_coarse.at[job->s->mesh.tet[t][j]];
                if (col < 0 || seen[col] == i || ty_tet_is_held(job->s, t)) continue;
                seen[col] = i;
                ++n;
            }
        p->coarse.row_start[i + 1] = n;
    }
}

static void fill_coarse_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    const ty_tet_projector* p = job->p;
    const ty_tet_state* s = job->s;
    const ty_csr* c = &p->coarse;
    int* place = p->seen.at + (int64_t)p->n_coarse * r.worker;
    for (int64_t v = r.begin; v < r.end; ++v) {
        int i = p->vert_coarse.at[v];
        if (i < 0) continue;
        int first = c->row_start[i], end = first;
        for (int k = p->around_start.at[v]; k < p->around_start.at[v + 1]; ++k) {
            int t = p->around.at[k] / 4, own = p->around.at[k] % 4;
            double volume, product[4], share = s->open.at[t] / 9.0;
            if (ty_tet_is_held(s, t)) continue;
            ty_tet_mesh_products(&s->mesh, t, own, &volume, product);
            for (int j = 0; j < 4; ++j) {
                int col = p->vert_coarse.at[s->mesh.tet[t][j]];
                if (col < 0) continue;
                int at = place[col];
                if (at < first || at >= end || c->col[at] != col) {
                    place[col] = at = end++;
                    c->col[at] = col;
                    c->val[at] = 0.0;
                }
                c->val[at] += share * product[j];
            }
        }
    }
}

static ty_status make_coarse(const ty_tet_job* job)
{
    ty_tet_projector* p = job->p;
    int n = p->n_coarse, n_verts = job->s->mesh.n_verts;
    int64_t room = (int64_t)n * ty_threads();
    TY_TRY(ty_csr_reserve(&p->coarse, n, n, 0));
    if (!ty_array_renew(&p->seen, room)) return ty_no_memory("pressure");
    if (room) memset(p->seen.at, -1, (size_t)room * sizeof(int));
    ty_parallel_for(n_verts, BLOCK, count_coarse_block, (void*)job);
    int entries = ty_scan_rows(n, p->coarse.row_start);
    TY_TRY(ty_csr_reserve(&p->coarse, n, n, entries));
    p->coarse.row_start[n] = entries;
    ty_parallel_for(n_verts, BLOCK, fill_coarse_block, (void*)job);
    ty_array_free(&p->seen);
    return ty_ok();
}

ty_status ty_tet_linear_assemble(const ty_tet_job* job)
{
    ty_tet_projector* p = job->p;
    TY_TRY(ty_tet_number(job));
    int n = p->n_unknowns;
    if (!ty_array_resize(&p->rhs, n) || !ty_array_resize(&p->guess, n) ||
        !ty_array_resize(&p->x, n))
        return ty_no_memory("pressure");
    TY_TRY(ty_csr_reserve(&p->matrix, n, n, 0));
    p->matrix.row_start[0] = 0;
    ty_parallel_for(n, BLOCK, count_block, (void*)job);
    int entries = ty_scan_rows(n, p->matrix.row_start);
    TY_TRY(ty_csr_reserve(&p->matrix, n, n, entries));
    p->matrix.row_start[n] = entries;
    ty_parallel_for(n, BLOCK, fill_block, (void*)job);
    if (p->scheme == TY_TET_FACE) {
        TY_TRY(make_prolongation(job));
        TY_TRY(make_coarse(job));
    }
    ty_array_free(&p->around);
    return ty_ok();
}

static void guess_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    const ty_tet_projector* p = job->p;
    const ty_tet_mesh* m = &job->s->mesh;
    for (int64_t k = r.begin; k < r.end; ++k) {
        if (k >= p->n_face_unknowns) {
            int v = p->unknown_vert.at[k - p->n_face_unknowns];
            p->guess.at[k] = job->solve_dt * job->s->pressure.at[v];
            continue;
        }
        int f = p->unknown_face.at[k], t = m->face_tet[f][0];
        double sum = 0.0;
        for (int i = 0; i < 4; ++i)
            if (m->tet_face[t][i] != f) sum += job->s->pressure.at[m->tet[t][i]];
        p->guess.at[k] = job->solve_dt * sum / 3.0;
    }
}

// A mesh value at unknowns.
void ty_tet_linear_guess(const ty_tet_job* job)
{
    ty_parallel_for(job->p->n_unknowns, BLOCK, guess_block, (void*)job);
}

static ty_vec3 gradient(const ty_tet_local* local, const double* x)
{
    ty_vec3 grad = local->known;
    for (int k = 0; k < local->n; ++k) grad += x[local->unknown[k]] * local->S[k];
    return grad / local->volume;
}

typedef struct flux_sample {
    const ty_tet_job* job;
    int64_t stride;
} flux_sample;

static double sample_block(void* ctx, ty_range r)
{
    const flux_sample* q = ctx;
    const ty_tet_state* s = q->job->s;
    const ty_tet_projector* p = q->job->p;
    double top = 0.0;
    for (int64_t n = r.begin; n < r.end; ++n) {
        int t = (int)(n * q->stride);
        if (s->open.at[t] == 0.0) continue;
        ty_tet_local local;
        ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, t);
        ty_tet_make_local(q->job, t, &g, &local);
        ty_vec3 u = s->u.at[t], known = local.known;
        local.known = ty_vec(0, 0, 0);
        if (!ty_tet_is_held(s, t))
            u -= gradient(&local, p->x.at) + gradient(&local, p->guess.at) + known / local.volume;
        for (int i = 0; i < 4; ++i)
            if (p->face_unknown.at[s->mesh.tet_face[t][i]] != TY_FACE_NODAL)
                top = fmax(top, fabs(ty_dot(ty_load3(g.S[i]), u)));
    }
    return top;
}

double ty_tet_linear_sample_flux(const ty_tet_job* job)
{
    int64_t n = job->s->mesh.n_tets;
    flux_sample q = {job, 1 + n / SAMPLES};
    return n ? ty_parallel_max((n - 1) / q.stride + 1, BLOCK, sample_block, &q) : 0.0;
}

// New velocities, and the fluxes out of each tet through whole faces.
static void update_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    ty_tet_state* s = job->s;
    for (int64_t t = r.begin; t < r.end; ++t) {
        ty_vec3 grad = ty_vec(0, 0, 0);
        ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, (int)t);
        if (s->open.at[t] > 0.0 && !ty_tet_is_held(s, t)) {
            ty_tet_local local;
            ty_tet_make_local(job, (int)t, &g, &local);
            grad = gradient(&local, job->p->x.at);
        }
        s->u.at[t] -= grad;
        s->a.at[t] = -grad / job->solve_dt;
        double grown = 0.25 * g.volume * ty_wanted(job, (int)t);
        for (int i = 0; i < 4; ++i) {
            int f = s->mesh.tet_face[t][i];
            double out = s->open.at[t] > 0.0 ? ty_dot(ty_load3(g.S[i]), s->u.at[t]) + grown : 0.0;
            if (s->mesh.face_tet[f][0] == t) s->flux.at[f] = out;
            else job->p->back_flux.at[f] = out;
        }
    }
}

static double open_area(const ty_tet_state* s, int face)
{
    int t = s->mesh.face_tet[face][0], i = 0;
    while (s->mesh.tet_face[t][i] != face) ++i;
    return ty_tet_face_open(s, t, i);
}

// One flux for both sides: the mean of what they have, which differs by what the solver left; of
// cut tets, whose faces have no flux that a pressure made single, the mean by open share. On a wall
// it is the solid's.
static void flux_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    ty_tet_state* s = job->s;
    for (int64_t f = r.begin; f < r.end; ++f) {
        const int* side = s->mesh.face_tet[f];
        double w0 = s->open.at[side[0]], w1 = side[1] < 0 ? 0.0 : s->open.at[side[1]];
        double back = side[1] < 0 ? 0.0 : job->p->back_flux.at[f];
        double mean = w0 + w1 > 0.0 ? (w0 * s->flux.at[f] - w1 * back) / (w0 + w1) : 0.0;
        s->flux.at[f] = job->p->face_unknown.at[f] == TY_FACE_NODAL ? open_area(s, (int)f) * mean
                                                                    : mean;
    }
}

// Sums at vertices over tets: each of `of` pieces of work reads all tets and adds to its own
// vertices, a part of the inner ones and of those on the boundary, in the order of the tets.
typedef struct vertex_sums {
    const ty_tet_job* job;
    int of;
} vertex_sums;

typedef struct own_verts {
    int begin[2], end[2];
} own_verts;

static own_verts own_verts_of(const vertex_sums* q, ty_range r)
{
    const ty_tet_mesh* m = &q->job->s->mesh;
    int64_t inner = m->n_inner, outer = m->n_verts - m->n_inner;
    return (own_verts){{(int)(inner * r.begin / q->of), (int)(inner + outer * r.begin / q->of)},
                       {(int)(inner * r.end / q->of), (int)(inner + outer * r.end / q->of)}};
}

static bool is_own(const own_verts* own, int v)
{
    return (v >= own->begin[0] && v < own->end[0]) || (v >= own->begin[1] && v < own->end[1]);
}

static void add_outflow(const ty_tet_job* job, const own_verts* own, int tet)
{
    ty_tet_state* s = job->s;
    const int *face = s->mesh.tet_face[tet], *vert = s->mesh.tet[tet];
    double open = s->open.at[tet];
    ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, tet);
    double grown = 0.25 * g.volume * ty_wanted(job, tet), wall[4], out[4] = {0};
    ty_tet_wall_flux(s, tet, wall);
    for (int i = 0; i < 4; ++i) {
        if (job->p->face_unknown.at[face[i]] >= 0) continue;
        double third = open * (ty_dot(ty_load3(g.S[i]), s->u.at[tet]) + grown) / 3.0;
        for (int j = 0; j < 4; ++j)
            if (j != i) out[j] += third;
    }
    for (int j = 0; j < 4; ++j)
        if (is_own(own, vert[j]) && s->vert_kind.at[vert[j]] & TY_VERT_AIR)
            s->outflow.at[vert[j]] += out[j] - wall[j];
}

// What leaves at air vertices: the residual of the row the vertex would have had, and a third of
// its air faces.
static void make_outflow(void* ctx, ty_range r)
{
    const vertex_sums* q = ctx;
    ty_tet_state* s = q->job->s;
    const ty_tet_mesh* m = &s->mesh;
    own_verts own = own_verts_of(q, r);
    for (int k = 0; k < 2; ++k)
        for (int v = own.begin[k]; v < own.end[k]; ++v) s->outflow.at[v] = 0.0;
    for (int t = 0; t < m->n_tets; ++t) {
        bool air = false, shared = false;
        for (int i = 0; i < 4; ++i) {
            int v = m->tet[t][i];
            air |= is_own(&own, v) && (s->vert_kind.at[v] & TY_VERT_AIR) != 0;
        }
        for (int i = 0; i < 4 && air; ++i)
            shared |= q->job->p->face_unknown.at[m->tet_face[t][i]] < 0;
        if (air && shared && s->open.at[t] > 0.0) add_outflow(q->job, &own, t);
    }
}

// x at the four faces of a tet.
static void face_values(const ty_tet_job* job, int tet, double out[4])
{
    const ty_tet_projector* p = job->p;
    const int *face = job->s->mesh.tet_face[tet], *vert = job->s->mesh.tet[tet];
    for (int i = 0; i < 4; ++i) {
        int k = p->face_unknown.at[face[i]];
        out[i] = k >= 0 ? p->x.at[k] : 0.0;
        for (int j = 0; j < 4 && k < 0; ++j) {
            int v = p->vert_unknown.at[vert[j]];
            if (j != i) out[i] += (v >= 0 ? p->x.at[v] : p->given.at[vert[j]]) / 3.0;
        }
    }
}

// The pressure at vertices without an unknown: the mean, by volume, of what the tets around have
// there.
static void make_pressure(void* ctx, ty_range r)
{
    const vertex_sums* q = ctx;
    const ty_tet_job* job = q->job;
    const ty_tet_projector* p = job->p;
    ty_tet_state* s = job->s;
    const ty_tet_mesh* m = &s->mesh;
    own_verts own = own_verts_of(q, r);
    for (int part = 0; part < 2; ++part)
        for (int v = own.begin[part]; v < own.end[part]; ++v) {
            int k = p->vert_unknown.at[v];
            bool air = (s->vert_kind.at[v] & TY_VERT_AIR) != 0;
            s->pressure.at[v] = air ? s->given.at[v] : k >= 0 ? p->x.at[k] / job->solve_dt : 0.0;
            p->weight.at[v] = air || k >= 0 ? -1.0 : 0.0;
        }
    if (p->scheme == TY_TET_NODAL) return;
    for (int t = 0; t < m->n_tets; ++t) {
        bool wanted[4], any = false;
        for (int i = 0; i < 4; ++i) {
            int v = m->tet[t][i];
            any |= wanted[i] = is_own(&own, v) && !(p->weight.at[v] < 0.0);
        }
        if (!any || s->open.at[t] == 0.0 || ty_tet_is_held(s, t)) continue;
        double x[4], volume = ty_tet_mesh_geometry(m, t).volume;
        face_values(job, t, x);
        double sum = x[0] + x[1] + x[2] + x[3];
        for (int i = 0; i < 4; ++i) {
            int v = m->tet[t][i];
            if (!wanted[i]) continue;
            s->pressure.at[v] += volume * (sum - 3.0 * x[i]) / job->solve_dt;
            p->weight.at[v] += volume;
        }
    }
    for (int part = 0; part < 2; ++part)
        for (int v = own.begin[part]; v < own.end[part]; ++v)
            if (p->weight.at[v] > 0.0) s->pressure.at[v] /= p->weight.at[v];
}

void ty_tet_linear_apply(const ty_tet_job* job)
{
    ty_parallel_for(job->s->mesh.n_tets, BLOCK, update_block, (void*)job);
    vertex_sums q = {job, ty_threads()};
    ty_parallel_for(q.of, 1, make_outflow, &q);
    ty_parallel_for(q.of, 1, make_pressure, &q);
}

void ty_tet_linear_flux(const ty_tet_job* job)
{
    ty_parallel_for(job->s->mesh.n_faces, BLOCK, flux_block, (void*)job);
}
