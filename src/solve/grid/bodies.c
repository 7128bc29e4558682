// SPDX-License-Identifier: Apache-2.0
// Obstacles and sources on the grid: how much of every face is open, and how what closes the rest
// moves [Batty2007]. A source is a body too, one whose velocity holds inside and that pushes liquid
// out in front.
#include <string.h>

#include "core/parallel.h"
#include "solve/grid/gridflow.h"
#include "solve/grid/thin_walls.h"

// Node distances below this share of a cell count as 0, so that walls on lattice planes close whole
// faces.
static const double SNAP = 1e-6;
// Faces less open than this are closed: their cells would be dominated by rounding. Larger
// thresholds disturb flow along walls (notes/pitfalls: 0.02 ten times more than 1e-3).
static const double MIN_OPEN = 1e-3;
// How near a moving solid a face's neighbour may be, cells: a face inside, one cell on, and half a
// diagonal.
static const double BESIDE = 2.5;
// A source whose flux on the grid is this far from the world's is not corrected: part of it lies
// elsewhere.
static const double MAX_RATE_SCALE = 1.25;

typedef struct region {
    ty_gridflow* gf;
    int lo[3], hi[3];    // cells, memory coordinates
} region;

double ty_open_fraction(const double phi[4])
{
    int open = 0, first = -1;
    for (int i = 0; i < 4; ++i)
        if (phi[i] > 0.0) ++open;
    if (open == 0 || open == 4) return open / 4.0;
    // The corner whose sign stands alone, or the first of two neighbours.
    for (int i = 0; i < 4; ++i) {
        bool in = phi[i] > 0.0, next = phi[(i + 1) % 4] > 0.0, before = phi[(i + 3) % 4] > 0.0;
        if (open == 2 ? in && (next || !before) : in == (open == 1)) {
            first = i;
            break;
        }
    }
    double a = phi[first], b = phi[(first + 1) % 4], c = phi[(first + 2) % 4],
           d = phi[(first + 3) % 4];
    if (open != 2) {
        double corner = 0.5 * (a / (a - b)) * (a / (a - d));
        return open == 1 ? corner : 1.0 - corner;
    }
    if (b > 0.0) return 0.5 * (a / (a - d) + b / (b - c));
    // Opposite corners: two triangles, of the open part or of the closed one.
    if (a + b + c + d <= 0.0)
        return 0.5 * (a / (a - b) * (a / (a - d)) + c / (c - b) * (c / (c - d)));
    return 1.0 - 0.5 * (b / (b - a) * (b / (b - c)) + d / (d - a) * (d / (d - c)));
}

static void sample_solid(const ty_gridflow* gf, int n, const double (*x)[3], double* out)
{
    const ty_world* w = gf->world;
    if (ty_world_has_obstacles(w)) {
        ty_sampler obstacles = ty_world_obstacles(w);
        ty_sample(&obstacles, n, x, out);
    } else
        for (int i = 0; i < n; ++i) out[i] = 1e30;
    for (int s = 0; s < ty_world_n_sources(w); ++s) {
        ty_source source = ty_world_source(w, s);
        if (!source.on) continue;
        double d[TY_SAMPLE_BATCH];
        ty_sample(&source.distance, n, x, d);
        for (int i = 0; i < n; ++i) out[i] = fmin(out[i], d[i]);
    }
    for (int axis = 0; axis < 3; ++axis)
        for (int i = 0; i < n && gf->wall_at[axis] < INFINITY; ++i)
            out[i] = fmin(out[i], gf->wall_at[axis] - x[i][axis]);
}

static void node_rows(void* ctx, ty_range r)
{
    const region* g = ctx;
    const ty_cells* c = &g->gf->cells;
    int rows = g->hi[1] - g->lo[1] + 1;
    for (int64_t row = r.begin; row < r.end; ++row) {
        int j = g->lo[1] + (int)(row % rows), k = g->lo[2] + (int)(row / rows);
        for (int begin = g->lo[0]; begin <= g->hi[0]; begin += TY_SAMPLE_BATCH) {
            int n = g->hi[0] + 1 - begin < TY_SAMPLE_BATCH ? g->hi[0] + 1 - begin : TY_SAMPLE_BATCH;
            double x[TY_SAMPLE_BATCH][3], *out = g->gf->solid + ty_cell_index(c, begin, j, k);
            for (int i = 0; i < n; ++i) {
                int at[3] = {begin + i, j, k};
                for (int axis = 0; axis < 3; ++axis)
                    x[i][axis] = c->origin[axis] + c->h * (at[axis] - 1);
            }
            sample_solid(g->gf, n, (const double(*)[3])x, out);
            for (int i = 0; i < n; ++i)
                if (fabs(out[i]) < SNAP * c->h) out[i] = 0.0;
        }
    }
}

