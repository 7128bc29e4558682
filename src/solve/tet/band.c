// SPDX-License-Identifier: Apache-2.0
#include "solve/tet/band.h"

#include <string.h>

#include "core/parallel.h"
#include "solve/tet/motion.h"

enum {
    SIDE = TY_BAND_SIDE,
    ROW = TY_BAND_ROW,
    OWN = TY_BAND_OWN,
    NODES = TY_BAND_NODES,
    BLOCKS = 8
};
enum { LAYERS = 6, UNKNOWN = 254, NEVER = 255 };    // layers outside the skin; a node's layer
static const double FINE = 0.5;                     // of the mesh's cell
static const double FINE_MARGIN = 2.5;              // fine cells around the skin
// Cells around its way: a contour's finest octants, and its mesh's offset
static const double COARSE_MARGIN = 2.0;
static const double STRIDE = 2.0;    // cells between marks on a way: less than two margins

void ty_tet_band_free(ty_tet_band* b)
{
    ty_band_table* table[2] = {&b->fine, &b->coarse};
    for (int i = 0; i < 2; ++i) {
        ty_lattice_set_free(&table[i]->blocks);
        ty_array_free(&table[i]->node);
    }
    ty_array_free(&b->layer);
    ty_array_free(&b->layer_next);
    ty_array_free(&b->nearest);
    ty_array_free(&b->free);
    ty_array_free(&b->by_skin);
}

ty_vec3 ty_band_place(const ty_band_table* t, const int block[3], int own)
{
    int at[3] = {own % SIDE, own / SIDE % SIDE, own / (SIDE * SIDE)};
    ty_vec3 x = {0};
    for (int axis = 0; axis < 3; ++axis)
        x[axis] = t->origin[axis] + t->cell * (block[axis] * SIDE + at[axis]);
    return x;
}

ty_band_value ty_band_pack(const double u[3], const double a[3])
{
    return (ty_band_value){(float)u[0], (float)u[1], (float)u[2],
                           (float)a[0], (float)a[1], (float)a[2]};
}

static bool mark_around(ty_band_table* t, ty_lattice_cursor* c, ty_vec3 x, double margin)
{
    int lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
        double at = (x[axis] - t->origin[axis]) / t->cell;
        lo[axis] = (int)floor((at - margin) / SIDE);
        hi[axis] = (int)floor((at + margin) / SIDE);
    }
    for (int k = lo[2]; k <= hi[2]; ++k)
        for (int j = lo[1]; j <= hi[1]; ++j)
            for (int i = lo[0]; i <= hi[0]; ++i)
                if (!ty_lattice_put(&t->blocks, c, i, j, k)) return false;
    return true;
}

// Skin that the mesh has inside solids is nobody's surface.
static bool is_seen(const ty_tet_motion* m, int v)
{
    enum { SEEN = TY_VERT_AIR | TY_VERT_LIVE };
    const ty_tet_mesh* mesh = &m->state.mesh;
    return v >= mesh->n_verts - mesh->n_inner ||
           (m->state.vert_kind.at[mesh->n_inner + v] & SEEN) == SEEN;
}

static bool mark(ty_tet_band* b, const ty_tet_motion* m, double dt)
{
    ty_lattice_cursor fine = ty_lattice_cursor_start(), coarse = fine;
    const double far = 1e5;    // cells: no way is longer, and coordinates stay in range
    for (int v = 0; v < m->skin.n_verts; ++v) {
        if (!is_seen(m, v)) continue;
        ty_vec3 x = ty_load3(m->skin.vert[v]),
                way = dt * (m->u.skin.at[v] + 0.5 * dt * m->a.skin.at[v]);
        double cells = ty_norm(way) / b->coarse.cell;
        if (!(cells < far)) way = ty_vec(0, 0, 0), cells = 0.0;
        int steps = (int)ceil(cells / STRIDE);
        if (!mark_around(&b->fine, &fine, x, FINE_MARGIN)) return false;
        for (int s = 0; s <= steps; ++s)
            if (!mark_around(&b->coarse, &coarse, s ? x + (double)s / steps * way : x,
                             COARSE_MARGIN))
                return false;
    }
    return true;
}

