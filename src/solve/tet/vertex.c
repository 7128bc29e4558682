// SPDX-License-Identifier: Apache-2.0
// Values at vertices, from values in tets: three kinds of vertices.
//
//   all tets uncut       linear least squares
//   a tet cut, dropped   mean weighted by open volume: extrapolating from slivers along walls makes waves grow
//   on the free surface  the normal part is what leaves through the surface, over its area
//
// The last closes a loop: gravity turns the surface's place into pressure, pressure into velocity,
// velocity into the surface's place. It is stable when "surface velocity from fluxes" is the
// transpose of "pressure from the surface's place". The flux of vertex v is Q = sum_t V_t phi_t
// grad(lambda_v) . u_t less v's share of what flows into the walls in t: for `nodal` by definition,
// and for `face` too, because fluxes through inner faces cancel and a third of each air face is
// left. (With u_solid in the closed part of t instead, turning round walls drove the surface.)
//
// Accelerations along paths have a divergence, and they go into walls that bend, so only the thirds of the
// air faces count for them, and what a vertex does not take of that no other gets. With Q as for velocities it
// is 2 Omega^2 times the depth of a vertex's share too much where water turns with Omega, and what goes into a
// round wall is taken from the surface beside it: a frictionless bucket (F12) lost 5.9 % of its energy in two
// turns, now 3.8 %. (Without any flux, as the fit has them, a dam break's energy rises by 0.6 % where water falls
// back from a wall. With what vertices do not take given to those around a glass with walls of a cell leaks.)
#include "core/parallel.h"
#include "solve/tet/cut_tet.h"
#include "solve/tet/paper.h"
#include "solve/tet/projector.h"

enum { BLOCK = 1024, LEAST_FIT = 5 };

static const double FIT_CORE = 0.05;     // cells squared, added to squared distances
static const double FIT_RIDGE = 1e-3;    // of the trace, where tets hardly tell the slope
// Determinant over cubed trace (1/27 when even) from which on they do
static const double FIT_GOOD = 1e-4;
// Of the largest difference of a tet's value from the mean
static const double MOST_BEYOND = 1.5;
static const double TURN_RIDGE = 1e-3;    // of the moments' trace, where tets lie in a row
// Cells squared: less open surface around a vertex tells no flux
static const double LEAST_AREA = 0.15;
static const double LEAST_FLAT = 0.5;    // the same for |sum of area vectors| / sum of areas
static const double LIVE = 0.02;         // tets less open do not bound the flux's velocity

void ty_tet_stars_free(ty_tet_stars* stars)
{
    ty_array_free(&stars->first);
    ty_array_free(&stars->corner);
}

ty_status ty_tet_stars_make(ty_tet_stars* stars, const ty_tet_mesh* mesh)
{
    int64_t n = mesh->n_verts, corners = 4 * (int64_t)mesh->n_tets;
    if (!ty_array_resize(&stars->first, n + 2) || !ty_array_resize(&stars->corner, corners))
        return ty_no_memory("tets around vertices");
    int* first = stars->first.at;
    for (int64_t v = 0; v < n + 2; ++v) first[v] = 0;
    for (int64_t c = 0; c < corners; ++c) ++first[mesh->tet[c / 4][c % 4] + 2];
    for (int64_t v = 2; v < n + 2; ++v) first[v] += first[v - 1];
    for (int64_t c = 0; c < corners; ++c)
        stars->corner.at[first[mesh->tet[c / 4][c % 4] + 1]++] = (int)c;
    return ty_ok();
}

// One field: its values in tets and at vertices.
typedef struct field {
    const ty_vec3* tet;
    ty_vec3* vert;
} field;

typedef struct vertex_job {
    const ty_tet_motion* m;
    const ty_tet_stars* stars;
    field field[2];    // velocities, accelerations
    double cell;
    ty_tet_missing* missing;    // per boundary vertex
} vertex_job;

static ty_vec3 mean(const vertex_job* job, const field* f, const int* corner, int n, bool open_only)
{
    const ty_tet_motion* m = job->m;
    ty_vec3 sum = {0};
    double all = 0.0;
    for (int k = 0; k < n; ++k) {
        int t = corner[k] / 4;
        double w = (open_only ? m->state.open.at[t] : 1.0) * m->volume.at[t];
        sum += w * f->tet[t];
        all += w;
    }
    if (all > 0.0) return sum / all;
    return open_only ? mean(job, f, corner, n, false) : sum;
}

