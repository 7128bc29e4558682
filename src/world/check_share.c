// SPDX-License-Identifier: Apache-2.0
// How much of one shape lies in another, by counting points of a lattice over the first.
#include "core/parallel.h"
#include "world/check_parts.h"

enum { SIDE = 48, BLOCK = 8 * TY_SAMPLE_BATCH, SOURCE_TIMES = 9 };

static const double WORTH_SAYING = 2e-3;    // shares below are the lattice's own error

typedef struct count {
    const ty_shape* shape;    // whose volume is shared
    ty_sampler other;         // negative inside
    ty_box box;
    double inside, both;      // points
    double deepest, at[3];    // of the points in both
} count;

static void lattice_point(const ty_box* b, int64_t k, double x[3])
{
    const int64_t id[3] = {k % SIDE, k / SIDE % SIDE, k / SIDE / SIDE};
    for (int axis = 0; axis < 3; ++axis)
        x[axis] = b->lo[axis] + (b->hi[axis] - b->lo[axis]) * ((double)id[axis] + 0.5) / SIDE;
}

// Results of each block, so that sums do not depend on the threads.
typedef struct block_count {
    const count* all;
    count* block;
} block_count;

static void count_batch(const count* c, int64_t begin, int n, count* out)
{
    double x[TY_SAMPLE_BATCH][3], d[TY_SAMPLE_BATCH], other[TY_SAMPLE_BATCH];
    for (int i = 0; i < n; ++i) lattice_point(&c->box, begin + i, x[i]);
    ty_shape_distance(c->shape, n, (const double(*)[3])x, d);
    ty_sample(&c->other, n, (const double(*)[3])x, other);
    for (int i = 0; i < n; ++i) {
        out->inside += d[i] < 0.0;
        if (d[i] >= 0.0 || other[i] >= 0.0) continue;
        out->both += 1.0;
        double depth = ty_min(-d[i], -other[i]);
        if (depth <= out->deepest) continue;
        out->deepest = depth;
        ty_store3(out->at, ty_load3(x[i]));
    }
}

static void count_block(void* ctx, ty_range r)
{
    block_count* b = ctx;
    for (int64_t at = r.begin; at < r.end; at += TY_SAMPLE_BATCH)
        count_batch(b->all, at, (int)(r.end - at < TY_SAMPLE_BATCH ? r.end - at : TY_SAMPLE_BATCH),
                    &b->block[r.block]);
}

// The share of `shape` within c->box that is in `other`; 0 of nothing.
static ty_status count_points(count* c)
{
    enum { N = SIDE * SIDE * SIDE, N_BLOCKS = (N + BLOCK - 1) / BLOCK };
    count* block = ty_alloc_zero(N_BLOCKS, sizeof *block);
    if (!block) return ty_no_memory("check");
    block_count ctx = {c, block};
    ty_parallel_for(N, BLOCK, count_block, &ctx);
    c->inside = c->both = c->deepest = 0.0;
    for (int i = 0; i < N_BLOCKS; ++i) {
        c->inside += block[i].inside;
        c->both += block[i].both;
        if (block[i].deepest <= c->deepest) continue;
        c->deepest = block[i].deepest;
        ty_store3(c->at, ty_load3(block[i].at));
    }
    ty_free(block);
    return ty_ok();
}

static void outside_domain(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_world_def* def = self;
    for (int i = 0; i < n; ++i) {
        double q = -INFINITY;
        for (int axis = 0; axis < 3; ++axis)
            q = ty_max(q, ty_max(def->min[axis] - x[i][axis], x[i][axis] - def->max[axis]));
        out[i] = def->has_domain ? -q : 1.0;
    }
}

static double share(const count* c) { return c->inside > 0.0 ? c->both / c->inside : 0.0; }

// Counts the part of a shape outside the domain.
static ty_status count_outside(const ty_world* w, const ty_shape* shape, count* c)
{
    ty_box box = ty_shape_bounds(shape);
    *c = (count){.shape = shape, .other = {w->def, 1, 0.0, outside_domain}, .box = box};
    if (!ty_box_is_finite(&box)) c->box = ty_box_intersect(&box, &w->bounds);
    if (!ty_box_is_finite(&c->box) || ty_box_is_empty(&c->box)) return ty_ok();
    return count_points(c);
}

