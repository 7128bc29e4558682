// SPDX-License-Identifier: Apache-2.0
// Implicit viscosity. Velocities live in tets, one vector each, and have no gradient; so a linear
// field v with values at vertices goes along with them, and both are what makes this least:
//
//     1/2 sum_t V |u - u*|^2 + dt [ 1/2 sum_t nu V |grad v|^2 + 1/2 sum_t nu (C / h_t^2) V |u_t -
//     mean_t v|^2
//                                   + 1/2 sum_w nu (1 - slip) (A / d) |v_w - u_solid|^2 ]
//
// V is open volume, mean_t the linear field at a tet's centre, w the pieces of wall in cut tets,
// v_w the value at their centres. With c = C nu dt / h_t^2 the tets' part is local: u = (u* + c
// mean v) / (1 + c). What is left is one system for each component, all with the same matrix,
// symmetric and positive definite:
//
//     [ sum_t V c/(1 + c) m m^T + dt nu V grad grad^T + walls ] v = sum_t V c/(1 + c) m u* + walls
//
// Of held tets u_t is given: their part is c instead of c / (1 + c).
//
// A minimum: so stable for any nu dt, and no energy is added. Uniform and linear fields are exact
// where they meet no boundary; the free surface is without stress in the sense du/dn = 0. A wave of
// k decays with nu k^2 / (1 + (k h)^2 / C).
//
// So with `viscosity_form: diffusion`, where a free surface or a slipping curved wall holds a rigid rotation back,
// and varying viscosity is not exact. `variational` is the whole stress tensor [Batty2008]: instead of 1/2 |grad v|^2
// it has D:D, D = (grad v + grad v^T) / 2, whose derivative couples the components,
//
//     entry (i p, k q):  nu V [ (g_i . g_k) delta_pq + g_i[q] g_k[p] ],    g = grad of the corner's function
//
// in one system of three times the size. Nothing has to be said about the free surface, and the motion of a rigid body
// stays as it is, u being v at the centres.
#include "solve/tet/viscosity.h"

#include <assert.h>
#include <string.h>

#include "core/log.h"
#include "core/parallel.h"
#include "solve/tet/cut_tet.h"

enum { BLOCK = 512, MAX_ROW = 256, MAX_ITERATIONS = 2000 };

// Of the deviation of a tet from the linear field: 0.4 % too little decay of a wave of 6 cells. It
// is the largest k^2 h^2 of the mesh, about.
static const double DEVIATION = 100.0;
// Cells: how far behind a wall a linear velocity reaches the wall's, because a penalty is finite.
static const double WALL_SLIP = 0.02;
// nu dt / h^2: more would stiffen nothing (friction reaches over 1000 cells in a step) and lose
// momentum in the system's last digits.
static const double MOST = 1e6;
// nu dt / h^2 of a usual step from which on accelerations are not carried along.
static const double STIFF = 0.05;
// m/s2: for STIFF, where there is less gravity.
static const double LEAST_GRAVITY = 1.0;

struct ty_tet_viscous {
    ty_linear* linear;
    ty_csr matrix;
    TY_ARRAY(int) row, vert;     // of each vertex: its row or -1; and back
    TY_ARRAY(int) count;         // entries of each row
    TY_ARRAY(double) nu;         // per tet
    TY_ARRAY(double) slip;       // per tet with a wall, 1 elsewhere
    TY_ARRAY(ty_vec3) rhs, v;    // per row; v: first guess
    TY_ARRAY(double) b, x;       // one component, or all three of a row
    bool whole;                  // the whole stress tensor
};

ty_status ty_tet_viscous_create(ty_tet_viscous** out, ty_viscosity_form form, double tolerance)
{
    *out = NULL;
    ty_tet_viscous* v = ty_alloc_zero(1, sizeof *v);
    if (!v) return ty_no_memory("viscosity");
    v->whole = form == TY_VISCOSITY_VARIATIONAL;
    ty_linear_def def = ty_linear_default();
    def.tolerance = tolerance;
    // Aggregates of the multigrid would mix components.
    if (v->whole) def.method = TY_LINEAR_IC, def.max_iterations = MAX_ITERATIONS;
    ty_status status = ty_linear_create(&v->linear, &def);
    if (status.code != TY_OK) ty_free(v);
    else *out = v;
    return status;
}

void ty_tet_viscous_destroy(ty_tet_viscous* v)
{
    if (!v) return;
    ty_linear_destroy(v->linear);
    ty_csr_free(&v->matrix);
    ty_array_free(&v->row);
    ty_array_free(&v->vert);
    ty_array_free(&v->count);
    ty_array_free(&v->nu);
    ty_array_free(&v->slip);
    ty_array_free(&v->rhs);
    ty_array_free(&v->v);
    ty_array_free(&v->b);
    ty_array_free(&v->x);
    ty_free(v);
}

