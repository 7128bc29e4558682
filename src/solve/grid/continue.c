// SPDX-License-Identifier: Apache-2.0
// Values beyond the liquid: layers of averages into air and solids, solids' own velocity there,
// ghosts behind the domain's sides.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"

enum { BLOCK = 512, QUEUED = 255 };

// Cells from the surface: faces so deep have the liquid's around them, be distances steep as they may.
static const double DEEP = 3.0;
// 1 / the open fraction from which on a face's velocity is its own.
static const double PER_TRUSTED = 1.0;

typedef struct continue_job {
    ty_gridflow* gf;
    int axis;
    uint8_t layer;
    double* values;    // per cut face
    const double* from;
    const double* body;    // where the velocity relative to moving solids is meant
} continue_job;

// A value and its acceleration, where that is carried.
typedef int64_t two_masks __attribute__((vector_size(16), aligned(8)));

// Mean over the neighbours that were known before this layer. Which of them were cannot be foreseen,
// so that no branch asks: the others add nothing.
static void average_block(void* ctx, ty_range r)
{
    const continue_job* job = ctx;
    ty_gridflow* gf = job->gf;
    const uint8_t* mark = gf->mark[job->axis];
    double* u = gf->next[job->axis];
    double* a = gf->carries ? gf->next_acc[job->axis] : u;
    const double *body = gf->body[job->axis], *open = gf->open[job->axis];
    for (int64_t k = r.begin; k < r.end; ++k) {
        int f = gf->layer.at[k], n = 0;
        ty_vec2 sum = {0}, sum_body = {0};
        for (int side = 0; side < 6; ++side) {
            int nb = f + (side % 2 ? 1 : -1) * gf->cells.stride[side / 2];
            int known = (uint8_t)(mark[nb] - 1) < job->layer - 1;    // 0 becomes the largest
            two_masks all = {-known, -known};
            sum += (ty_vec2)((two_masks)(ty_vec2){u[nb], a[nb]} & all);
            if (gf->rides) sum_body += (ty_vec2)((two_masks)(ty_vec2){body[nb], 0.0} & all);
            n += known;
        }
        ty_vec2 mean = sum / (double)n;
        a[f] = mean[1];
        u[f] = mean[0];
        if (gf->rides && open[f] == 0.0) u[f] += body[f] - sum_body[0] / n;
    }
}

// Lists the unknown faces beside the given ones, once each, inside the domain only. Here too no branch
// asks: all are written, and the next one overwrites those that are not new.
static ty_status grow(ty_gridflow* gf, int axis, const int* face, int64_t n)
{
    const uint8_t *within = gf->within, bit = (uint8_t)(1 << axis);
    uint8_t* mark = gf->mark[axis];
    int step[6];
    for (int side = 0; side < 6; ++side)
        step[side] = (side % 2 ? 1 : -1) * gf->cells.stride[side / 2];
    if (!ty_array_reserve(&gf->layer, gf->layer.n + 6 * n + 1))
        return ty_no_memory("extrapolation");
    int* layer = gf->layer.at;
    int64_t listed = gf->layer.n;
    for (int64_t k = 0; k < n; ++k)
        for (int side = 0, f = face[k]; side < 6; ++side) {
            int nb = f + step[side];
            int is_new = (mark[nb] == 0) & ((within[nb] & bit) != 0);
            layer[listed] = nb;
            mark[nb] |= (uint8_t)(-is_new & QUEUED);
            listed += is_new;
        }
    gf->layer.n = listed;
    return ty_ok();
}

// What is known before extrapolation: the liquid's faces, and those inside sources, so that the air
// before a source that nothing wets yet moves with it; else its water would not come out until it
// reached a cell's centre.
static ty_status list_known(ty_gridflow* gf, int axis)
{
    const ty_ids* face = &gf->face[axis];
    const ty_cut_faces* cut = &gf->cut[axis];
    if (!ty_array_resize(&gf->front, face->n)) return ty_no_memory("extrapolation");
    if (face->n) memcpy(gf->front.at, face->at, (size_t)face->n * sizeof *face->at);
    for (int64_t k = 0; gf->has_spouts && k < cut->face.n; ++k) {
        int f = cut->face.at[k];
        if (cut->slip.at[k] >= 0.0 || gf->open[axis][f] > 0.0 || gf->mark[axis][f]) continue;
        gf->mark[axis][f] = 1;
        gf->next[axis][f] = cut->velocity.at[k][axis];
        if (gf->carries) gf->next_acc[axis][f] = 0.0;
        if (!ty_array_push(&gf->front, f)) return ty_no_memory("extrapolation");
    }
    return ty_ok();
}

// Whether all faces beside one are the liquid's: it lies deep in it, and no obstacle or side is near.
static inline bool is_deep(const ty_gridflow* gf, int axis, int f)
{
    int below = f - gf->cells.stride[axis];
    return gf->phi[f] < -DEEP * gf->cells.h && gf->phi[below] < -DEEP * gf->cells.h &&
           !((gf->within[f] | gf->within[below]) & TY_BESIDE_SIDE);
}

