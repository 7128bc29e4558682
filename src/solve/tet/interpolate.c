// SPDX-License-Identifier: Apache-2.0
// Values at points. In a tet with barycentric coordinates l the twelve parts meet at its centre, at
// the centres of its faces and at its vertices. With o = argmin l, m = l_o, m2 the least of l_j - m
// over the others, d_t what the tet's value has more than the mean of its vertices' u_j, and d_f
// the same for the face opposite o, weighted across it:
//     u(x) = sum_j l_j u_j + 4 m d_t + 3 m2 d_f,    d_f = (V_b d_a + V_a d_b) / (V_a + V_b), 0 on the boundary.
// Continuous; the tet's own value at its centre, so standing still does not smooth; exact for
// linear fields.
//
// Departs from [Chentanez2007] section 3.3.2: dual-cell weights about barycentres reach 2000 in
// graded cells.
#include <string.h>

#include "geometry/slope.h"
#include "solve/tet/motion.h"

enum { BATCH = TY_SAMPLE_BATCH, MAX_WALK = 80 };
static const double INSIDE = -1e-10;    // a coordinate not below this is not outside
static const double SKIN_WHOLE = 1.0,
                    SKIN_END = 2.0;    // cells under the surface: all its velocity, nothing of it
static const double PROBE = 0.125;     // cells: step of the differences of a solid's distance

// Barycentric coordinates; the tet's volume is never zero.
static void coordinates(const ty_tet_mesh* m, int t, ty_vec3 x, double l[4])
{
    const int* id = m->tet[t];
    ty_vec3 p[4];
    for (int i = 0; i < 4; ++i) p[i] = ty_load3(m->vert[id[i]]) - x;
    ty_vec3 c01 = ty_cross(p[0], p[1]), c23 = ty_cross(p[2], p[3]);
    double volume[4] = {ty_dot(p[1], c23), -ty_dot(p[0], c23), ty_dot(p[3], c01),
                        -ty_dot(p[2], c01)};
    double all = (volume[0] + volume[1]) + (volume[2] + volume[3]);
    for (int i = 0; i < 4; ++i) l[i] = volume[i] / all;
}

static int neighbour(const ty_tet_mesh* m, int t, int i)
{
    const int* pair = m->face_tet[m->tet_face[t][i]];
    return pair[0] == t ? pair[1] : pair[0];
}

// Steps across the face that x is farthest behind, of those that lead on. False when none does: x
// is probably outside. `known`: place->l is that of t already.
static bool walk(const ty_tet_mesh* m, int t, ty_vec3 x, bool known, ty_tet_place* place)
{
    int before = -1;
    for (int step = 0; step < MAX_WALK; ++step) {
        double least = INSIDE;
        int next = -1;
        bool behind = false;
        if (step > 0 || !known) coordinates(m, t, x, place->l);
        for (int i = 0; i < 4; ++i) {
            if (!(place->l[i] < INSIDE)) continue;
            int other = neighbour(m, t, i);
            behind = true;
            if (other < 0 || other == before || !(place->l[i] < least)) continue;
            least = place->l[i], next = other;
        }
        place->tet = t;
        if (!behind) return true;
        if (next < 0) return false;
        before = t;
        t = next;
    }
    return false;
}

// A tet to start from: of the octant that holds x, or of one below, which owns the tets between the
// two.
static int start(const ty_tet_mesh* m, ty_octree_cursor* c, const double x[3])
{
    int at[3];
    ty_octree_lattice_of(&m->tree, x, at);
    for (int k = 0; k < 4; ++k) {
        int from[3] = {at[0] - (k == 1), at[1] - (k == 2), at[2] - (k == 3)};
        int o = ty_octree_leaf(&m->tree, c, from).id;
        if (o < 0) continue;
        int n = m->first_tet[o + 1] - m->first_tet[o];
        if (n) return m->first_tet[o] + n / 2;
    }
    return -1;
}