static ty_status check_one_liquid(const ty_world* w, int i, ty_warnings* found, double* left)
{
    count out, in;
    const ty_shape* shape = &w->liquids[i].shape;
    TY_TRY(count_outside(w, shape, &out));
    ty_warning warning = {.kind = TY_WARN_LIQUID_OUTSIDE,
                          .index = i,
                          .place = shape->def->place,
                          .amount = share(&out)};
    ty_store3(warning.at, ty_load3(out.at));
    if (warning.amount > WORTH_SAYING)
        TY_TRY(ty_warn(
            found, warning,
            "%.3g %% of liquid %d lies outside the domain, farthest near (%.4g, %.4g, %.4g); it "
            "is cut off",
            100.0 * warning.amount, i + 1, out.at[0], out.at[1], out.at[2]));
    *left += out.inside - out.both;
    if (!ty_world_has_obstacles(w) || out.inside == 0.0) return ty_ok();
    in = (count){.shape = shape, .other = ty_world_obstacles(w), .box = out.box};
    TY_TRY(count_points(&in));
    *left -= in.both;
    warning.kind = TY_WARN_LIQUID_IN_OBSTACLE;
    warning.amount = share(&in);
    ty_store3(warning.at, ty_load3(in.at));
    if (warning.amount <= WORTH_SAYING) return ty_ok();
    return ty_warn(
        found, warning,
        "%.3g %% of liquid %d lies inside an obstacle, deepest near (%.4g, %.4g, %.4g); it is "
        "cut away at the start",
        100.0 * warning.amount, i + 1, in.at[0], in.at[1], in.at[2]);
}

ty_status ty_check_liquid(const ty_world* w, ty_warnings* found)
{
    double left = 0.0;
    for (int i = 0; i < w->n_liquids; ++i) TY_TRY(check_one_liquid(w, i, found, &left));
    if (left > 0.0 || w->def->n_sources > 0) return ty_ok();
    ty_warning warning = {.kind = TY_WARN_NO_LIQUID};
    if (w->n_liquids > 0) warning.place = w->liquids[0].shape.def->place;
    return ty_warn(found, warning,
                   w->n_liquids > 0
                       ? "there is no liquid: all of it is outside the domain or inside obstacles"
                       : "there is no liquid; add 'liquid:' or 'sources:'");
}

static ty_status check_one_source(ty_world* w, int i, double end_time, ty_warnings* found)
{
    ty_spout* s = &w->spouts[i];
    ty_warning worst = {.kind = TY_WARN_SOURCE_OUTSIDE, .index = i, .place = s->shape.def->place};
    double when = 0.0;
    int times = s->shape.changes_ever ? SOURCE_TIMES : 1;
    for (int k = 0; k < times; ++k) {
        double t = times > 1 ? end_time * k / (times - 1) : 0.0;
        count out;
        if (times > 1 && (t < s->active[0] || t > s->active[1])) continue;
        TY_TRY(ty_shape_move(&s->shape, t, 0.0));
        TY_TRY(count_outside(w, &s->shape, &out));
        if (share(&out) <= worst.amount) continue;
        worst.amount = share(&out);
        when = t;
        ty_store3(worst.at, ty_load3(out.at));
    }
    if (worst.amount <= WORTH_SAYING) return ty_ok();
    return ty_warn(
        found, worst,
        "%.3g %% of source %d is outside the domain at t = %.3g s, near (%.4g, %.4g, %.4g); what "
        "is outside gives no liquid",
        100.0 * worst.amount, i + 1, when, worst.at[0], worst.at[1], worst.at[2]);
}

ty_status ty_check_sources(ty_world* w, double end_time, ty_warnings* found)
{
    for (int i = 0; w->def->has_domain && i < w->def->n_sources; ++i)
        TY_TRY(check_one_source(w, i, end_time, found));
    return ty_ok();
}