// The value of a node of the coarse table that the fine one has too; not a number when it has none.
static ty_band_value fine_value(const ty_band_table* fine, ty_lattice_cursor* c, const int block[3],
                                int own)
{
    int at[3] = {own % SIDE, own / SIDE % SIDE, own / (SIDE * SIDE)};
    for (int axis = 0; axis < 3; ++axis) at[axis] = 2 * (block[axis] * SIDE + at[axis]);
    int id = ty_lattice_id(&fine->blocks, c, at[0] >> 2, at[1] >> 2, at[2] >> 2);
    if (id < 0) return (ty_band_value){NAN};
    return fine->node
        .at[(int64_t)NODES * id + ((at[2] & 3) * ROW + (at[1] & 3)) * ROW + (at[0] & 3)];
}

static void fill_block(const ty_band_job* job, ty_lattice_cursor* c, const int block[3],
                       ty_band_value* value, uint8_t* layer)
{
    double x[OWN][3], solid[OWN], u[OWN][3], a[OWN][3];
    int id[OWN], n = 0;
    bool known[OWN];
    for (int i = 0; i < OWN; ++i) ty_store3(x[i], ty_band_place(&job->b->coarse, block, i));
    if (job->moves) {
        ty_sampler walls = ty_world_solid(job->world);
        ty_sample(&walls, OWN, (const double(*)[3])x, solid);
    }
    for (int i = 0; i < OWN; ++i) {
        ty_band_value* out = &value[ty_band_own(i)];
        *out = fine_value(&job->b->fine, c, block, i);
        layer[i] = (*out)[0] == (*out)[0] ? 0 : UNKNOWN;
        if (job->moves && !(solid[i] >= job->clear)) *out = (ty_band_value){NAN}, layer[i] = NEVER;
        if (layer[i] != UNKNOWN) continue;
        memmove(x[n], x[i], sizeof x[0]);
        id[n++] = i;
    }
    ty_tet_sample_inside(job->m, job->world, n, (const double(*)[3])x, known, u, a);
    for (int i = 0; i < n; ++i) {
        if (!known[i]) continue;
        value[ty_band_own(id[i])] = ty_band_pack(u[i], a[i]);
        layer[id[i]] = 0;
    }
}

static void fill_range(void* ctx, ty_range r)
{
    const ty_band_job* job = ctx;
    ty_tet_band* b = job->b;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    int block[BLOCKS][3];
    ty_lattice_set_points(&b->coarse.blocks, (int)r.begin, (int)r.end, block);
    for (int64_t i = r.begin; i < r.end; ++i)
        fill_block(job, &c, block[i - r.begin], b->coarse.node.at + NODES * i,
                   b->layer.at + OWN * i);
}

// The blocks beside one: 2 * axis + side, -1 where there is none.
static void beside(const ty_band_table* t, ty_lattice_cursor* c, const int at[3], int block[6])
{
    for (int k = 0; k < 6; ++k) {
        int to[3] = {at[0], at[1], at[2]};
        to[k / 2] += k % 2 ? 1 : -1;
        block[k] = ty_lattice_id(&t->blocks, c, to[0], to[1], to[2]);
    }
}