void ty_tet_place_on_skin(const ty_tet_motion* motion, int tri, ty_vec3 x, ty_tet_place* place)
{
    const ty_tri_mesh* m = &motion->skin;
    double* l = place->l;
    ty_vec3 a = ty_load3(m->vert[m->tri[tri][0]]), b = ty_load3(m->vert[m->tri[tri][1]]),
            c = ty_load3(m->vert[m->tri[tri][2]]);
    ty_vec3 n = ty_cross(b - a, c - a);
    double n2 = ty_dot(n, n);
    place->tet = -2 - tri;
    l[3] = 0.0;
    l[1] = n2 > 0.0 ? ty_clamp(ty_dot(ty_cross(x - a, c - a), n) / n2, 0.0, 1.0) : 0.0;
    l[2] = n2 > 0.0 ? ty_clamp(ty_dot(ty_cross(b - a, x - a), n) / n2, 0.0, 1.0 - l[1]) : 0.0;
    l[0] = 1.0 - l[1] - l[2];
}

// Whether x lies on the inner side of a triangle of the skin that is closest to it.
static bool is_behind(const ty_tet_motion* m, int tri, const double x[3], const double closest[3])
{
    const int* v = m->skin.tri[tri];
    ty_vec3 a = ty_load3(m->skin.vert[v[0]]),
            normal = ty_cross(ty_load3(m->skin.vert[v[1]]) - a, ty_load3(m->skin.vert[v[2]]) - a);
    return ty_dot(ty_load3(x) - ty_load3(closest), normal) < 0.0;
}

// Points that the walk lost: closest on the skin, if it is within `reach`, unless they are on the
// inner side of it after all, or so deep that no skin is in reach.
static void locate_lost(const ty_tet_motion* m, int n, double (*x)[3], double reach, const int* id,
                        ty_tet_place* place)
{
    int tri[BATCH];
    double closest[BATCH][3];
    int n_faces = m->skin.n_tris - m->n_loose_tris;
    ty_closest_points out = {.triangle = tri, .point = closest};
    ty_bvh_closest(&m->skin_tree, n, (const double(*)[3])x, reach, &out);
    for (int i = 0; i < n; ++i) {
        ty_tet_place* p = &place[id[i]];
        int t = -1;
        if (tri[i] < 0 || (tri[i] < n_faces && is_behind(m, tri[i], x[i], closest[i])))
            ty_tet_mesh_locate(&m->state.mesh, 1, (const double(*)[3])x + i, &t);
        p->tet = t;
        if (t >= 0) coordinates(&m->state.mesh, t, ty_load3(x[i]), p->l);
        else if (tri[i] >= 0) ty_tet_place_on_skin(m, tri[i], ty_load3(closest[i]), p);
    }
}

// Places of points in tets; tet = -1 where a walk does not get to them. Returns how many of those
// there are, and which.
static int walk_to(const ty_tet_motion* m, int n, const double (*x)[3], ty_tet_place* place,
                   int* lost)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    int n_lost = 0, hint = -1;
    ty_octree_cursor cursor = ty_octree_cursor_start();
    for (int i = 0; i < n; ++i) {
        ty_vec3 p = ty_load3(x[i]);
        int t = hint;
        if (t >= 0) {
            coordinates(mesh, t, p, place[i].l);
            double least = ty_min(ty_min(place[i].l[0], place[i].l[1]),
                                  ty_min(place[i].l[2], place[i].l[3]));
            if (!(least > -2.0)) t = -1;    // too far to walk
        }
        bool known = t >= 0;
        if (t < 0 && mesh->n_tets) t = start(mesh, &cursor, x[i]);
        if (t >= 0 && walk(mesh, t, p, known, &place[i])) {
            hint = place[i].tet;
            continue;
        }
        hint = place[i].tet = -1;
        lost[n_lost++] = i;
    }
    return n_lost;
}

static void find_lost(const ty_tet_motion* m, double reach, int n, const int* id,
                      const double (*x)[3], ty_tet_place* place)
{
    double lost[BATCH][3];
    for (int i = 0; i < n; ++i) memcpy(lost[i], x[id[i]], sizeof lost[0]);
    if (n) locate_lost(m, n, lost, reach, id, place);
}

void ty_tet_locate_within(const ty_tet_motion* m, double reach, int n, const double (*x)[3],
                          ty_tet_place* place)
{
    int id[BATCH], n_lost = walk_to(m, n, x, place, id);
    find_lost(m, reach, n_lost, id, x, place);
}

