// SPDX-License-Identifier: Apache-2.0
// Solids on the mesh: open shares of tets, velocities in their closed parts, kinds of vertices.
// Obstacles and closed sides of a domain are embedded: the mesh runs on into them and ends
// TY_TET_DEPTH cells deep.
#include <string.h>

#include "core/parallel.h"
#include "geometry/slope.h"
#include "solve/tet/cut_tet.h"
#include "solve/tet/tetflow.h"
#include "solve/tet/thin_walls.h"

enum { BLOCK = TY_SAMPLE_BATCH, PLACES = 5, VELOCITY_BLOCK = 100, HALVINGS = 3 };

// Distances below this share of a cell count as 0: a wall in a plane of mesh faces cuts no slivers.
static const double SNAP = 1e-6;
// A closed share below this is rounding.
static const double UNCUT = 1e-12;
// Boundary vertices that lie deeper in a solid than this (cells), and in the liquid, are where the
// mesh just ends.
static const double DEEP = 1.0;
// How far from its zero (cells) the liquid's distance may be at a vertex on it: the mesher's steps
// leave less.
static const double ON_SURFACE = 0.05;

// No point of a tet is farther than this from a vertex, in longest edges.
static const double REACH = 0.7;
// How far from 1 the slope of a distance may be in a tet. A ball of 10 cells has 0.003; at a right
// edge it is 0.3. Up to three halvings of edges reduce what a duct's edges change in a uniform
// stream (rms in cut tets) from 1.2e-2 to 2.2e-3.
static const double BENT = 0.005;
// Velocities that differ by more than this share are those of two solids.
static const double ANOTHER = 0.5;

typedef struct shares_job {
    ty_tet_state* s;
    ty_sampler solid, velocity;
    double cell;
    bool has_walls;    // and not only closed sides
    const ty_sampler* liquid;
} shares_job;

static void sample_solid(void* ctx, ty_range r)
{
    const shares_job* job = ctx;
    double* d = job->s->solid.at + r.begin;
    int n = (int)(r.end - r.begin);
    ty_sample(&job->solid, n, (const double(*)[3])job->s->mesh.vert + r.begin, d);
    for (int i = 0; i < n; ++i)
        if (fabs(d[i]) < SNAP * job->cell) d[i] = 0.0;
}

static bool beside_dropped(const ty_tet_state* s, int tet)
{
    for (int i = 0; i < 4; ++i) {
        const int* side = s->mesh.face_tet[s->mesh.tet_face[tet][i]];
        int other = side[0] == tet ? side[1] : side[0];
        if (other >= 0 && s->open.at[other] == 0.0) return true;
    }
    return false;
}

// Where solids are asked for their velocity in a tet: at the wall (or the centre, when it is
// dropped) and at the vertices. False for tets without a solid.
static bool solid_places(const ty_tet_state* s, int tet, double out[PLACES][3], ty_vec3* area)
{
    ty_vec3 x[4], at = ty_vec(0, 0, 0);
    double d[4];
    for (int i = 0; i < 4; ++i) {
        x[i] = ty_load3(s->mesh.vert[s->mesh.tet[tet][i]]);
        d[i] = s->solid.at[s->mesh.tet[tet][i]];
        ty_store3(out[1 + i], x[i]);
    }
    ty_wall_part wall = ty_tet_wall_part(d, x);
    bool flat = s->open.at[tet] > 0.0 && ty_dot(wall.area, wall.area) > 0.0;
    if (!flat && s->open.at[tet] == 1.0 && !beside_dropped(s, tet)) return false;
    for (int i = 0; i < 4; ++i) at += (flat ? wall.centre[i] : 0.25) * x[i];
    ty_store3(out[0], at);
    *area = flat ? wall.area : ty_vec(0, 0, 0);
    return true;
}