// No longer than MOST_BEYOND of the root of most2.
static ty_vec3 limited(ty_vec3 v, double most2)
{
    double size2 = ty_dot(v, v), limit2 = MOST_BEYOND * MOST_BEYOND * most2;
    return size2 > limit2 ? sqrt(limit2 / size2) * v : v;
}

// What the tets around have of momentum and angular momentum about their centre of mass, by open
// volume, as a rigid body: at x it moves faster than the mean when they turn. Turning water beside
// a round wall would be held back otherwise, because all tets are on its inner side. Slopes of a
// flow without rotation are not continued: that makes waves grow.
static ty_vec3 rigid(const vertex_job* job, const field* f, ty_vec3 x, const int* corner, int n)
{
    const ty_tet_motion* m = job->m;
    ty_vec3 middle = {0}, momentum = {0}, turning = {0};
    double all = 0.0, most = 0.0, xx = 0.0, xy = 0.0, xz = 0.0, yy = 0.0, yz = 0.0, zz = 0.0;
    for (int k = 0; k < n; ++k) {
        int t = corner[k] / 4;
        double w = m->state.open.at[t] * m->volume.at[t];
        middle += w * m->centre.at[t], momentum += w * f->tet[t], all += w;
    }
    if (!(all > 0.0)) return mean(job, f, corner, n, false);
    middle /= all, momentum /= all;
    for (int k = 0; k < n; ++k) {
        int t = corner[k] / 4;
        double w = m->state.open.at[t] * m->volume.at[t];
        ty_vec3 e = m->centre.at[t] - middle, beyond = f->tet[t] - momentum;
        if (w > 0.0) most = ty_max(most, ty_dot(beyond, beyond));
        turning += w * ty_cross(e, beyond);
        xx += w * e[0] * e[0], xy += w * e[0] * e[1], xz += w * e[0] * e[2];
        yy += w * e[1] * e[1], yz += w * e[1] * e[2], zz += w * e[2] * e[2];
    }
    double trace = xx + yy + zz, least = TURN_RIDGE * trace;
    ty_vec3 a = {yy + zz + least, -xy, -xz}, b = {-xy, xx + zz + least, -yz},
            c = {-xz, -yz, xx + yy + least};
    double det = ty_dot(a, ty_cross(b, c));
    if (!(det > 0.0)) return momentum;
    ty_vec3 spin = (turning[0] * ty_cross(b, c) + turning[1] * ty_cross(c, a) +
                    turning[2] * ty_cross(a, b)) /
                   det;
    return momentum + limited(ty_cross(spin, x - middle), most);
}

// Moments of the incident barycentres about their mean, and its place relative to the vertex.
typedef struct fit {
    double xx, xy, xz, yy, yz, zz;
    double all;
    ty_vec3 middle;
} fit;

static double fit_weight(const vertex_job* job, ty_vec3 d)
{
    return 1.0 / (FIT_CORE * job->cell * job->cell + ty_dot(d, d));
}

static fit gather(const vertex_job* job, ty_vec3 x, const int* corner, int n)
{
    fit f = {0};
    for (int k = 0; k < n; ++k) {
        ty_vec3 d = job->m->centre.at[corner[k] / 4] - x;
        double w = fit_weight(job, d);
        f.all += w;
        f.middle += w * d;
    }
    f.middle /= f.all;
    for (int k = 0; k < n; ++k) {
        ty_vec3 d = job->m->centre.at[corner[k] / 4] - x, e = d - f.middle;
        double w = fit_weight(job, d);
        f.xx += w * e[0] * e[0], f.xy += w * e[0] * e[1], f.xz += w * e[0] * e[2];
        f.yy += w * e[1] * e[1], f.yz += w * e[1] * e[2], f.zz += w * e[2] * e[2];
    }
    return f;
}

// M^-1 v for the symmetric M of the moments.
static ty_vec3 solve_fit(fit f, ty_vec3 v)
{
    double trace = f.xx + f.yy + f.zz;
    ty_vec3 a = {f.xx, f.xy, f.xz}, b = {f.xy, f.yy, f.yz}, c = {f.xz, f.yz, f.zz};
    double det = ty_dot(a, ty_cross(b, c));
    if (!(det > FIT_GOOD * trace * trace * trace)) {
        a[0] += FIT_RIDGE * trace, b[1] += FIT_RIDGE * trace, c[2] += FIT_RIDGE * trace;
        det = ty_dot(a, ty_cross(b, c));
    }
    if (!(det > 0.0)) return ty_vec(0, 0, 0);
    return (v[0] * ty_cross(b, c) + v[1] * ty_cross(c, a) + v[2] * ty_cross(a, b)) / det;
}

