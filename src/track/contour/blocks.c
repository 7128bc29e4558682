// SPDX-License-Identifier: Apache-2.0
#include "track/contour/blocks.h"

#include <limits.h>
#include <stdlib.h>

#include "geometry/polygon.h"

enum { BATCH = TY_SAMPLE_BATCH, CLOSED = -1, BOX_STEP = 16 };    // BOX_STEP: blocks
// Without a domain what flies far away makes the box large, and it takes eight bytes a block.
static const double MOST_BLOCKS = INT_MAX, MOST_IN_BOX = 1 << 26;
static const double HALF_DIAGONAL = 0.87;    // of a cube's width, with a hundredth to spare

void ty_slc_blocks_free(ty_slc_blocks* b)
{
    ty_free(b->sum);
    ty_free(b->row);
    ty_free(b->first_cut);
    ty_array_free(&b->cut);
    ty_array_free(&b->open);
    *b = (ty_slc_blocks){0};
}

void ty_slc_blocks_rest(ty_slc_blocks* b)
{
    ty_free(b->sum);
    b->sum = NULL;
}

static int64_t n_rows(const ty_slc_blocks* b) { return (int64_t)b->n[1] * b->n[2]; }
static int64_t row_at(const ty_slc_blocks* b, const int at[3])
{
    return (int64_t)at[2] * b->n[1] + at[1];
}

// A block of the rows that obstacles reach into, while they are looked for.
typedef struct found_block {
    int64_t row;
    int at;
    bool closed;
} found_block;

typedef struct search {
    const ty_slc_blocks* b;
    ty_sampler solid;
    TY_ARRAY(found_block) found;
} search;

static bool list_closed(search* s, const int at[3], int width)
{
    int low[3], high[3];
    for (int axis = 0; axis < 3; ++axis) {
        low[axis] = at[axis];
        high[axis] = at[axis] + width < s->b->n[axis] ? at[axis] + width : s->b->n[axis];
    }
    for (int z = low[2]; z < high[2]; ++z)
        for (int y = low[1]; y < high[1]; ++y)
            for (int x = low[0]; x < high[0]; ++x) {
                found_block f = {row_at(s->b, (const int[3]){x, y, z}), x, true};
                if (!ty_array_push(&s->found, f)) return false;
            }
    return true;
}

// Of a cube `width` blocks wide: those that obstacles reach into.
static bool find_cut(search* s, const int at[3], int width)
{
    const ty_slc_blocks* b = s->b;
    double x[1][3], d, half = HALF_DIAGONAL * width * b->size;
    for (int axis = 0; axis < 3; ++axis) {
        if (at[axis] >= b->n[axis]) return true;
        x[0][axis] = b->origin[axis] + (at[axis] + 0.5 * width) * b->size;
    }
    ty_sample(&s->solid, 1, (const double(*)[3])x, &d);
    if (d > half) return true;
    if (d < -half) return list_closed(s, at, width);
    if (width == 1) return ty_array_push(&s->found, ((found_block){row_at(b, at), at[0], false}));
    bool ok = true;
    for (int child = 0; ok && child < 8; ++child) {
        int to[3];
        for (int axis = 0; axis < 3; ++axis) to[axis] = at[axis] + (child >> axis & 1) * width / 2;
        ok = find_cut(s, to, width / 2);
    }
    return ok;
}