typedef struct job {
    ty_tet_viscous* v;
    ty_tet_motion* m;
    const ty_tet_stars* stars;
    const double* nu;
    bool varies;
    double dt, most;
    ty_sampler slip;
} job;

static double nu_of(const job* j, int t) { return fmin(j->nu[j->varies ? t : 0], j->most); }

// c of the head of this file. A cell of the lattice has 12 tets.
static double tie(const job* j, int t)
{
    double h = cbrt(12.0 * j->m->volume.at[t]);
    return DEVIATION * nu_of(j, t) * j->dt / (h * h);
}

static ty_wall_part wall_of(const ty_tet_state* s, int t)
{
    double d[4];
    ty_vec3 x[4];
    bool closed = false;
    for (int i = 0; i < 4; ++i) {
        d[i] = s->solid.at[s->mesh.tet[t][i]];
        x[i] = ty_load3(s->mesh.vert[s->mesh.tet[t][i]]);
        closed |= d[i] <= 0.0;
    }
    return closed ? ty_tet_wall_part(d, x) : (ty_wall_part){0};
}

static bool has_wall(const ty_tet_state* s, int t, ty_wall_part* wall)
{
    if (!(s->open.at[t] > 0.0)) return false;
    *wall = wall_of(s, t);
    return ty_dot(wall->area, wall->area) > 0.0;
}

static void slip_block(void* ctx, ty_range r)
{
    const job* j = ctx;
    const ty_tet_state* s = &j->m->state;
    double x[BLOCK][3], slip[BLOCK];
    int id[BLOCK], n = 0;
    for (int64_t t = r.begin; t < r.end; ++t) {
        ty_wall_part wall;
        j->v->slip.at[t] = 1.0;
        if (!has_wall(s, (int)t, &wall)) continue;
        ty_vec3 at = ty_vec(0, 0, 0);
        for (int i = 0; i < 4; ++i)
            at += wall.centre[i] * ty_load3(s->mesh.vert[s->mesh.tet[t][i]]);
        ty_store3(x[n], at);
        id[n++] = (int)t;
    }
    if (n) ty_sample(&j->slip, n, (const double(*)[3])x, slip);
    for (int k = 0; k < n; ++k) j->v->slip.at[id[k]] = j->m->sticks ? 0.0 : slip[k];
}

// The row of a vertex while it is made: columns as they come.
typedef struct row {
    int n, col[MAX_ROW];
    double val[MAX_ROW];          // of each component with itself
    double mix[MAX_ROW][3][3];    // and what comes to that where components are coupled
} row;

// The place of a column, where there is nothing yet if it is new.
static int place_in(row* r, int col)
{
    for (int k = 0; k < r->n; ++k)
        if (r->col[k] == col) return k;
    assert(r->n < MAX_ROW);    // no vertex of the lattice has half as many neighbours
    int k = r->n++;
    r->col[k] = col;
    r->val[k] = 0.0;
    memset(r->mix[k], 0, sizeof r->mix[k]);
    return k;
}

// What a tet has in the row of its corner i.
static void add_tet(const job* j, int t, int i, row* r, ty_vec3* rhs)
{
    const ty_tet_state* s = &j->m->state;
    double open = s->open.at[t], c = tie(j, t);
    double mass = open * j->m->volume.at[t] * (ty_tet_is_held(s, t) ? c : c / (1.0 + c));
    ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, t);
    double stiffness = open * j->dt * nu_of(j, t) / (9.0 * g.volume);
    ty_wall_part wall = {0};
    double hold = 0.0, h = s->mesh.tree.cell, at[4];
    ty_tet_centre_weights(s, t, at);
    if (j->v->slip.at[t] < 1.0 && has_wall(s, t, &wall))
        hold = j->dt * nu_of(j, t) * (1.0 - j->v->slip.at[t]) * ty_norm(wall.area) /
               (WALL_SLIP * h);
    for (int k = 0; k < 4; ++k) {
        int to = place_in(r, j->v->row.at[s->mesh.tet[t][k]]);
        r->val[to] += mass * at[i] * at[k] +
                      stiffness * ty_dot(ty_load3(g.S[i]), ty_load3(g.S[k])) +
                      hold * wall.centre[i] * wall.centre[k];
        for (int p = 0; p < 3 && j->v->whole; ++p)
            for (int q = 0; q < 3; ++q) r->mix[to][p][q] += stiffness * g.S[i][q] * g.S[k][p];
    }
    *rhs += mass * at[i] * s->u.at[t] + hold * wall.centre[i] * ty_tet_solid_velocity(s, t);
}