// Leaves those known faces beside which there may be others.
static void drop_deep(ty_gridflow* gf, int axis)
{
    int64_t left = 0;
    for (int64_t k = 0; k < gf->front.n; ++k)
        if (!is_deep(gf, axis, gf->front.at[k])) gf->front.at[left++] = gf->front.at[k];
    gf->front.n = left;
}

static ty_status extrapolate(ty_gridflow* gf, int axis)
{
    TY_TRY(list_known(gf, axis));
    if (!gf->has_bodies) drop_deep(gf, axis);
    for (int layer = 0; layer < gf->layers; ++layer) {
        gf->layer.n = 0;
        TY_TRY(grow(gf, axis, gf->front.at, gf->front.n));
        continue_job job = {.gf = gf, .axis = axis, .layer = (uint8_t)(layer + 2)};
        ty_parallel_for(gf->layer.n, BLOCK, average_block, &job);
        for (int64_t k = 0; k < gf->layer.n; ++k) gf->mark[axis][gf->layer.at[k]] = job.layer;
        ty_ids done = gf->front;
        gf->front = gf->layer;
        gf->layer = done;
    }
    return ty_ok();
}

// Outward normal of the solid at a face centre, from node distances.
static ty_vec3 solid_normal(const ty_gridflow* gf, int axis, int f)
{
    const double* s = gf->solid;
    const int* stride = gf->cells.stride;
    int b = stride[(axis + 1) % 3], c = stride[(axis + 2) % 3], a = stride[axis], at[3];
    ty_cell_coords(&gf->cells, f, at);
    int ahead = at[axis] <= gf->cells.n[axis] ? a : 0, behind = at[axis] > 1 ? a : 0;
    const double ring[4] = {s[f], s[f + b], s[f + b + c], s[f + c]};
    double along = 0.0;
    const int corner[4] = {0, b, b + c, c};
    for (int k = 0; k < 4; ++k) along += s[f + corner[k] + ahead] - s[f + corner[k] - behind];
    double normal[3];
    normal[axis] = ahead || behind ? 0.5 * along / ((ahead + behind) / a) : 0.0;
    normal[(axis + 1) % 3] = ring[1] + ring[2] - ring[0] - ring[3];
    normal[(axis + 2) % 3] = ring[2] + ring[3] - ring[0] - ring[1];
    return ty_normalize(ty_load3(normal));
}

// The vector at a face: its own component, and the means of what is known of the others around it.
static ty_vec3 known_vector(const ty_gridflow* gf, int axis, int f)
{
    double v[3];
    for (int d = 0; d < 3; ++d) {
        int up = gf->cells.stride[d], back = -gf->cells.stride[axis], n = 0;
        const int around[4] = {f, f + up, f + back, f + back + up};
        double sum = 0.0;
        for (int k = 0; k < 4; ++k)
            if (gf->mark[d][around[k]]) sum += gf->next[d][around[k]], ++n;
        v[d] = d == axis ? gf->next[axis][f] : n ? sum / n : 0.0;
    }
    return ty_load3(v);
}

static void constrain_block(void* ctx, ty_range r)
{
    const continue_job* job = ctx;
    ty_gridflow* gf = job->gf;
    const ty_cut_faces* cut = &gf->cut[job->axis];
    for (int64_t k = r.begin; k < r.end; ++k) {
        int f = cut->face.at[k];
        double slip = cut->slip.at[k];
        ty_vec3 solid = cut->velocity.at[k];
        job->values[k] = gf->next[job->axis][f];
        if (gf->open[job->axis][f] > 0.0 || (slip >= 0.0 && gf->mark[job->axis][f] == 0)) continue;
        ty_vec3 n = solid_normal(gf, job->axis, f),
                relative = known_vector(gf, job->axis, f) - solid;
        ty_vec3 tangential = relative - ty_dot(relative, n) * n;
        ty_vec3 u = slip < 0.0 ? solid : solid + slip * tangential;
        job->values[k] = u[job->axis];
    }
}

// In solids the normal component is theirs, and the tangential one as much as they hold it.
static ty_status constrain(ty_gridflow* gf)
{
    int64_t total = 0, begin[3];
    for (int axis = 0; axis < 3; ++axis) begin[axis] = total, total += gf->cut[axis].face.n;
    if (!ty_array_resize(&gf->scratch, total)) return ty_no_memory("velocities in solids");
    for (int axis = 0; axis < 3; ++axis) {
        continue_job job = {.gf = gf, .axis = axis, .values = gf->scratch.at + begin[axis]};
        ty_parallel_for(gf->cut[axis].face.n, BLOCK, constrain_block, &job);
    }
    for (int axis = 0; axis < 3; ++axis)
        for (int64_t k = 0; k < gf->cut[axis].face.n; ++k)
            gf->next[axis][gf->cut[axis].face.at[k]] = gf->scratch.at[begin[axis] + k];
    return ty_ok();
}