static int by_row(const void* a, const void* b)
{
    const found_block *p = a, *q = b;
    if (p->row != q->row) return p->row < q->row ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

// The open share of a way along which the distance changes from a to b.
static double share_of_way(double a, double b)
{
    if (a >= 0.0 && b >= 0.0) return 1.0;
    if (a <= 0.0 && b <= 0.0) return 0.0;
    return ty_max(a, b) / fabs(a - b);
}

static void fill_table(const ty_slc_blocks* b, const ty_sampler* solid, const found_block* f,
                       float* open)
{
    double x[TY_SLC_TABLE][3], d[TY_SLC_TABLE], step = 1.0 / (TY_SLC_PLACES - 1);
    const int at[3] = {f->at, (int)(f->row % b->n[1]), (int)(f->row / b->n[1])};
    for (int i = 0; i < TY_SLC_TABLE; ++i) {
        const int place[3] = {i % TY_SLC_PLACES, i / TY_SLC_PLACES % TY_SLC_PLACES,
                              i / (TY_SLC_PLACES * TY_SLC_PLACES)};
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = b->origin[axis] + (at[axis] + place[axis] * step) * b->size;
    }
    for (int i = 0; i < TY_SLC_TABLE; i += BATCH)
        ty_sample(solid, TY_SLC_TABLE - i < BATCH ? TY_SLC_TABLE - i : BATCH,
                  (const double(*)[3])x + i, d + i);
    for (int i = 0; i < TY_SLC_TABLE; ++i)
        open[i] = i % TY_SLC_PLACES ? open[i - 1] + (float)(step * share_of_way(d[i - 1], d[i]))
                                    : 0.0f;
}

static ty_status take_found(ty_slc_blocks* b, const search* s)
{
    int n_tables = 0;
    for (int64_t i = 0; i < s->found.n; ++i) n_tables += !s->found.at[i].closed;
    if (!ty_array_resize(&b->cut, s->found.n) ||
        !ty_array_resize(&b->open, (int64_t)n_tables * TY_SLC_TABLE))
        return ty_no_memory("blocks beside obstacles");
    n_tables = 0;
    int64_t row = 0;
    for (int64_t i = 0; i < s->found.n; ++i) {
        const found_block* f = &s->found.at[i];
        while (row <= f->row) b->first_cut[row++] = i;
        b->cut.at[i] = (ty_slc_cut_block){f->at, f->closed ? CLOSED : n_tables, 0.0};
        if (f->closed) continue;
        fill_table(b, &s->solid, f, b->open.at + (int64_t)n_tables * TY_SLC_TABLE);
        ++n_tables;
    }
    while (row <= n_rows(b)) b->first_cut[row++] = s->found.n;
    return ty_ok();
}

static ty_status find_solid(ty_slc_blocks* b, const ty_world* world)
{
    b->knows_solid = true;
    b->cut.n = 0;
    search s = {.b = b, .solid = ty_world_obstacles(world)};
    if (!ty_world_has_obstacles(world)) return take_found(b, &s);
    int width = 1;
    for (int axis = 0; axis < 3; ++axis)
        while (width < b->n[axis]) width *= 2;
    ty_status status = ty_no_memory("blocks beside obstacles");
    if (find_cut(&s, (const int[3]){0, 0, 0}, width)) {
        if (s.found.n > 1) qsort(s.found.at, (size_t)s.found.n, sizeof *s.found.at, by_row);
        status = take_found(b, &s);
    }
    ty_array_free(&s.found);
    return status;
}

static void clear(ty_slc_blocks* b, bool fresh)
{
    for (int64_t r = 0; r < n_rows(b); ++r) {
        for (int i = b->row[r].first; !fresh && i <= b->row[r].last; ++i)
            b->sum[r * b->n[0] + i] = 0.0f;
        b->row[r] = (ty_slc_row){b->n[0], -1};
    }
    for (int64_t i = 0; i < b->cut.n; ++i) b->cut.at[i].enclosed = 0.0;
}

// Where the blocks are. False: too many.
static bool place_blocks(ty_slc_blocks* b, const ty_world_def* def, const ty_box* box, double cell)
{
    double all = 1.0, step = BOX_STEP * TY_SLC_BLOCK * cell, last[3], n[3];
    b->size = TY_SLC_BLOCK * cell;
    for (int axis = 0; axis < 3; ++axis) {
        double low = floor(box->lo[axis] / step), high = floor(box->hi[axis] / step) + 1.0;
        b->origin[axis] = def->has_domain ? def->min[axis] : low * step;
        last[axis] = def->has_domain ? (def->max[axis] - def->min[axis]) / b->size
                                     : (high - low) * BOX_STEP;
        all *= n[axis] = ty_max(ceil(last[axis]), 1.0);
    }
    if (!(all < (def->has_domain ? MOST_BLOCKS : MOST_IN_BOX))) return false;
    for (int axis = 0; axis < 3; ++axis) {
        b->end[axis] = last[axis];
        b->n[axis] = (int)n[axis];
    }
    return true;
}

// Forgets all that depends on where the blocks are, if they have been elsewhere.
static void forget(ty_slc_blocks* b, const double origin[3], const int n[3])
{
    bool same = true;
    for (int axis = 0; axis < 3; ++axis)
        same &= b->origin[axis] == origin[axis] && b->n[axis] == n[axis];
    if (same) return;
    ty_slc_blocks_rest(b);
    ty_free(b->row);
    ty_free(b->first_cut);
    b->row = NULL;
    b->first_cut = NULL;
    b->knows_solid = false;
}

ty_status ty_slc_blocks_begin(ty_slc_blocks* b, const ty_world* world, const ty_box* box,
                              double cell, bool* fits)
{
    const double origin[3] = {b->origin[0], b->origin[1], b->origin[2]};
    const int n[3] = {b->n[0], b->n[1], b->n[2]};
    *fits = place_blocks(b, ty_world_get_def(world), box, cell);
    forget(b, origin, n);
    if (!*fits) return ty_ok();
    size_t all = (size_t)n_rows(b) * (size_t)b->n[0];
    *fits = false;
    bool fresh = !b->sum;
    if (!b->sum) b->sum = ty_alloc_zero(all, sizeof *b->sum);
    if (!b->row) b->row = ty_alloc_zero((size_t)n_rows(b), sizeof *b->row);
    if (!b->first_cut) b->first_cut = ty_alloc_zero((size_t)n_rows(b) + 1, sizeof *b->first_cut);
    if (!b->sum || !b->row || !b->first_cut) return ty_no_memory("blocks of cells");
    clear(b, fresh);
    *fits = true;
    return b->knows_solid ? ty_ok() : find_solid(b, world);
}

// How much of a block is open before a place in it, from 0 to 1 along each axis.
static double open_before(const ty_slc_blocks* b, int table, const double place[3])
{
    const float* t = b->open.at + (int64_t)table * TY_SLC_TABLE;
    double f[3];
    int low[3];
    for (int axis = 0; axis < 3; ++axis) {
        double at = ty_clamp(place[axis], 0.0, 1.0) * (TY_SLC_PLACES - 1);
        low[axis] = at < TY_SLC_PLACES - 2 ? (int)at : TY_SLC_PLACES - 2;
        f[axis] = at - low[axis];
    }
    t += (low[2] * TY_SLC_PLACES + low[1]) * TY_SLC_PLACES + low[0];
    double sum = 0.0;
    for (int k = 0; k < 4; ++k) {
        const float* along = t + ((k >> 1) * TY_SLC_PLACES + (k & 1)) * TY_SLC_PLACES;
        double w = (k & 1 ? f[1] : 1.0 - f[1]) * (k >> 1 ? f[2] : 1.0 - f[2]);
        sum += w * ((1.0 - f[0]) * (double)along[0] + f[0] * (double)along[1]);
    }
    return sum;
}

// Within a cell of the tables, where what is open before a place is as good as linear: by triangles, at their middles.
static void tell_cell(ty_slc_blocks* b, const ty_polygon* p, const int at[3], double weight)
{
    int64_t r = row_at(b, at);
    ty_vec3 o = ty_load3(p->x[0]);
    for (int k = 2; k < p->n; ++k) {
        ty_vec3 u = ty_load3(p->x[k - 1]) - o, v = ty_load3(p->x[k]) - o,
                middle = o + (u + v) / 3.0;
        double area = 0.5 * weight * (u[1] * v[2] - u[2] * v[1]);
        for (int64_t i = b->first_cut[r]; i < b->first_cut[r + 1] && b->cut.at[i].at <= at[0];
             ++i) {
            ty_slc_cut_block* c = &b->cut.at[i];
            const double place[3] = {middle[0] - c->at, middle[1] - at[1], middle[2] - at[2]};
            if (c->table != CLOSED) c->enclosed += area * open_before(b, c->table, place);
        }
    }
}

static const ty_slc_cut_block* cut_at(const ty_slc_blocks* b, const int at[3])
{
    int64_t r = row_at(b, at);
    for (int64_t i = b->first_cut[r]; i < b->first_cut[r + 1]; ++i)
        if (b->cut.at[i].at == at[0]) return &b->cut.at[i];
    return NULL;
}

// A piece in block `at`, to the blocks of its row that an obstacle cuts: by cells of their tables, along x where it lies
// in one. At its middle alone a piece as large as half a block told them up to half of its area too much or too little,
// always the same beside the same edge: Gong's dam lost 0.1 % of its volume in every step that its wave fell back over
// the box.
static void tell_cut(ty_slc_blocks* b, const ty_polygon* p, const int at[3], int axis,
                     int last_axis, double weight)
{
    enum { CELLS = TY_SLC_PLACES - 1 };
    double least, most;
    if (axis < last_axis) {
        tell_cell(b, p, at, weight);
        return;
    }
    ty_polygon_extent(p, axis, &least, &most);
    int i = (int)ty_clamp(floor((least - at[axis]) * CELLS), 0.0, CELLS - 1.0);
    int last = (int)ty_clamp(ceil((most - at[axis]) * CELLS) - 1.0, i, CELLS - 1.0);
    ty_polygon rest, low, high;
    if (i < last) rest = *p;
    for (; i < last; ++i) {
        ty_polygon_split(&rest, axis, at[axis] + (i + 1.0) / CELLS, &low, &high);
        if (low.n >= 3) tell_cut(b, &low, at, axis - 1, last_axis, weight);
        rest = high;
        p = &rest;
    }
    if (p->n >= 3) tell_cut(b, p, at, axis - 1, last_axis, weight);
}

// A piece in block `at`, seen along x with area A and, from the block's side, the moment p.
static void put(ty_slc_blocks* b, const ty_polygon* p, const int at[3], double weight)
{
    double moment, area = ty_polygon_seen_along_x(p, at[0], INFINITY, &moment);
    int64_t r = row_at(b, at);
    float* sum = b->sum + r * b->n[0] + at[0];
    ty_slc_row* row = &b->row[r];
    sum[0] += (float)(weight * moment);
    if (at[0] > 0) sum[-1] += (float)(weight * (area - moment));
    int first = at[0] > 0 ? at[0] - 1 : 0;
    if (first < row->first) row->first = first;
    if (at[0] > row->last) row->last = at[0];
    if (b->first_cut[r] == b->first_cut[r + 1]) return;
    tell_cut(b, p, at, 2, cut_at(b, at) ? 0 : 1, weight);
}

// What lies beside the domain is left away; beyond its end along x a piece stands for all of the row.
static void keep_inside(ty_slc_blocks* b, int axis, double weight, ty_polygon* p, int at[3])
{
    double least, most;
    ty_polygon low, high;
    ty_polygon_extent(p, axis, &least, &most);
    if (least < 0.0) ty_polygon_split(p, axis, 0.0, &low, &high), *p = high;
    if (!(most > b->end[axis])) return;
    ty_polygon_split(p, axis, b->end[axis], &low, &high);
    *p = low;
    if (axis > 0 || high.n < 3) return;
    for (int k = 0; k < high.n; ++k) high.x[k][0] = b->end[0];
    at[0] = b->n[0] - 1;
    put(b, &high, at, weight);
}

static void deal(ty_slc_blocks* b, const ty_polygon* whole, int axis, double weight, int at[3])
{
    double least, most;
    ty_polygon rest = *whole, low, high;
    keep_inside(b, axis, weight, &rest, at);
    if (rest.n < 3) return;
    ty_polygon_extent(&rest, axis, &least, &most);
    int last = (int)ty_clamp(ceil(most) - 1.0, 0.0, b->n[axis] - 1.0);
    for (at[axis] = (int)ty_clamp(floor(least), 0.0, last); at[axis] <= last; ++at[axis]) {
        low = rest;
        if (at[axis] < last) {
            ty_polygon_split(&rest, axis, at[axis] + 1.0, &low, &high);
            rest = high;
        }
        if (low.n < 3) continue;
        if (axis) deal(b, &low, axis - 1, weight, at);
        else put(b, &low, at, weight);
    }
}

static void place_of(const ty_slc_blocks* b, const double x[3], double place[3])
{
    for (int axis = 0; axis < 3; ++axis) place[axis] = (x[axis] - b->origin[axis]) / b->size;
}

static bool block_of(const ty_slc_blocks* b, const double place[3], int at[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        if (!(place[axis] >= 0.0 && place[axis] < b->end[axis])) return false;
        at[axis] = (int)place[axis];
    }
    return true;
}

void ty_slc_blocks_add(ty_slc_blocks* b, const double (*x)[3], const int v[3], double weight)
{
    ty_polygon p = {.n = 3};
    int at[3] = {0}, other[3];
    for (int k = 0; k < 3; ++k) place_of(b, x[v[k]], p.x[k]);
    bool one = block_of(b, p.x[0], at);
    for (int k = 1; one && k < 3; ++k)
        one = block_of(b, p.x[k], other) && other[0] == at[0] && other[1] == at[1] &&
              other[2] == at[2];
    if (one) put(b, &p, at, weight);
    else deal(b, &p, 2, weight, at);
}

bool ty_slc_blocks_beside_solid(const ty_slc_blocks* b, const double x[3])
{
    double place[3];
    int at[3];
    place_of(b, x, place);
    return b->cut.n && block_of(b, place, at) && cut_at(b, at);
}

double ty_slc_blocks_openness(const ty_slc_blocks* b, const double x[3])
{
    double place[3], step = 0.5 / (TY_SLC_PLACES - 1);
    int at[3];
    place_of(b, x, place);
    if (!block_of(b, place, at)) return 0.0;
    const ty_slc_cut_block* c = b->cut.n ? cut_at(b, at) : NULL;
    if (!c) return 1.0;
    if (c->table == CLOSED) return 0.0;
    for (int axis = 0; axis < 3; ++axis) place[axis] -= at[axis];
    double low = ty_max(place[0] - step, 0.0), high = ty_min(place[0] + step, 1.0);
    place[0] = high;
    double to = open_before(b, c->table, place);
    place[0] = low;
    return ty_clamp((to - open_before(b, c->table, place)) / (high - low), 0.0, 1.0);
}

ty_status ty_slc_blocks_visit(const ty_slc_blocks* b, double least,
                              ty_status (*visit)(void* ctx, const ty_slc_amount*), void* ctx)
{
    for (int64_t r = 0; r < n_rows(b); ++r) {
        if (b->row[r].first > b->row[r].last) continue;
        const float* sum = b->sum + r * b->n[0];
        int64_t cut = b->first_cut[r + 1];
        double run = 0.0;
        int x = b->row[r].last;
        for (; x >= b->row[r].first; --x) {
            run += (double)sum[x];
            while (cut > b->first_cut[r] && b->cut.at[cut - 1].at > x) --cut;
            bool beside = cut > b->first_cut[r] && b->cut.at[cut - 1].at == x;
            double here = beside ? b->cut.at[cut - 1].enclosed : run;
            ty_slc_amount amount = {(int)(r * b->n[0] + x), here, beside};
            if (fabs(here) > least) TY_TRY(visit(ctx, &amount));
        }
    }
    return ty_ok();
}
