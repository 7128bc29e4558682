// SPDX-License-Identifier: Apache-2.0
// What contouring loses in a step. Liquid that touches nothing has lost what its mesh has less than
// before. Liquid at walls runs on into them, and leaves through open sides: there the mesh that is
// contoured is compared with the one that was moved, both without what is nearer than FREE cells to
// the domain's sides.
//
//   volume in a box = sum over triangles, x and z in the box, of
//                     int (y - y_lo)+ n_y dA - int (y - y_hi)+ n_y dA
#include "core/parallel.h"
#include "track/contour/slc.h"
#include "world/trace.h"

enum { BLOCK = 256, MOST_CORNERS = 8, HEIGHT = 1 };    // three corners, and one for every cut
static const double FREE = 2.0;      // cells around a surface that touches nothing
static const double FATTER = 2.0;    // cells, more than a mesh is fattened in a step

typedef struct polygon {
    int n;
    ty_vec3 x[MOST_CORNERS];
} polygon;

// What of p has side * (x[axis] - at) > 0.
static polygon cut(const polygon* p, int axis, double at, double side)
{
    polygon out = {0};
    for (int i = 0; i < p->n; ++i) {
        ty_vec3 a = p->x[i], b = p->x[(i + 1) % p->n];
        double da = side * (a[axis] - at), db = side * (b[axis] - at);
        if (da > 0.0) out.x[out.n++] = a;
        if ((da > 0.0) != (db > 0.0)) out.x[out.n++] = a + da / (da - db) * (b - a);
    }
    return out;
}

static bool is_between(const polygon* p, int axis, double lo, double hi)
{
    bool between = true;
    for (int i = 0; i < p->n; ++i) between &= p->x[i][axis] > lo && p->x[i][axis] < hi;
    return between;
}

// The integral of (y - at)+ n_y.
static double raised(const polygon* p, double at)
{
    polygon above = cut(p, HEIGHT, at, 1.0);
    double sum = 0.0;
    for (int i = 2; i < above.n; ++i) {
        ty_vec3 a = above.x[0], b = above.x[i - 1], c = above.x[i];
        double height = (a[HEIGHT] + b[HEIGHT] + c[HEIGHT]) / 3.0 - at;
        sum += 0.5 * ty_cross(b - a, c - a)[HEIGHT] * height;
    }
    return sum;
}

typedef struct volume_job {
    const ty_tri_mesh* mesh;
    ty_box box;
} volume_job;

static double volume_block(void* ctx, ty_range r)
{
    const volume_job* job = ctx;
    double sum = 0.0;
    for (int64_t t = r.begin; t < r.end; ++t) {
        polygon p = {.n = 3};
        for (int k = 0; k < 3; ++k) p.x[k] = ty_load3(job->mesh->vert[job->mesh->tri[t][k]]);
        for (int axis = 0; axis < 3; ++axis) {
            if (axis == HEIGHT || is_between(&p, axis, job->box.lo[axis], job->box.hi[axis]))
                continue;
            p = cut(&p, axis, job->box.lo[axis], 1.0);
            p = cut(&p, axis, job->box.hi[axis], -1.0);
        }
        sum += raised(&p, job->box.lo[HEIGHT]) - raised(&p, job->box.hi[HEIGHT]);
    }
    return sum;
}

static double volume_in_open(const ty_slc* s, const ty_tri_mesh* mesh)
{
    volume_job job = {.mesh = mesh};
    for (int axis = 0; axis < 3; ++axis) {
        job.box.lo[axis] = s->lo[axis] + FREE * s->def.cell;
        job.box.hi[axis] = s->hi[axis] - FREE * s->def.cell;
        if (!(job.box.lo[axis] < job.box.hi[axis])) return 0.0;
    }
    return ty_parallel_sum(mesh->n_tris, BLOCK, volume_block, &job);
}

// Whether the surface is more than FREE cells and `way` from the domain's sides.
static bool is_free(const ty_slc* s, double way)
{
    ty_box box = ty_slc_bounds(s, FREE * s->def.cell + way);
    for (int axis = 0; axis < 3 && s->has_domain; ++axis)
        if (!(box.lo[axis] > s->lo[axis] && box.hi[axis] < s->hi[axis])) return false;
    return true;
}

typedef struct move_job {
    const ty_flow* flow;
    double dt;
    ty_tri_mesh* mesh;
} move_job;

static void move_block(void* ctx, ty_range r)
{
    const move_job* job = ctx;
    double(*x)[3] = job->mesh->vert + r.begin;
    ty_trace_forward(job->flow, job->dt, (int)(r.end - r.begin), (const double(*)[3])x, x);
}

ty_status ty_slc_expect(ty_slc* s, const ty_flow* flow, double dt, ty_slc_expected* out)
{
    *out = (ty_slc_expected){0};
    if (s->fat.n == 0 || ty_world_has_obstacles(s->world)) return ty_ok();
    out->all = ty_tri_mesh_volume(ty_slc_shown(s));
    if (is_free(s, flow->max_speed * dt + FATTER * s->def.cell)) return ty_ok();
    ty_tri_mesh moved = {0};
    ty_status status = ty_tri_mesh_copy(&moved, ty_slc_shown(s));
    if (status.code == TY_OK) {
        move_job job = {flow, dt, &moved};
        ty_parallel_for(moved.n_verts, BLOCK, move_block, &job);
        out->in_open = volume_in_open(s, &moved);
    }
    ty_tri_mesh_free(&moved);
    return status;
}

double ty_slc_lost(const ty_slc* s, const ty_slc_expected* expected)
{
    const ty_tri_mesh* mesh = ty_slc_shown(s);
    if (s->now.inset.n == 0 || ty_world_has_obstacles(s->world)) return 0.0;
    if (is_free(s, 0.0)) return expected->all - ty_tri_mesh_volume(mesh);
    return expected->in_open - volume_in_open(s, mesh);
}
