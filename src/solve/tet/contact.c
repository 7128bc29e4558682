// SPDX-License-Identifier: Apache-2.0
// The pressure where the surface has run on into a wall. Its place there is a guess of the
// tracker's; what counts is that linear pressures stay linear and that ripples at the wall are not
// magnified. So a vertex inside the wall takes the linear function fitted to the free surface's
// open vertices around it, on its side of the wall.
#include "core/parallel.h"
#include "geometry/slope.h"
#include "solve/tet/motion.h"

enum { BLOCK = 64, LEAST_FIT = 3 };
static const double REACH = 2.5;     // cells around the vertex
static const double WIDTH = 1.0;     // cells: of the Gaussian weights
static const double RIDGE = 1e-3;    // of the trace: vertices on a plane tell nothing across it
// Cells: vertices farther behind the wall are on another side of it
static const double SIDE = 0.3;
static const double PROBE = 0.125;    // cells
// Cells: a wall point deeper in a solid is another one's, and tells no side
static const double ON_FACE = 0.05;

typedef struct contact_job {
    const ty_tetflow* tf;
    ty_tet_motion* m;
    ty_sampler solid;
} contact_job;

typedef struct fit {
    const contact_job* job;
    int pass;
    bool sided;
    ty_vec3 wall, out, middle;    // middle: mean place, after the first pass
    double all, mean;
    double xx, xy, xz, yy, yz, zz;
    ty_vec3 slope;    // right-hand side
    int n;
} fit;

static void add(void* ctx, int id, double distance2)
{
    fit* f = ctx;
    const ty_tet_state* s = &f->job->m->state;
    double h = f->job->tf->def->cell;
    int v = f->job->tf->contact_id.at[id];
    ty_vec3 x = ty_load3(s->mesh.vert[v]);
    if (f->sided && ty_dot(x - f->wall, f->out) < -SIDE * h) return;
    double w = exp(-distance2 / (WIDTH * WIDTH * h * h));
    if (f->pass == 0) {
        f->all += w, f->middle += w * x, f->mean += w * s->given.at[v], ++f->n;
        return;
    }
    ty_vec3 e = x - f->middle;
    f->xx += w * e[0] * e[0], f->xy += w * e[0] * e[1], f->xz += w * e[0] * e[2];
    f->yy += w * e[1] * e[1], f->yz += w * e[1] * e[2], f->zz += w * e[2] * e[2];
    f->slope += w * (s->given.at[v] - f->mean) * e;
}

static ty_vec3 slope(const fit* f)
{
    double ridge = RIDGE * (f->xx + f->yy + f->zz);
    ty_vec3 a = {f->xx + ridge, f->xy, f->xz}, b = {f->xy, f->yy + ridge, f->yz},
            c = {f->xz, f->yz, f->zz + ridge};
    double det = ty_dot(a, ty_cross(b, c));
    if (!(det > 0.0)) return ty_vec(0, 0, 0);
    return (f->slope[0] * ty_cross(b, c) + f->slope[1] * ty_cross(c, a) +
            f->slope[2] * ty_cross(a, b)) /
           det;
}

ty_vec3 ty_tet_way_out(const ty_sampler* solid, double cell, ty_vec3 x)
{
    double at[4][3], d[4];
    ty_vec3 g = {0};
    for (int c = 0; c < 4; ++c) ty_store3(at[c], x + PROBE * cell * ty_load3(TY_TETRA[c]));
    ty_sample(solid, 4, (const double(*)[3])at, d);
    for (int c = 0; c < 4; ++c) g += d[c] * ty_load3(TY_TETRA[c]);
    return ty_normalize(g);
}

static void fit_vertex(const contact_job* job, int v)
{
    ty_tet_state* s = &job->m->state;
    const double* at = s->mesh.vert[v];
    fit f = {.job = job, .out = ty_tet_way_out(&job->solid, job->tf->def->cell, ty_load3(at))};
    f.wall = ty_load3(at) - s->solid.at[v] * f.out;
    f.sided = ty_value_at(&job->solid, f.wall) > -ON_FACE * job->tf->def->cell;
    double reach = REACH * job->tf->def->cell;
    ty_hash_grid_near(&job->tf->contact_grid, at, reach, add, &f);
    if (f.n < LEAST_FIT) return;
    f.middle /= f.all, f.mean /= f.all, f.pass = 1;
    ty_hash_grid_near(&job->tf->contact_grid, at, reach, add, &f);
    s->given.at[v] = f.mean + ty_dot(slope(&f), ty_load3(at) - f.middle);
}

static void fit_block(void* ctx, ty_range r)
{
    const contact_job* job = ctx;
    for (int64_t i = r.begin; i < r.end; ++i) fit_vertex(job, job->tf->contact.at[i]);
}

ty_status ty_tetflow_contact(ty_tetflow* tf)
{
    ty_tet_motion* m = ty_tetflow_new(tf);
    const ty_tet_state* s = &m->state;
    tf->contact.n = tf->contact_id.n = tf->contact_x.n = 0;
    for (int v = s->mesh.n_inner; v < s->mesh.n_verts; ++v) {
        if (!(s->vert_kind.at[v] & TY_VERT_AIR) || !(s->vert_kind.at[v] & TY_VERT_LIVE)) continue;
        if (s->solid.at[v] < 0.0 ? !ty_array_push(&tf->contact, v)
                                 : !ty_array_push(&tf->contact_id, v))
            return ty_no_memory("contact lines");
    }
    if (tf->contact.n == 0 || tf->contact_id.n == 0) return ty_ok();
    if (!ty_array_resize(&tf->contact_x, 3 * tf->contact_id.n))
        return ty_no_memory("contact lines");
    for (int64_t i = 0; i < tf->contact_id.n; ++i)
        ty_store3(tf->contact_x.at + 3 * i, ty_load3(s->mesh.vert[tf->contact_id.at[i]]));
    TY_TRY(ty_hash_grid_build(&tf->contact_grid, (int)tf->contact_id.n,
                              (const double(*)[3])tf->contact_x.at, REACH * tf->def->cell));
    contact_job job = {tf, m, ty_world_solid(tf->world)};
    ty_parallel_for(tf->contact.n, BLOCK, fit_block, &job);
    return ty_ok();
}