static void fill_row(const job* j, int64_t k, row* r)
{
    const ty_tet_state* s = &j->m->state;
    int v = j->v->vert.at[k];
    ty_vec3 rhs = ty_vec(0, 0, 0), mean = rhs;
    double all = 0.0;
    r->n = 0;
    for (int at = j->stars->first.at[v]; at < j->stars->first.at[v + 1]; ++at) {
        int t = j->stars->corner.at[at] / 4;
        double open = s->open.at[t] * j->m->volume.at[t];
        if (!(open > 0.0)) continue;
        add_tet(j, t, j->stars->corner.at[at] % 4, r, &rhs);
        mean += open * s->u.at[t], all += open;
    }
    j->v->rhs.at[k] = rhs;
    j->v->v.at[k] = all > 0.0 ? mean / all : mean;
}

static void count_block(void* ctx, ty_range range)
{
    const job* j = ctx;
    const ty_tet_state* s = &j->m->state;
    row r;
    for (int64_t k = range.begin; k < range.end; ++k) {
        int v = j->v->vert.at[k];
        r.n = 0;
        for (int at = j->stars->first.at[v]; at < j->stars->first.at[v + 1]; ++at) {
            int t = j->stars->corner.at[at] / 4;
            for (int i = 0; i < 4 && s->open.at[t] > 0.0; ++i)
                place_in(&r, j->v->row.at[s->mesh.tet[t][i]]);
        }
        j->v->count.at[k] = r.n;
    }
}

static void fill_block(void* ctx, ty_range range)
{
    const job* j = ctx;
    ty_csr* a = &j->v->matrix;
    row r;
    for (int64_t k = range.begin; k < range.end; ++k) {
        fill_row(j, k, &r);
        if (!j->v->whole) {
            memcpy(a->col + a->row_start[k], r.col, (size_t)r.n * sizeof *a->col);
            memcpy(a->val + a->row_start[k], r.val, (size_t)r.n * sizeof *a->val);
        }
        for (int p = 0; p < 3 && j->v->whole; ++p)
            for (int e = 0; e < 3 * r.n; ++e) {
                int at = a->row_start[3 * k + p] + e, from = e / 3, q = e % 3;
                a->col[at] = 3 * r.col[from] + q;
                a->val[at] = r.mix[from][p][q] + (p == q ? r.val[from] : 0.0);
            }
    }
}

static ty_status number(const job* j)
{
    const ty_tet_state* s = &j->m->state;
    ty_tet_viscous* v = j->v;
    int n = 0;
    if (!ty_array_resize(&v->row, s->mesh.n_verts) || !ty_array_resize(&v->vert, s->mesh.n_verts) ||
        !ty_array_resize(&v->slip, s->mesh.n_tets))
        return ty_no_memory("viscosity");
    for (int i = 0; i < s->mesh.n_verts; ++i) {
        bool live = (s->vert_kind.at[i] & TY_VERT_LIVE) != 0;
        v->row.at[i] = live ? n : -1;
        if (live) v->vert.at[n++] = i;
    }
    int width = v->whole ? 3 : 1;
    if (!ty_array_resize(&v->count, n) || !ty_array_resize(&v->rhs, n) ||
        !ty_array_resize(&v->v, n) || !ty_array_resize(&v->b, width * n) ||
        !ty_array_resize(&v->x, width * n))
        return ty_no_memory("viscosity");
    v->vert.n = n;
    return ty_ok();
}

static ty_status assemble(const job* j)
{
    ty_csr* a = &j->v->matrix;
    int n = (int)j->v->vert.n, width = j->v->whole ? 3 : 1;
    int64_t entries = 0;
    ty_parallel_for(n, BLOCK, count_block, (void*)j);
    for (int k = 0; k < n; ++k) entries += j->v->count.at[k];
    TY_TRY(ty_csr_reserve(a, width * n, width * n, width * width * entries));
    for (int k = 0; k < width * n; ++k)
        a->row_start[k + 1] = a->row_start[k] + width * j->v->count.at[k / width];
    ty_parallel_for(n, BLOCK, fill_block, (void*)j);
    ty_csr_sort(a);
    return ty_ok();
}

static ty_status solve_one(ty_tet_viscous* v, ty_solve_stats* stats)
{
    ty_linear_stats linear;
    TY_TRY(ty_linear_solve(v->linear, v->b.at, v->x.at, &linear));
    stats->iterations += linear.iterations;
    if (!linear.converged)
        ty_log(TY_LOG_WARNING, "viscosity: residual %.1e after %d iterations", linear.last_residual,
               linear.iterations);
    return ty_ok();
}