void ty_tet_locate(const ty_tet_motion* m, int n, const double (*x)[3], ty_tet_place* place)
{
    ty_tet_locate_within(m, INFINITY, n, x, place);
}

// What a place in a tet takes of the values around, whichever the field.
typedef struct parts {
    const int* vert;
    int tet, other;        // other: across the face, -1 for none
    double own, across;    // of d_t and of d_f
    double volume[2];      // of tet and other
} parts;

static parts parts_of(const ty_tet_motion* m, const ty_tet_place* p)
{
    const ty_tet_mesh* mesh = &m->state.mesh;
    int o = 0;
    for (int i = 1; i < 4; ++i)
        if (p->l[i] < p->l[o]) o = i;
    double least = p->l[o], second = INFINITY;
    for (int i = 0; i < 4; ++i)
        if (i != o) second = ty_min(second, p->l[i] - least);
    parts q = {.vert = mesh->tet[p->tet], .tet = p->tet, .other = neighbour(mesh, p->tet, o)};
    q.own = 4.0 * least;
    if (q.other < 0) return q;
    q.volume[0] = m->volume.at[q.tet], q.volume[1] = m->volume.at[q.other];
    q.across = 3.0 * second / (q.volume[0] + q.volume[1]);
    return q;
}

static ty_vec3 value_of_parts(const ty_tet_values* f, const parts* q, const double l[4])
{
    ty_vec3 sum = {0}, d = f->deviation.at[q->tet];
    for (int i = 0; i < 4; ++i) sum += l[i] * f->vert.at[q->vert[i]];
    sum += q->own * d;
    if (q->other < 0) return sum;
    return sum + q->across * (q->volume[1] * d + q->volume[0] * f->deviation.at[q->other]);
}

static ty_vec3 value_outside(const ty_tet_motion* m, const ty_tet_values* f, const ty_tet_place* p)
{
    if (p->tet == -1) return ty_vec(0, 0, 0);
    const int* v = m->skin.tri[-2 - p->tet];
    return p->l[0] * f->skin.at[v[0]] + p->l[1] * f->skin.at[v[1]] + p->l[2] * f->skin.at[v[2]];
}

ty_vec3 ty_tet_value(const ty_tet_motion* m, const ty_tet_values* f, const ty_tet_place* p)
{
    if (p->tet < 0) return value_outside(m, f, p);
    parts q = parts_of(m, p);
    return value_of_parts(f, &q, p->l);
}

// Velocity and acceleration of n places; either may be NULL.
static void values_at(const ty_tet_motion* m, int n, const ty_tet_place* place, double* u,
                      double* a)
{
    for (int i = 0; i < n; ++i) {
        const ty_tet_place* p = &place[i];
        if (p->tet < 0) {
            if (u) ty_store3(u + 3 * i, value_outside(m, &m->u, p));
            if (a) ty_store3(a + 3 * i, value_outside(m, &m->a, p));
            continue;
        }
        parts q = parts_of(m, p);
        if (u) ty_store3(u + 3 * i, value_of_parts(&m->u, &q, p->l));
        if (a) ty_store3(a + 3 * i, value_of_parts(&m->a, &q, p->l));
    }
}

void ty_tet_sample_scalar(const ty_tet_motion* m, const double* vert, int n,
                          const ty_tet_place* place, double* out)
{
    for (int i = 0; i < n; ++i) {
        out[i] = 0.0;
        if (place[i].tet < 0) continue;
        const int* v = m->state.mesh.tet[place[i].tet];
        for (int k = 0; k < 4; ++k) out[i] += place[i].l[k] * vert[v[k]];
    }
}

// Points of a batch that lie in solids.
typedef struct buried {
    int n, id[BATCH];
    double x[BATCH][3];
    ty_vec3 normal[BATCH];
} buried;