// Faces that are mostly closed belong to slivers of liquid: their velocities answer to the surface
// with large factors (1 / theta over a small volume) and drive it in turn. As far as they are
// closed they take the mean of their neighbours, weighted by openness; uniform flow stays as it is.
// Without this a tilted pool with a half-drowned ball amplifies rounding by exp(0.26 t sqrt(g/h)).
static void blend_block(void* ctx, ty_range r)
{
    const continue_job* job = ctx;
    ty_gridflow* gf = job->gf;
    const double *open = gf->open[job->axis], *from = job->from;
    for (int64_t k = r.begin; k < r.end; ++k) {
        int f = gf->cut[job->axis].face.at[k];
        double sum = 0.0, weight = 0.0, own = open[f] * PER_TRUSTED;
        job->values[k] = from[f];
        if (gf->mark[job->axis][f] != 1 || own >= 1.0) continue;
        for (int side = 0; side < 6; ++side) {
            int nb = f + (side % 2 ? 1 : -1) * gf->cells.stride[side / 2];
            if (gf->mark[job->axis][nb] != 1) continue;
            sum += open[nb] * (job->body ? from[nb] - job->body[nb] : from[nb]);
            weight += open[nb];
        }
        if (weight <= 0.0) continue;
        double mean = sum / weight + (job->body ? job->body[f] : 0.0);
        job->values[k] = own * from[f] + (1.0 - own) * mean;
    }
}

static ty_status blend_slivers(ty_gridflow* gf, int axis, double* values, const double* body)
{
    const ty_ids* face = &gf->cut[axis].face;
    if (!ty_array_resize(&gf->scratch, face->n)) return ty_no_memory("velocities beside solids");
    continue_job job = {
        .gf = gf, .axis = axis, .values = gf->scratch.at, .from = values, .body = body};
    ty_parallel_for(face->n, BLOCK, blend_block, &job);
    for (int64_t k = 0; k < face->n; ++k) values[face->at[k]] = gf->scratch.at[k];
    return ty_ok();
}

// A plane of one component behind (or, for its own axis, on) a side of the domain.
typedef struct side_job {
    ty_gridflow* gf;
    int side, component;
    double slip;
    const ty_varying* wall;
} side_job;

static double wall_component(const side_job* job, int ghost)
{
    double x[1][3], v[3] = {0};
    const ty_cells* c = &job->gf->cells;
    if (ty_varying_is_constant(job->wall)) return job->wall->constant[job->component];
    ty_face_center(c, job->component, ghost, x[0]);
    x[0][job->side / 2] += job->side % 2 ? -0.5 * c->h : 0.5 * c->h;
    ty_status s = ty_varying_eval(job->wall, ty_world_time(job->gf->world), 1,
                                  (const double(*)[3])x, v);
    return s.code == TY_OK ? v[job->component] : 0.0;
}

static void fill_plane(const side_job* job)
{
    ty_gridflow* gf = job->gf;
    const ty_cells* c = &gf->cells;
    int axis = job->side / 2, high = job->side % 2, b = (axis + 1) % 3, d = (axis + 2) % 3, at[3];
    bool closed = gf->closed[job->side];
    double hold = closed ? 1.0 - job->slip : 0.0;
    for (at[d] = 0; at[d] < c->m[d]; ++at[d])
        for (at[b] = 0; at[b] < c->m[b]; ++at[b]) {
            at[axis] = high ? c->n[axis] + 1 : job->component == axis ? 1 : 0;
            int ghost = ty_cell_index(c, at[0], at[1], at[2]);
            if (job->component == axis) {
                if (closed) gf->next[axis][ghost] = 0.0;
                continue;
            }
            int inner = high ? ghost - c->stride[axis] : ghost + c->stride[axis];
            double u = gf->next[job->component][inner];
            double wall = hold > 0.0 ? wall_component(job, ghost) : 0.0;
            gf->next[job->component][ghost] = (1.0 - hold) * u + hold * (2.0 * wall - u);
            if (gf->carries)
                gf->next_acc[job->component][ghost] = gf->next_acc[job->component][inner];
        }
}

static void fill_sides(ty_gridflow* gf)
{
    const ty_world_def* def = ty_world_get_def(gf->world);
    for (int side = 0; side < TY_N_SIDES; ++side)
        for (int component = 0; component < 3; ++component) {
            side_job job = {gf, side, component, def->wall[side].slip, &def->wall[side].velocity};
            fill_plane(&job);
        }
}

ty_status ty_gridflow_continue(ty_gridflow* gf)
{
    ty_gridflow_note_flux(gf);
    for (int axis = 0; axis < 3 && gf->has_bodies; ++axis) {
        TY_TRY(blend_slivers(gf, axis, gf->next[axis], gf->rides ? gf->body[axis] : NULL));
        if (gf->carries) TY_TRY(blend_slivers(gf, axis, gf->next_acc[axis], NULL));
    }
    for (int axis = 0; axis < 3; ++axis) TY_TRY(extrapolate(gf, axis));
    if (gf->has_bodies) {
        fill_sides(gf);
        TY_TRY(constrain(gf));
    }
    TY_TRY(ty_gridflow_balance(gf));
    fill_sides(gf);
    return ty_gridflow_continue_flux(gf);
}