static bool on_closed_side(const ty_gridflow* gf, int axis, int at)
{
    return (at == 1 && gf->closed[2 * axis]) ||
           (at == gf->cells.n[axis] + 1 && gf->closed[2 * axis + 1]);
}

static double face_fraction(const ty_gridflow* gf, int axis, int f)
{
    const double* s = gf->solid;
    int b = gf->cells.stride[(axis + 1) % 3], c = gf->cells.stride[(axis + 2) % 3];
    double phi[4] = {s[f], s[f + b], s[f + b + c], s[f + c]};
    if (phi[0] > 0.0 && phi[1] > 0.0 && phi[2] > 0.0 && phi[3] > 0.0) return 1.0;
    double open = ty_open_fraction(phi);
    return open < MIN_OPEN ? 0.0 : open > 1.0 - MIN_OPEN * MIN_OPEN ? 1.0 : open;
}

static void fraction_rows(void* ctx, ty_range r)
{
    const region* g = ctx;
    ty_gridflow* gf = g->gf;
    int rows = g->hi[1] - g->lo[1] + 1;
    for (int64_t row = r.begin; row < r.end; ++row)
        for (int axis = 0; axis < 3; ++axis) {
            int at[3] = {0, g->lo[1] + (int)(row % rows), g->lo[2] + (int)(row / rows)}, end[3];
            for (int d = 0; d < 3; ++d) end[d] = g->hi[d] + (d == axis);
            if (at[1] >= end[1] || at[2] >= end[2]) continue;
            for (at[0] = g->lo[0]; at[0] < end[0]; ++at[0]) {
                int f = ty_cell_index(&gf->cells, at[0], at[1], at[2]);
                bool side = on_closed_side(gf, axis, at[axis]);
                gf->open[axis][f] = side ? 0.0 : gf->has_bodies ? face_fraction(gf, axis, f) : 1.0;
                gf->body[axis][f] = 0.0;
            }
        }
}

// A face on a side of the domain is the side's, but where a source comes in through an open one.
static bool on_end(const ty_gridflow* gf, int axis, int at)
{
    bool end = at == 1 || at == gf->cells.n[axis] + 1;
    return end && (on_closed_side(gf, axis, at) || !gf->has_spouts);
}

// All faces that are not wholly open, as deep as velocities are continued; beside moving solids
// also the open ones next to them, whose velocity relative to the solid is what is continued.
static ty_status list_cut_faces(region* g)
{
    ty_gridflow* gf = g->gf;
    const ty_cells* c = &gf->cells;
    double deepest = -(gf->most_layers + 3) * c->h, highest = gf->rides ? BESIDE * c->h : -INFINITY;
    for (int axis = 0; axis < 3; ++axis) {
        ty_cut_faces* cut = &gf->cut[axis];
        cut->face.n = 0;
        for (int k = g->lo[2]; k < g->hi[2] + (axis == 2); ++k)
            for (int j = g->lo[1]; j < g->hi[1] + (axis == 1); ++j)
                for (int i = g->lo[0]; i < g->hi[0] + (axis == 0); ++i) {
                    int f = ty_cell_index(c, i, j, k), at[3] = {i, j, k};
                    bool taken = gf->open[axis][f] < 1.0 || gf->solid[f] < highest;
                    if (!taken || gf->solid[f] < deepest || on_end(gf, axis, at[axis])) continue;
                    if (!ty_array_push(&cut->face, f)) return ty_no_memory("cut faces");
                }
        if (!ty_array_resize(&cut->velocity, cut->face.n) ||
            !ty_array_resize(&cut->slip, cut->face.n))
            return ty_no_memory("cut faces");
    }
    return ty_ok();
}

typedef struct cut_job {
    ty_gridflow* gf;
    int axis;
} cut_job;