// The mean of the nodes beside own node n that are in layers before; false when there are none.
static bool spread_to(const ty_band_job* job, int64_t self, const int block[6], int n,
                      ty_band_value* out)
{
    int p[3] = {n % SIDE, n / SIDE % SIDE, n / (SIDE * SIDE)}, count = 0;
    ty_band_value sum = {0};
    for (int k = 0; k < 6; ++k) {
        int q[3] = {p[0], p[1], p[2]}, axis = k / 2;
        int64_t from = self;
        q[axis] += k % 2 ? 1 : -1;
        if (q[axis] < 0 || q[axis] >= SIDE) q[axis] &= SIDE - 1, from = block[k];
        int own = (q[2] * SIDE + q[1]) * SIDE + q[0];
        if (from < 0 || job->b->layer.at[from * OWN + own] >= job->layer) continue;
        sum += job->b->coarse.node.at[from * NODES + ty_band_own(own)];
        ++count;
    }
    if (count) *out = sum / (float)count;
    return count > 0;
}

static void spread_range(void* ctx, ty_range r)
{
    const ty_band_job* job = ctx;
    ty_tet_band* b = job->b;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    int at[BLOCKS][3], block[6];
    ty_lattice_set_points(&b->coarse.blocks, (int)r.begin, (int)r.end, at);
    for (int64_t i = r.begin; i < r.end; ++i) {
        const uint8_t* layer = b->layer.at + OWN * i;
        uint8_t* next = b->layer_next.at + OWN * i;
        memcpy(next, layer, OWN);
        if (!memchr(layer, UNKNOWN, OWN)) continue;
        beside(&b->coarse, &c, at[i - r.begin], block);
        for (int n = 0; n < OWN; ++n) {
            ty_band_value* value = &b->coarse.node.at[NODES * i + ty_band_own(n)];
            if (layer[n] == UNKNOWN && spread_to(job, i, block, n, value))
                next[n] = (uint8_t)job->layer;
        }
    }
}

static void close_range(void* ctx, ty_range r)
{
    ty_band_table* t = ctx;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    int at[BLOCKS][3];
    ty_lattice_set_points(&t->blocks, (int)r.begin, (int)r.end, at);
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* x = at[i - r.begin];
        int above[8];
        for (int k = 1; k < 8; ++k)
            above[k] = ty_lattice_id(&t->blocks, &c, x[0] + (k & 1), x[1] + (k >> 1 & 1),
                                     x[2] + (k >> 2));
        for (int n = 0; n < NODES; ++n) {
            int p[3] = {n % ROW, n / ROW % ROW, n / (ROW * ROW)}, k = 0;
            for (int axis = 0; axis < 3; ++axis)
                k |= (p[axis] == SIDE) << axis, p[axis] &= SIDE - 1;
            if (k == 0) continue;
            int64_t from = (int64_t)NODES * above[k] + (p[2] * ROW + p[1]) * ROW + p[0];
            t->node.at[NODES * i + n] = above[k] < 0 ? (ty_band_value){NAN} : t->node.at[from];
        }
    }
}

void ty_band_close(ty_band_table* t) { ty_parallel_for(t->blocks.n, BLOCKS, close_range, t); }

static ty_status lay_out(ty_tet_band* b, const ty_tet_motion* m, double dt)
{
    const ty_octree* tree = &m->state.mesh.tree;
    ty_band_table* table[2] = {&b->fine, &b->coarse};
    for (int i = 0; i < 2; ++i) {
        memcpy(table[i]->origin, tree->origin, sizeof tree->origin);
        table[i]->cell = i == 0 ? FINE * tree->cell : tree->cell;
        ty_lattice_set_clear(&table[i]->blocks);
    }
    if (!mark(b, m, dt)) return ty_no_memory("velocities around the surface");
    for (int i = 0; i < 2; ++i) {
        TY_TRY(ty_lattice_set_finish(&table[i]->blocks));
        if (!ty_array_resize(&table[i]->node, (int64_t)NODES * table[i]->blocks.n))
            return ty_no_memory("velocities around the surface");
    }
    int64_t own = (int64_t)OWN * b->coarse.blocks.n;
    if (!ty_array_resize(&b->layer, own) || !ty_array_resize(&b->layer_next, own))
        return ty_no_memory("velocities around the surface");
    return ty_ok();
}