// Of each row as many components as one system has, from `axis` on.
static ty_status solve_from(ty_tet_viscous* v, int axis, ty_solve_stats* stats)
{
    int64_t n = v->vert.n, width = v->whole ? 3 : 1;
    for (int64_t i = 0; i < width * n; ++i) {
        int64_t k = i / width, own = axis + i % width;
        v->b.at[i] = v->rhs.at[k][own], v->x.at[i] = v->v.at[k][own];
    }
    TY_TRY(solve_one(v, stats));
    for (int64_t i = 0; i < width * n; ++i) v->v.at[i / width][axis + i % width] = v->x.at[i];
    return ty_ok();
}

static ty_status solve(const job* j, ty_solve_stats* stats)
{
    TY_TRY(ty_linear_setup(j->v->linear, &j->v->matrix, NULL));
    for (int axis = 0; axis < 3; axis += j->v->whole ? 3 : 1) TY_TRY(solve_from(j->v, axis, stats));
    return ty_ok();
}

static void update_block(void* ctx, ty_range r)
{
    const job* j = ctx;
    ty_tet_state* s = &j->m->state;
    for (int64_t t = r.begin; t < r.end; ++t) {
        if (!(s->open.at[t] > 0.0) || ty_tet_is_held(s, t)) continue;
        ty_vec3 v = ty_vec(0, 0, 0);
        double c = tie(j, (int)t), at[4];
        ty_tet_centre_weights(s, (int)t, at);
        for (int i = 0; i < 4; ++i) v += at[i] * j->v->v.at[j->v->row.at[s->mesh.tet[t][i]]];
        s->u.at[t] += c / (1.0 + c) * (v - s->u.at[t]);
    }
}

ty_status ty_tet_diffuse(ty_tet_viscous* v, ty_tet_motion* m, const ty_world* world,
                         const ty_tet_stars* stars, const double* nu, bool varies, double dt,
                         ty_solve_stats* stats)
{
    double h = m->state.mesh.tree.cell;
    job j = {v, m, stars, nu, varies, dt, MOST * h * h / dt, ty_world_solid_slip(world)};
    TY_TRY(number(&j));
    if (v->vert.n == 0) return ty_ok();
    ty_parallel_for(m->state.mesh.n_tets, BLOCK, slip_block, &j);
    TY_TRY(assemble(&j));
    TY_TRY(solve(&j, stats));
    ty_parallel_for(m->state.mesh.n_tets, BLOCK, update_block, &j);
    return ty_ok();
}

static ty_status sample_nu(ty_tetflow* tf, ty_tet_viscous* v)
{
    const ty_tet_motion* m = ty_tetflow_new(tf);
    int n = m->state.mesh.n_tets;
    if (!ty_array_resize(&v->nu, n)) return ty_no_memory("viscosity");
    for (int at = 0; at < n; at += TY_SAMPLE_BATCH) {
        double x[TY_SAMPLE_BATCH][3];
        int count = n - at < TY_SAMPLE_BATCH ? n - at : TY_SAMPLE_BATCH;
        for (int i = 0; i < count; ++i) ty_store3(x[i], m->centre.at[at + i]);
        TY_TRY(ty_varying_eval(&tf->scene->viscosity, ty_world_time(tf->world), count,
                               (const double(*)[3])x, v->nu.at + at));
    }
    for (int t = 0; t < n; ++t) v->nu.at[t] /= tf->def->density;
    return ty_ok();
}

ty_status ty_tetflow_viscosity(ty_tetflow* tf, double dt, ty_solve_stats* stats)
{
    const ty_varying* mu = &tf->scene->viscosity;
    bool constant = ty_varying_is_constant(mu);
    ty_tet_motion* m = ty_tetflow_new(tf);
    if ((constant && mu->constant[0] <= 0.0) || m->state.mesh.n_tets == 0) return ty_ok();
    if (!tf->viscous)
        TY_TRY(ty_tet_viscous_create(&tf->viscous, tf->scene->viscosity_form, tf->def->tolerance));
    TY_TRY(ty_tet_stars_make(&tf->stars, &m->state.mesh));
    double nu = mu->constant[0] / tf->def->density;
    if (!constant) TY_TRY(sample_nu(tf, tf->viscous));
    return ty_tet_diffuse(tf->viscous, m, tf->world, &tf->stars,
                          constant ? &nu : tf->viscous->nu.at, !constant, dt, stats);
}

// The carried acceleration is the pressure's. Where friction balances it the liquid does not
// accelerate, but its paths would bend by dt^2 / 2 of it every step: creeping flow down a slope
// would run by g dt / 2 too fast.
bool ty_tetflow_is_stiff(const ty_solve_def* def, const ty_world* world)
{
    if (!ty_varying_is_constant(&def->viscosity)) return true;
    double h = def->cell, g = fmax(ty_norm(ty_world_gravity(world)), LEAST_GRAVITY);
    return def->viscosity.constant[0] / def->density * sqrt(h / g) > STIFF * h * h;
}