// Where a solid may be: outside the mesh and in cut tets.
static void find_buried(const ty_tet_motion* m, const ty_sampler* solid, int n,
                        const double (*x)[3], const ty_tet_place* place, buried* b)
{
    double d[BATCH];
    b->n = 0;
    int k = 0;
    for (int i = 0; i < n; ++i) {
        if (place[i].tet >= 0 && !(m->state.open.at[place[i].tet] < 1.0)) continue;
        memcpy(b->x[k], x[i], sizeof b->x[0]);
        b->id[k++] = i;
    }
    ty_sample(solid, k, (const double(*)[3])b->x, d);
    for (int i = 0; i < k; ++i) {
        if (!(d[i] < 0.0)) continue;
        memmove(b->x[b->n], b->x[i], sizeof b->x[0]);
        d[b->n] = d[i];
        b->id[b->n++] = b->id[i];
    }
    double step = PROBE * m->state.mesh.tree.cell;
    for (int i = 0; i < b->n; ++i) {
        double at[4][3], e[4];
        ty_vec3 g = {0};
        for (int c = 0; c < 4; ++c)
            ty_store3(at[c], ty_load3(b->x[i]) + step * ty_load3(TY_TETRA[c]));
        ty_sample(solid, 4, (const double(*)[3])at, e);
        for (int c = 0; c < 4; ++c) g += e[c] * ty_load3(TY_TETRA[c]);
        b->normal[i] = ty_normalize(g);
        ty_store3(b->x[i], ty_load3(b->x[i]) - d[i] * b->normal[i]);
    }
}

static void move_to_wall(const ty_tet_motion* m, const buried* b, ty_tet_place* place)
{
    ty_tet_place at_wall[BATCH];
    ty_tet_locate(m, b->n, b->x, at_wall);
    for (int i = 0; i < b->n; ++i) place[b->id[i]] = at_wall[i];
}

static void remove_normal_part(const buried* b, const double (*solid)[3], double* out)
{
    for (int i = 0; i < b->n; ++i) {
        ty_vec3 value = ty_load3(out + 3 * b->id[i]),
                relative = solid ? value - ty_load3(solid[i]) : value;
        ty_store3(out + 3 * b->id[i], value - ty_dot(relative, b->normal[i]) * b->normal[i]);
    }
}

// Points under the free surface, as trackers see them: its velocity holds on both sides of it.
// Beyond it values are those of the closest point; if the liquid's own held below, a surface
// tracked between samples a half cell apart would move at a mean of both, too slowly for waves
// whose motion fades with depth (2.4 % at 32 cells a wave).
typedef struct skin_deep {
    int n, id[BATCH];
    double weight[BATCH];
    ty_tet_place place[BATCH];
} skin_deep;

bool ty_tet_on_free_surface(const ty_tet_motion* m, int tri)
{
    if (tri >= m->skin.n_tris - m->n_loose_tris) return true;
    const uint8_t* kind = m->state.vert_kind.at + m->state.mesh.n_inner;
    for (int k = 0; k < 3; ++k)
        if ((kind[m->skin.tri[tri][k]] & (TY_VERT_AIR | TY_VERT_LIFTED)) != TY_VERT_AIR)
            return false;
    return true;
}

static void find_skin_deep(const ty_tet_motion* m, int n, const double (*x)[3],
                           const ty_tet_place* place, skin_deep* s)
{
    double at[BATCH][3], closest[BATCH][3], distance2[BATCH], h = m->state.mesh.tree.cell;
    int tri[BATCH], id[BATCH], k = 0;
    for (int i = 0; i < n; ++i) {
        if (place[i].tet < 0 || ty_kind_level(m->state.mesh.kind[place[i].tet]) > 0) continue;
        memcpy(at[k], x[i], sizeof at[0]);
        id[k++] = i;
    }
    ty_closest_points out = {.triangle = tri, .point = closest, .distance2 = distance2};
    ty_bvh_closest(&m->skin_tree, k, (const double(*)[3])at, SKIN_END * h, &out);
    s->n = 0;
    for (int i = 0; i < k; ++i) {
        if (tri[i] < 0 || tri[i] >= m->skin.n_tris - m->n_loose_tris ||
            !ty_tet_on_free_surface(m, tri[i]))
            continue;
        double fade = (SKIN_END - sqrt(distance2[i]) / h) / (SKIN_END - SKIN_WHOLE);
        s->weight[s->n] = ty_min(fade, 1.0);
        ty_tet_place_on_skin(m, tri[i], ty_load3(closest[i]), &s->place[s->n]);
        s->id[s->n++] = id[i];
    }
}