// Which source, if any, closes each face: the one that is nearer than every obstacle.
static void find_sources(const ty_gridflow* gf, int n, const double (*x)[3], int* source,
                         double (*velocity)[3], double (*motion)[3])
{
    double nearest[TY_SAMPLE_BATCH], d[TY_SAMPLE_BATCH], v[TY_SAMPLE_BATCH][3],
        m[TY_SAMPLE_BATCH][3] = {{0}};
    for (int i = 0; i < n; ++i) source[i] = -1, nearest[i] = gf->cells.h;
    if (ty_world_has_obstacles(gf->world)) {
        ty_sampler obstacles = ty_world_obstacles(gf->world);
        ty_sample(&obstacles, n, x, nearest);
    }
    for (int s = 0; s < ty_world_n_sources(gf->world); ++s) {
        ty_source spout = ty_world_source(gf->world, s);
        if (!spout.on) continue;
        ty_sample(&spout.distance, n, x, d);
        ty_sample(&spout.velocity, n, x, v[0]);
        if (spout.moves) ty_sample(&spout.motion, n, x, m[0]);
        else memset(m, 0, sizeof m);
        for (int i = 0; i < n; ++i)
            if (d[i] < nearest[i]) {
                nearest[i] = d[i], source[i] = s;
                memcpy(velocity[i], v[i], sizeof v[i]);
                memcpy(motion[i], m[i], sizeof m[i]);
            }
    }
}

static void cut_velocities(void* ctx, ty_range r)
{
    const cut_job* job = ctx;
    ty_gridflow* gf = job->gf;
    ty_cut_faces* cut = &gf->cut[job->axis];
    double x[TY_SAMPLE_BATCH][3], v[TY_SAMPLE_BATCH][3] = {{0}}, drift[TY_SAMPLE_BATCH][3] = {{0}},
                                  slip[TY_SAMPLE_BATCH];
    int n = (int)(r.end - r.begin), source[TY_SAMPLE_BATCH];
    for (int i = 0; i < n; ++i)
        ty_face_center(&gf->cells, job->axis, cut->face.at[r.begin + i], x[i]);
    ty_sampler slips = ty_world_solid_slip(gf->world),
               velocities = ty_world_solid_velocity(gf->world);
    ty_sample(&slips, n, (const double(*)[3])x, slip);
    if (ty_world_solid_speed(gf->world) > 0.0)
        ty_sample(&velocities, n, (const double(*)[3])x, v[0]);
    find_sources(gf, n, (const double(*)[3])x, source, v, drift);
    for (int i = 0; i < n; ++i) {
        cut->velocity.at[r.begin + i] = ty_load3(v[i]);
        cut->slip.at[r.begin + i] = source[i] < 0 ? slip[i] : -1.0 - source[i];
        gf->body[job->axis][cut->face.at[r.begin + i]] = v[i][job->axis];
        if (gf->drift[job->axis])
            gf->drift[job->axis][cut->face.at[r.begin + i]] = drift[i][job->axis];
    }
}

static void mark_spouts(ty_gridflow* gf)
{
    memset(gf->spout, 0, (size_t)gf->cells.count);
    for (int axis = 0; axis < 3; ++axis)
        for (int64_t i = 0; i < gf->cut[axis].face.n; ++i) {
            double slip = gf->cut[axis].slip.at[i];
            int f = gf->cut[axis].face.at[i];
            if (slip >= 0.0 || gf->open[axis][f] == 1.0) continue;
            gf->spout[f] = gf->spout[f - gf->cells.stride[axis]] = (uint8_t)-slip;
        }
}

double ty_gridflow_emitted(const ty_gridflow* gf, int cell, double* area, double* displaced)
{
    double flux = 0.0, open = 0.0, normal2 = 0.0, swept = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        int low = cell, high = cell + gf->cells.stride[axis];
        double shut_low = 1.0 - gf->open[axis][low], shut_high = 1.0 - gf->open[axis][high];
        flux += shut_low * gf->body[axis][low] - shut_high * gf->body[axis][high];
        if (gf->drift[axis])
            swept += shut_low * gf->drift[axis][low] - shut_high * gf->drift[axis][high];
        open += gf->open[axis][low] + gf->open[axis][high];
        normal2 += (shut_low - shut_high) * (shut_low - shut_high);
    }
    *area = open > 0.0 ? sqrt(normal2) : 0.0;
    *displaced = open > 0.0 ? swept : 0.0;
    return open > 0.0 && flux > swept ? flux - swept : 0.0;
}