// The velocity at the wall. Where two solids meet in a tet (a piston and its cylinder) it is that
// of the one that pushes: the other's surface slides along, so what the whole wall sweeps is what
// the first one does.
static ty_vec3 wall_velocity(const double v[PLACES][3], ty_vec3 area)
{
    ty_vec3 here = ty_load3(v[0]), best = here;
    for (int i = 1; i < PLACES; ++i) {
        ty_vec3 other = ty_load3(v[i]);
        bool another = ty_norm(other - here) > ANOTHER * fmax(ty_norm(other), ty_norm(here));
        if (another && fabs(ty_dot(area, other)) > fabs(ty_dot(area, best))) best = other;
    }
    return best;
}

static void velocity_block(void* ctx, ty_range r)
{
    shares_job* job = ctx;
    ty_tet_state* s = job->s;
    int cut[VELOCITY_BLOCK], n = 0;
    double x[VELOCITY_BLOCK][PLACES][3], v[VELOCITY_BLOCK][PLACES][3];
    ty_vec3 area[VELOCITY_BLOCK];
    for (int64_t t = r.begin; t < r.end; ++t)
        if (solid_places(s, (int)t, x[n], &area[n])) cut[n++] = (int)t;
    if (n) ty_sample(&job->velocity, n * PLACES, (const double(*)[3])x[0], v[0][0]);
    for (int k = 0; k < n; ++k)
        s->solid_velocity.at[cut[k]] = wall_velocity((const double(*)[3])v[k], area[k]);
}

// Whether a wall may pass through the tet, and its distances are not those of a plane: an edge, a
// thin plate, a bend.
static bool needs_halving(const ty_vec3 x[4], const double d[4])
{
    ty_vec3 a = x[1] - x[0], b = x[2] - x[0], c = x[3] - x[0], bc = ty_cross(b, c),
            ca = ty_cross(c, a), ab = ty_cross(a, b);
    double longest = 0.0, low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 4; ++i) {
        low = ty_min(low, d[i]), high = ty_max(high, d[i]);
        for (int j = 0; j < i; ++j) longest = ty_max(longest, ty_dot(x[i] - x[j], x[i] - x[j]));
    }
    longest = sqrt(longest);
    if (low > REACH * longest || high < -REACH * longest) return false;
    ty_vec3 slope = ((d[1] - d[0]) * bc + (d[2] - d[0]) * ca + (d[3] - d[0]) * ab) / ty_dot(a, bc);
    return fabs(ty_norm(slope) - 1.0) > BENT;
}

// The open share by halving edges where that is needed.
static double halved_share(const ty_sampler* solid, const ty_vec3 x[4], const double d[4],
                           int levels)
{
    static const uint8_t edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    static const uint8_t part[8][4] = {{0, 4, 5, 6}, {4, 1, 7, 8}, {5, 7, 2, 9}, {6, 8, 9, 3},
                                       {4, 5, 6, 8}, {4, 5, 7, 8}, {5, 6, 8, 9}, {5, 7, 8, 9}};
    if (levels == 0 || !needs_halving(x, d)) return ty_tet_open_share(d);
    ty_vec3 place[10];
    double value[10], middle[6][3], sum = 0.0;
    for (int i = 0; i < 4; ++i) place[i] = x[i], value[i] = d[i];
    for (int k = 0; k < 6; ++k) {
        place[4 + k] = 0.5 * (x[edge[k][0]] + x[edge[k][1]]);
        ty_store3(middle[k], place[4 + k]);
    }
    ty_sample(solid, 6, (const double(*)[3])middle, value + 4);
    for (int k = 0; k < 8; ++k) {
        ty_vec3 y[4];
        double e[4];
        for (int i = 0; i < 4; ++i) y[i] = place[part[k][i]], e[i] = value[part[k][i]];
        sum += halved_share(solid, y, e, levels - 1);
    }
    return sum / 8.0;
}