static void blend(const ty_tet_motion* m, const ty_tet_values* f, const skin_deep* s, double* out)
{
    for (int i = 0; i < s->n; ++i) {
        ty_vec3 inside = ty_load3(out + 3 * s->id[i]), on = ty_tet_value(m, f, &s->place[i]);
        ty_store3(out + 3 * s->id[i], inside + s->weight[i] * (on - inside));
    }
}

bool ty_tet_has_solids(const ty_world* world)
{
    const ty_world_def* def = ty_world_get_def(world);
    if (ty_world_has_obstacles(world)) return true;
    for (int side = 0; def->has_domain && side < TY_N_SIDES; ++side)
        if (def->wall[side].closed) return true;
    return false;
}

// Of the points that the walk lost those that are not buried: the skin beside the others, in the
// solid, is not asked for.
static int leave_buried(const buried* b, int n, int* lost)
{
    int left = 0;
    for (int i = 0, k = 0; i < n; ++i) {
        while (k < b->n && b->id[k] < lost[i]) ++k;
        if (k == b->n || b->id[k] != lost[i]) lost[left++] = lost[i];
    }
    return left;
}

// `place` is where the points are, but for n_lost of them; moved to walls where these are.
static void sample_at(const ty_tet_motion* m, const ty_world* world, bool surface, int n,
                      const double (*x)[3], int n_lost, int* lost, ty_tet_place* place,
                      bool* by_skin, double* u, double* a)
{
    buried b;
    skin_deep s;
    b.n = s.n = 0;
    if (world && ty_tet_has_solids(world)) {
        ty_sampler solid = ty_world_solid(world);
        find_buried(m, &solid, n, x, place, &b);
    }
    if (!surface) n_lost = leave_buried(&b, n_lost, lost);
    find_lost(m, INFINITY, n_lost, lost, x, place);
    if (surface) find_skin_deep(m, n, x, place, &s);
    if (b.n) move_to_wall(m, &b, place);
    for (int i = 0; by_skin && i < n; ++i) by_skin[i] = place[i].tet < -1;
    for (int i = 0; by_skin && i < s.n; ++i) by_skin[s.id[i]] = true;
    values_at(m, n, place, u, a);
    if (u) blend(m, &m->u, &s, u);
    if (a) blend(m, &m->a, &s, a);
    if (!b.n) return;
    double moving[BATCH][3];
    bool moves = ty_world_solid_moves(world);
    ty_sampler velocity = ty_world_solid_velocity(world);
    if (moves && u) ty_sample(&velocity, b.n, (const double(*)[3])b.x, moving[0]);
    if (u) remove_normal_part(&b, moves ? (const double(*)[3])moving : NULL, u);
    if (a) remove_normal_part(&b, NULL, a);
}

void ty_tet_sample(const ty_tet_motion* m, const ty_world* world, bool surface, int n,
                   const double (*x)[3], double* u, double* a)
{
    ty_tet_place place[BATCH];
    int lost[BATCH], n_lost = walk_to(m, n, x, place, lost);
    sample_at(m, world, surface, n, x, n_lost, lost, place, NULL, u, a);
}

void ty_tet_sample_by_skin(const ty_tet_motion* m, const ty_world* world, int n,
                           const double (*x)[3], bool* by_skin, double* u, double* a)
{
    ty_tet_place place[BATCH];
    int lost[BATCH], n_lost = walk_to(m, n, x, place, lost);
    sample_at(m, world, true, n, x, n_lost, lost, place, by_skin, u, a);
}

void ty_tet_sample_inside(const ty_tet_motion* m, const ty_world* world, int n,
                          const double (*x)[3], bool* known, double (*u)[3], double (*a)[3])
{
    ty_tet_place place[BATCH];
    double at[BATCH][3];
    int lost[BATCH], id[BATCH], k = 0;
    walk_to(m, n, x, place, lost);
    for (int i = 0; i < n; ++i) {
        known[i] = place[i].tet >= 0;
        if (!known[i]) continue;
        memcpy(at[k], x[i], sizeof at[0]);
        place[k] = place[i];
        id[k++] = i;
    }
    sample_at(m, world, false, k, (const double(*)[3])at, 0, NULL, place, NULL, u[0], a[0]);
    for (int i = k - 1; i >= 0; --i)
        memmove(u[id[i]], u[i], sizeof u[0]), memmove(a[id[i]], a[i], sizeof a[0]);
}