// The flux that comes out on the grid against the world's rate.
static ty_status scale_sources(ty_gridflow* gf)
{
    int n = ty_world_n_sources(gf->world);
    if (!ty_array_resize(&gf->emission, 2 * n)) return ty_no_memory("sources");
    memset(gf->emission.at, 0, sizeof(double) * 2 * (size_t)n);
    double h2 = gf->cells.h * gf->cells.h, area, displaced;
    for (int i = 0; i < gf->cells.count; ++i) {
        if (!gf->spout[i]) continue;
        double* sums = gf->emission.at + 2 * (gf->spout[i] - 1);
        sums[0] += h2 * ty_gridflow_emitted(gf, i, &area, &displaced);
        sums[1] += h2 * area;
    }
    for (int s = 0; s < n; ++s) {
        ty_source source = ty_world_source(gf->world, s);
        double flux = gf->emission.at[2 * s], area_sum = gf->emission.at[2 * s + 1];
        double scale = flux > 0.0 ? source.rate / flux : 0.0;
        bool near = scale < MAX_RATE_SCALE && scale * MAX_RATE_SCALE > 1.0;
        gf->emission.at[2 * s] = near || source.has_rate ? scale : 1.0;
        bool still = source.has_rate && flux <= 0.0 && area_sum > 0.0;
        gf->emission.at[2 * s + 1] = still ? source.rate / area_sum : 0.0;
    }
    return ty_ok();
}

static bool any_source(const ty_world* world)
{
    for (int s = 0; s < ty_world_n_sources(world); ++s)
        if (ty_world_source(world, s).on) return true;
    return false;
}

static bool rides(const ty_world* world)
{
    return ty_world_has_obstacles(world) && ty_world_solid_speed(world) > 0.0;
}

static ty_status velocities(ty_gridflow* gf)
{
    for (int axis = 0; axis < 3; ++axis) {
        cut_job job = {.gf = gf, .axis = axis};
        ty_parallel_for(gf->cut[axis].face.n, TY_SAMPLE_BATCH, cut_velocities, &job);
    }
    if (!gf->has_spouts) return ty_ok();
    mark_spouts(gf);
    return scale_sources(gf);
}

ty_status ty_gridflow_bodies(ty_gridflow* gf)
{
    const ty_cells* c = &gf->cells;
    bool spouts = any_source(gf->world),
         changed = spouts || gf->has_spouts || ty_world_solid_moves(gf->world);
    if (gf->bodies_fixed && !changed && gf->rides == rides(gf->world))
        return gf->rides ? velocities(gf) : ty_ok();
    if (gf->has_spouts && !spouts) memset(gf->spout, 0, (size_t)c->count);
    gf->has_spouts = spouts;
    gf->has_bodies = spouts || ty_world_has_obstacles(gf->world) || gf->wall_at[0] < INFINITY ||
                     gf->wall_at[1] < INFINITY || gf->wall_at[2] < INFINITY;
    gf->bodies_fixed = !changed;
    gf->rides = rides(gf->world);
    region g = {.gf = gf, .lo = {1, 1, 1}};
    for (int axis = 0; axis < 3; ++axis) {
        g.hi[axis] = c->n[axis] + 1;
        if (changed) g.lo[axis] = gf->lo[axis], g.hi[axis] = gf->hi[axis];
    }
    int64_t rows = (int64_t)(g.hi[1] - g.lo[1] + 1) * (g.hi[2] - g.lo[2] + 1);
    if (gf->has_bodies) ty_parallel_for(rows, 8, node_rows, &g);
    ty_parallel_for(rows, 8, fraction_rows, &g);
    if (gf->def->paper && gf->has_bodies) ty_gridflow_whole_voxels(gf, g.lo, g.hi);
    else if (ty_world_has_obstacles(gf->world)) TY_TRY(ty_close_thin_walls(gf, g.lo, g.hi));
    for (int axis = 0; axis < 3; ++axis) gf->cut[axis].face.n = 0;
    if (!gf->has_bodies) return ty_ok();
    TY_TRY(list_cut_faces(&g));
    return velocities(gf);
}