// A fit leads out of the tets around. What it adds to their mean is at most MOST_BEYOND of the
// farthest of them, or a vertex of a thin sheet, whose tets hardly tell the slope across it, runs
// at three times their speed.
static ty_vec3 bounded(const field* f, ty_vec3 value, const int* corner, int n)
{
    ty_vec3 middle = {0};
    double most = 0.0;
    for (int k = 0; k < n; ++k) middle += f->tet[corner[k] / 4];
    middle /= n;
    for (int k = 0; k < n; ++k) {
        ty_vec3 d = f->tet[corner[k] / 4] - middle;
        most = ty_max(most, ty_dot(d, d));
    }
    return middle + limited(value - middle, most);
}

// The fitted value at the vertex is a weighted mean of the tets': weight w (1 - e . M^-1 middle).
static void fit_fields(const vertex_job* job, ty_vec3 x, int v, const int* corner, int n)
{
    fit f = gather(job, x, corner, n);
    ty_vec3 z = solve_fit(f, f.middle), sum[2] = {{0}};
    for (int k = 0; k < n; ++k) {
        int t = corner[k] / 4;
        ty_vec3 d = job->m->centre.at[t] - x;
        double w = fit_weight(job, d) * (1.0 / f.all - ty_dot(d - f.middle, z));
        for (int i = 0; i < 2; ++i) sum[i] += w * job->field[i].tet[t];
    }
    for (int i = 0; i < 2; ++i) job->field[i].vert[v] = bounded(&job->field[i], sum[i], corner, n);
}

// What leaves through the free surface around a vertex.
typedef struct surface_flux {
    ty_vec3 area;    // the open surface's area vectors, weighted by the vertex's part in them
    double plain;    // the same of areas
    double flux[2];
} surface_flux;

static bool is_air_face(const ty_tet_state* s, int t, int i)
{
    if (s->mesh.face_tet[s->mesh.tet_face[t][i]][1] >= 0) return false;
    for (int k = 0; k < 4; ++k)
        if (k != i && !(s->vert_kind.at[s->mesh.tet[t][k]] & TY_VERT_AIR)) return false;
    return true;
}

// The mean over a triangle of lambda_0, taken as 0 where the linear function with values d at the
// corners is negative: a third of the triangle when it is all open.
static double open_moment(const double d[3])
{
    bool in[3] = {d[0] > 0.0, d[1] > 0.0, d[2] > 0.0};
    int n = in[0] + in[1] + in[2], lone = 0;
    if (n == 0 || n == 3) return n / 9.0;
    while (in[lone] != (n == 1)) ++lone;
    int b = (lone + 1) % 3, c = (lone + 2) % 3;
    double s = d[lone] / (d[lone] - d[b]),
           t = d[lone] / (d[lone] - d[c]);    // the corner that is cut off
    double corner = s * t / 3.0 * (lone == 0 ? 3.0 - s - t : b == 0 ? s : t);
    return n == 1 ? corner : 1.0 / 3.0 - corner;
}

double ty_tet_face_moment(const ty_tet_state* s, int t, int j, int i)
{
    double d[3];
    int n = 1;
    if (!(s->open.at[t] < 1.0)) return 1.0 / 3.0;
    for (int k = 0; k < 4; ++k)
        if (k != j) d[k == i ? 0 : n++] = s->solid.at[s->mesh.tet[t][k]];
    return open_moment(d);
}

static surface_flux measure_flux(const vertex_job* job, const int* corner, int n)
{
    const ty_tet_state* s = &job->m->state;
    surface_flux q = {0};
    for (int k = 0; k < n; ++k) {
        int t = corner[k] / 4, i = corner[k] % 4;
        ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, t);
        double open = s->open.at[t], wall[4];
        ty_vec3 S = ty_load3(g.S[i]) / -3.0;    // V grad(lambda)
        ty_tet_wall_flux(s, t, wall);
        q.flux[0] += open * ty_dot(S, job->field[0].tet[t]) - wall[i];
        for (int j = 0; j < 4; ++j) {
            if (j == i || !is_air_face(s, t, j)) continue;
            if (!(open > 0.0)) continue;
            ty_vec3 area = ty_load3(g.S[j]) * ty_tet_face_moment(s, t, j, i);
            q.area += area;
            q.plain += ty_norm(area);
            q.flux[1] += ty_dot(area, job->field[1].tet[t]);
        }
    }
    return q;
}