ty_status ty_tet_band_make(ty_tet_band* b, const ty_tet_motion* m, const ty_world* world, double dt)
{
    b->nearest.n = 0;
    return ty_tet_band_remake(b, m, world, dt);
}

ty_status ty_tet_band_remake(ty_tet_band* b, const ty_tet_motion* m, const ty_world* world,
                             double dt)
{
    if (!(dt < INFINITY)) dt = 0.0;
    TY_TRY(lay_out(b, m, dt));
    int64_t n_fine = (int64_t)OWN * b->fine.blocks.n;
    ty_band_job job = {b,
                       m,
                       world,
                       .walled = ty_tet_has_solids(world),
                       .moves = ty_world_solid_moves(world),
                       .knows_nearest = b->nearest.n == n_fine};
    if (!ty_array_resize(&b->nearest, n_fine) || !ty_array_resize(&b->free, b->fine.blocks.n) ||
        !ty_array_resize(&b->by_skin, b->fine.blocks.n))
        return ty_no_memory("velocities around the surface");
    if (job.moves) job.clear = ty_world_solid_speed(world) * dt;
    ty_band_fill_fine(&job);
    ty_parallel_for(b->coarse.blocks.n, BLOCKS, fill_range, &job);
    for (job.layer = 1; job.layer <= LAYERS; ++job.layer) {
        ty_parallel_for(b->coarse.blocks.n, BLOCKS, spread_range, &job);
        if (b->layer.n) memcpy(b->layer.at, b->layer_next.at, (size_t)b->layer.n);
    }
    ty_band_close(&b->fine);
    ty_band_close(&b->coarse);
    return ty_world_status(world);
}

static ty_band_value mix(ty_band_value a, ty_band_value b, float t) { return a + t * (b - a); }

static ty_band_value in_cell(const ty_band_value* v, const float t[3])
{
    enum { Y = ROW, Z = ROW * ROW };
    ty_band_value low = mix(mix(v[0], v[1], t[0]), mix(v[Y], v[Y + 1], t[0]), t[1]);
    ty_band_value high = mix(mix(v[Z], v[Z + 1], t[0]), mix(v[Z + Y], v[Z + Y + 1], t[0]), t[1]);
    return mix(low, high, t[2]);
}

// False when x is in no block; not a number where a node is missing.
static bool look_up(const ty_band_table* t, ty_lattice_cursor* c, const double x[3],
                    ty_band_value* out)
{
    const double far = (double)(1 << 22);
    int at[3];
    float in[3];
    for (int axis = 0; axis < 3; ++axis) {
        double place = ty_clamp((x[axis] - t->origin[axis]) / t->cell, -far, far),
               low = floor(place);
        at[axis] = (int)low;
        in[axis] = (float)(place - low);
    }
    int block = ty_lattice_id(&t->blocks, c, at[0] >> 2, at[1] >> 2, at[2] >> 2);
    if (block < 0) return false;
    *out = in_cell(t->node.at + (int64_t)NODES * block + ((at[2] & 3) * ROW + (at[1] & 3)) * ROW +
                       (at[0] & 3),
                   in);
    return true;
}

void ty_tet_band_sample(const ty_tet_band* b, int n, const double (*x)[3], ty_band_value* out,
                        ty_band_missed* missed)
{
    ty_lattice_cursor fine = ty_lattice_cursor_start(), coarse = fine;
    missed->n_far = missed->n_near = 0;
    for (int i = 0; i < n; ++i) {
        if (b->fine.blocks.n && look_up(&b->fine, &fine, x[i], &out[i]) && out[i][0] == out[i][0])
            continue;
        if (!b->coarse.blocks.n || !look_up(&b->coarse, &coarse, x[i], &out[i]))
            missed->far[missed->n_far++] = i;
        else if (!(out[i][0] == out[i][0])) missed->near[missed->n_near++] = i;
    }
}