static void share_block(void* ctx, ty_range r)
{
    shares_job* job = ctx;
    ty_tet_state* s = job->s;
    for (int64_t t = r.begin; t < r.end; ++t) {
        ty_vec3 x[4];
        double d[4];
        for (int i = 0; i < 4; ++i) {
            x[i] = ty_load3(s->mesh.vert[s->mesh.tet[t][i]]);
            d[i] = s->solid.at[s->mesh.tet[t][i]];
        }
        double share = halved_share(&job->solid, x, d, HALVINGS);
        bool may_part = job->has_walls && (share < 1.0 - UNCUT || needs_halving(x, d));
        if (may_part && ty_tet_wall_between(&job->solid, x, d)) share = 0.0;
        s->open.at[t] = share > 1.0 - UNCUT ? 1.0 : share < TY_TET_DROPPED ? 0.0 : share;
        if (s->solid_velocity.n) s->solid_velocity.at[t] = ty_vec(0, 0, 0);
    }
}

static void mark_around(ty_tet_state* s)
{
    for (int t = 0; t < s->mesh.n_tets; ++t) {
        double open = s->open.at[t];
        uint8_t kind = open == 1.0   ? TY_VERT_LIVE
                       : open == 0.0 ? TY_VERT_WALL
                                     : TY_VERT_LIVE | TY_VERT_WALL | TY_VERT_CUT;
        for (int i = 0; i < 4; ++i) s->vert_kind.at[s->mesh.tet[t][i]] |= kind;
    }
}

static bool ends_in_wall(const shares_job* job, int v)
{
    const ty_tet_state* s = job->s;
    return job->has_walls && s->solid.at[v] < 0.0 && !(s->vert_kind.at[v] & TY_VERT_AIR) &&
           ty_tet_ends_in_wall(&job->solid, job->liquid, ty_load3(s->mesh.vert[v]), -s->solid.at[v],
                               job->cell);
}

static bool is_buried(const ty_tet_state* s, int face)
{
    int t = s->mesh.face_tet[face][0];
    for (int i = 0; i < 4; ++i)
        if (s->mesh.tet_face[t][i] != face && s->solid.at[s->mesh.tet[t][i]] > 0.0) return false;
    return true;
}

// The liquid goes on at vertex v: the mesh just ends there.
static bool just_ends(const shares_job* job, int v)
{
    const ty_tet_state* s = job->s;
    return s->solid.at[v] < -DEEP * job->cell &&
           ty_value_at(job->liquid, ty_load3(s->mesh.vert[v])) < -ON_SURFACE * job->cell;
}

// Air vertices belong to a boundary face that is open somewhere, and the mesh ends there because the
// liquid does. Below thin films and beside edges the liquid's continuation ends inside solids: if
// there were air the pressure would press liquid out to it (a dam break lost 2 % per second).
static void mark_air(const shares_job* job)
{
    ty_tet_state* s = job->s;
    const ty_tet_mesh* m = &s->mesh;
    for (int face = m->n_inner_faces; face < m->n_faces; ++face) {
        int t = m->face_tet[face][0];
        if (is_buried(s, face)) continue;
        for (int i = 0; i < 4; ++i) {
            int v = m->tet[t][i];
            if (m->tet_face[t][i] == face || v < m->n_inner) continue;
            if (!just_ends(job, v) && !ends_in_wall(job, v)) s->vert_kind.at[v] |= TY_VERT_AIR;
        }
    }
}

// Vertices near a solid lie on it, and no tet is cut.
static void conform(const shares_job* job)
{
    ty_tet_state* s = job->s;
    for (int v = 0; v < s->mesh.n_verts; ++v) {
        bool on = v >= s->mesh.n_inner && s->solid.at[v] < ON_SURFACE * job->cell;
        s->solid.at[v] = on ? 0.0 : ty_max(s->solid.at[v], SNAP * job->cell);
        s->vert_kind.at[v] = TY_VERT_LIVE | (on ? TY_VERT_SOLID : 0);
    }
    // Four vertices on a solid would leave nothing open.
    for (int t = 0; t < s->mesh.n_tets; ++t) {
        s->open.at[t] = 1.0;
        if (s->solid_velocity.n) s->solid_velocity.at[t] = ty_vec(0, 0, 0);
    }
}