// The range of the normal parts of the live tets' values; false when there are none.
static bool find_range(const vertex_job* job, const field* f, ty_vec3 normal, const int* corner,
                       int n, double* low, double* high)
{
    *low = INFINITY, *high = -INFINITY;
    for (int k = 0; k < n; ++k) {
        int t = corner[k] / 4;
        if (!(job->m->state.open.at[t] > LIVE)) continue;
        double w = ty_dot(normal, f->tet[t]);
        *low = ty_min(*low, w), *high = ty_max(*high, w);
    }
    return *low <= *high;
}

static void set_normal_part(const vertex_job* job, int v, const int* corner, int n, bool given)
{
    surface_flux q = measure_flux(job, corner, n);
    ty_tet_missing* missing = &job->missing[v - job->m->state.mesh.n_inner];
    double size = ty_norm(q.area), h2 = job->cell * job->cell;
    bool told = !given && 3.0 * q.plain >= LEAST_AREA * h2 && size >= LEAST_FLAT * q.plain,
         held = false;
    missing->normal = size > 0.0 ? q.area / size : q.area;
    for (int f = 0; f < 2; ++f) {
        double low, high;
        ty_vec3* value = &job->field[f].vert[v];
        if (told && find_range(job, &job->field[f], missing->normal, corner, n, &low, &high)) {
            double w = ty_clamp(q.flux[f] / size, low, high);
            held |= f == 0 && w != q.flux[f] / size;
            *value += (w - ty_dot(missing->normal, *value)) * missing->normal;
            missing->range[f] = high - low;
        }
    }
    missing->flux = q.flux[0] - ty_dot(q.area, job->field[0].vert[v]);
    missing->takes = told && !held ? size : 0.0;
}

ty_vec3 ty_tet_wall_velocity(const ty_tet_motion* m, const ty_tet_stars* stars, int v)
{
    const ty_tet_state* s = &m->state;
    ty_vec3 sum = {0};
    int n = 0;
    for (int k = stars->first.at[v]; k < stars->first.at[v + 1]; ++k) {
        int t = stars->corner.at[k] / 4, on = 0;
        for (int i = 0; i < 4; ++i) on += (s->vert_kind.at[s->mesh.tet[t][i]] & TY_VERT_SOLID) != 0;
        if (on >= 3) sum += ty_tet_solid_velocity(s, t), ++n;
    }
    return n ? sum / n : sum;
}

// Where all tets are held, their velocity. (With that of the held ones at the others, too, a jet contracts later than it should: 4.0
// instead of 2.8 % too much in tests/shaken's.)
static bool take_held(const vertex_job* job, int v, const int* corner, int n)
{
    const ty_tet_motion* m = job->m;
    ty_vec3 sum = {0};
    double all = 0.0;
    for (int k = 0; k < n; ++k) {
        int t = corner[k] / 4;
        if (!ty_tet_is_held(&m->state, t)) continue;
        sum += m->volume.at[t] * job->field[0].tet[t];
        all += m->volume.at[t];
    }
    if (!(all > 0.0)) return false;
    job->field[0].vert[v] = sum / all;
    job->field[1].vert[v] = ty_vec(0, 0, 0);
    return true;
}

static void vertex_block(void* ctx, ty_range r)
{
    const vertex_job* job = ctx;
    const ty_tet_state* s = &job->m->state;
    for (int64_t v = r.begin; v < r.end; ++v) {
        const int* corner = job->stars->corner.at + job->stars->first.at[v];
        int n = job->stars->first.at[v + 1] - job->stars->first.at[v];
        bool cut = false;
        for (int k = 0; k < n && !cut; ++k) cut = s->open.at[corner[k] / 4] < 1.0;
        if (!cut && n >= LEAST_FIT) fit_fields(job, ty_load3(s->mesh.vert[v]), (int)v, corner, n);
        else
            for (int f = 0; f < 2; ++f)
                job->field[f].vert[v] = rigid(job, &job->field[f], ty_load3(s->mesh.vert[v]),
                                              corner, n);
        bool held = s->held.n && (s->vert_kind.at[v] & TY_VERT_HELD) &&
                    take_held(job, (int)v, corner, n);
        if (s->vert_kind.at[v] & TY_VERT_AIR) set_normal_part(job, (int)v, corner, n, held);
        if (!job->m->sticks || !(s->vert_kind.at[v] & TY_VERT_SOLID)) continue;
        job->field[0].vert[v] = ty_tet_wall_velocity(job->m, job->stars, (int)v);
        job->field[1].vert[v] = ty_vec(0, 0, 0);
    }
}