static void mark_conforming_air(const shares_job* job, const double* f, bool paper_air)
{
    ty_tet_state* s = job->s;
    const ty_tet_mesh* m = &s->mesh;
    for (int v = m->n_inner; v < m->n_verts; ++v)
        if (!paper_air && fabs(f[v - m->n_inner]) < ON_SURFACE * job->cell)
            s->vert_kind.at[v] |= TY_VERT_AIR;
    for (int face = m->n_inner_faces; face < m->n_faces && paper_air; ++face) {
        int t = m->face_tet[face][0];
        bool solid = true;
        for (int i = 0; i < 4; ++i)
            if (m->tet_face[t][i] != face)
                solid &= (s->vert_kind.at[m->tet[t][i]] & TY_VERT_SOLID) != 0;
        for (int i = 0; i < 4 && !solid; ++i)
            if (m->tet_face[t][i] != face) s->vert_kind.at[m->tet[t][i]] |= TY_VERT_AIR;
    }
}

typedef struct sample_job {
    const ty_sampler* sampler;
    const double (*x)[3];
    double* out;
} sample_job;

static void sample_block(void* ctx, ty_range r)
{
    const sample_job* job = ctx;
    ty_sample(job->sampler, (int)(r.end - r.begin), job->x + r.begin, job->out + r.begin);
}

static ty_status resize(ty_tet_state* s, bool solids_move)
{
    const ty_tet_mesh* m = &s->mesh;
    // `pressure` comes in with the last step's values where there are any.
    if (!ty_array_resize(&s->solid, m->n_verts) || !ty_array_resize(&s->open, m->n_tets) ||
        !ty_array_resize(&s->solid_velocity, solids_move ? m->n_tets : 0) ||
        !ty_array_resize(&s->vert_kind, m->n_verts) || !ty_array_resize(&s->outflow, m->n_verts))
        return ty_no_memory("open shares");
    return ty_ok();
}

ty_status ty_tet_shares(ty_tet_state* s, const ty_sampler* liquid_distance, const ty_world* world,
                        double cell)
{
    const ty_tet_mesh* m = &s->mesh;
    bool moves = ty_world_solid_moves(world) || ty_world_solid_speed(world) > 0.0;
    TY_TRY(resize(s, moves));
    shares_job job = {.s = s,
                      .cell = cell,
                      .has_walls = ty_world_has_obstacles(world),
                      .liquid = liquid_distance,
                      .solid = ty_world_solid(world),
                      .velocity = ty_world_solid_velocity(world)};
    ty_parallel_for(m->n_verts, BLOCK, sample_solid, &job);
    ty_parallel_for(m->n_tets, BLOCK, share_block, &job);
    if (moves) ty_parallel_for(m->n_tets, VELOCITY_BLOCK, velocity_block, &job);
    if (m->n_verts) memset(s->vert_kind.at, 0, (size_t)m->n_verts);
    mark_around(s);
    mark_air(&job);
    return ty_ok();
}

ty_status ty_tet_shares_conform(ty_tet_state* s, const ty_sampler* liquid_distance,
                                const ty_world* world, double cell, bool paper_air)
{
    const ty_tet_mesh* m = &s->mesh;
    bool moves = ty_world_solid_moves(world) || ty_world_solid_speed(world) > 0.0;
    TY_TRY(resize(s, moves));
    shares_job job = {.s = s,
                      .cell = cell,
                      .solid = ty_world_solid(world),
                      .velocity = ty_world_solid_velocity(world)};
    ty_parallel_for(m->n_verts, BLOCK, sample_solid, &job);
    conform(&job);
    if (moves) ty_parallel_for(m->n_tets, VELOCITY_BLOCK, velocity_block, &job);
    sample_job sample = {liquid_distance, (const double(*)[3])m->vert + m->n_inner, s->outflow.at};
    ty_parallel_for(m->n_verts - m->n_inner, BLOCK, sample_block, &sample);
    mark_conforming_air(&job, s->outflow.at, paper_air);
    return ty_ok();
}