void ty_tet_centre_weights(const ty_tet_state* s, int tet, double l[4])
{
    double d[4];
    for (int i = 0; i < 4; ++i) l[i] = 0.25, d[i] = s->solid.at[s->mesh.tet[tet][i]];
    if (s->open.at[tet] > 0.0 && s->open.at[tet] < 1.0) ty_tet_open_centre(d, l);
}

static void measure_block(void* ctx, ty_range r)
{
    ty_tet_motion* m = ctx;
    const ty_tet_mesh* mesh = &m->state.mesh;
    for (int64_t t = r.begin; t < r.end; ++t) {
        const int* v = mesh->tet[t];
        m->centre.at[t] = 0.25 * ((ty_load3(mesh->vert[v[0]]) + ty_load3(mesh->vert[v[1]])) +
                                  (ty_load3(mesh->vert[v[2]]) + ty_load3(mesh->vert[v[3]])));
        m->volume.at[t] = ty_tet_mesh_geometry(mesh, (int)t).volume;
        if (!(m->state.open.at[t] > 0.0 && m->state.open.at[t] < 1.0)) continue;
        double l[4];
        ty_tet_centre_weights(&m->state, (int)t, l);
        m->centre.at[t] = ty_vec(0, 0, 0);
        for (int i = 0; i < 4; ++i) m->centre.at[t] += l[i] * ty_load3(mesh->vert[v[i]]);
    }
}

ty_status ty_tet_motion_measure(ty_tet_motion* m)
{
    int n = m->state.mesh.n_tets;
    if (!ty_array_resize(&m->volume, n) || !ty_array_resize(&m->centre, n))
        return ty_no_memory("tets");
    ty_parallel_for(n, BLOCK, measure_block, m);
    return ty_ok();
}

static void deviation_block(void* ctx, ty_range r)
{
    const vertex_job* job = ctx;
    const ty_tet_mesh* mesh = &job->m->state.mesh;
    ty_vec3* out[2] = {job->m->u.deviation.at, job->m->a.deviation.at};
    for (int64_t t = r.begin; t < r.end; ++t) {
        double l[4];
        ty_tet_centre_weights(&job->m->state, (int)t, l);
        for (int f = 0; f < 2; ++f) {
            const ty_vec3* vert = job->field[f].vert;
            const int* v = mesh->tet[t];
            out[f][t] = job->field[f].tet[t] - ((l[0] * vert[v[0]] + l[1] * vert[v[1]]) +
                                                (l[2] * vert[v[2]] + l[3] * vert[v[3]]));
        }
    }
}

ty_status ty_tet_motion_values(ty_tet_motion* m, ty_tet_stars* stars)
{
    ty_tet_state* s = &m->state;
    int n_verts = s->mesh.n_verts, n_tets = s->mesh.n_tets;
    bool ok = ty_array_resize(&m->u.vert, n_verts) && ty_array_resize(&m->a.vert, n_verts) &&
              ty_array_resize(&m->u.deviation, n_tets) && ty_array_resize(&m->a.deviation, n_tets);
    if (!ok) return ty_no_memory("velocities at vertices");
    if (m->paper) {
        TY_TRY(ty_tet_paper_values(m));
        return ty_tet_motion_skin_values(m);
    }
    TY_TRY(ty_tet_stars_make(stars, &s->mesh));
    vertex_job job = {
        .m = m,
        .stars = stars,
        .field = {{s->u.at, m->u.vert.at}, {s->a.at, m->a.vert.at}},
        .cell = s->mesh.tree.cell,
        .missing = ty_alloc_zero((size_t)(n_verts - s->mesh.n_inner), sizeof *job.missing)};
    if (!job.missing) return ty_no_memory("velocities at vertices");
    ty_parallel_for(n_verts, BLOCK, vertex_block, &job);
    ty_status status = ty_tet_balance(m, job.missing);
    if (status.code == TY_OK) status = ty_tet_motion_skin_values(m);
    if (status.code == TY_OK && m->sharpens) status = ty_tet_sharpen(m, job.missing);
    ty_free(job.missing);
    TY_TRY(status);
    ty_parallel_for(n_tets, BLOCK, deviation_block, &job);
    return ty_ok();
}

ty_status ty_tet_motion_finish(ty_tet_motion* m, ty_tet_stars* stars)
{
    TY_TRY(ty_tet_motion_close(m));
    return ty_tet_motion_values(m, stars);
}
