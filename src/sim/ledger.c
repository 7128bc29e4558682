// SPDX-License-Identifier: Apache-2.0
#include "sim/ledger.h"

#include <math.h>
#include <string.h>

#include "core/union_find.h"
#include "space/few.h"
#include "world/trace.h"

enum {
    POINTS_PER_PIECE = 8,    // followed through the flow to find out what became of a piece
    AREA_SAMPLES = 512       // triangles per piece whose place is looked at, for the free area
};

// A point that was on a surface is on the next one to within this many cells (tracking and
// contouring errors).
static const double MATCH_CELLS = 2.0;
// A body that misses more than so many steps can give back will not get it.
static const double PATIENCE = 4.0;
// Measured volumes waver as a surface moves through the lattice. What is missing up to this share
// of all the liquid, dealt out by area, is left alone, and so is what lies within this many cells
// of a body's surface: corrections do not chase the wavering, and a still pool stays still to the
// bit.
static const double SLACK_SHARE = 3e-4;
static const double SLACK_CELLS = 0.01;
// Where the cut surface comes so near (cells) to a piece's, it is that piece's.
static const double SAME_CELLS = 0.1;
// When pieces are corrected against each other (less than this share is net) the sum does not tell
// what was done.
static const double ONE_WAY = 0.5;
// Share of all the liquid by which what a frame shows may be off after its correction.
static const double SETTLED = 5e-4;
// Triangles nearer to a solid or to a side of the domain than this (cells) are not free surface.
static const double WALL_CELLS = 0.25;

ty_status ty_ledger_open(ty_ledger* ledger, int n_sources)
{
    *ledger = (ty_ledger){0};
    if (!ty_array_resize(&ledger->source_on, n_sources)) return ty_no_memory("the volume ledger");
    for (int i = 0; i < n_sources; ++i) ledger->source_on.at[i] = 0;
    return ty_ok();
}

void ty_ledger_free(ty_ledger* ledger)
{
    ty_array_free(&ledger->expected);
    ty_array_free(&ledger->volume);
    ty_array_free(&ledger->area);
    ty_array_free(&ledger->body);
    ty_array_free(&ledger->source_on);
    ty_tri_mesh_free(&ledger->old_surface);
    ty_array_free(&ledger->old_piece);
    ty_array_free(&ledger->moved);
    ty_array_free(&ledger->moved_piece);
    ty_array_free(&ledger->left);
    ty_array_free(&ledger->left_potential);
    ty_array_free(&ledger->after);
    ty_bvh_free(&ledger->old_bvh);
    ty_bvh_free(&ledger->new_bvh);
}

double ty_ledger_expected(const ty_ledger* ledger)
{
    double sum = ledger->pending;
    for (int64_t i = 0; i < ledger->expected.n; ++i) sum += ledger->expected.at[i];
    return sum;
}

// Up to POINTS_PER_PIECE vertices of every piece, evenly spread over its numbers, and their pieces.
static bool pick_points(const ty_liquid* liquid, double** points, int** pieces, int64_t* n)
{
    const ty_tri_mesh* m = liquid->surface;
    TY_ARRAY(double) x = {0};
    TY_ARRAY(int) owner = {0};
    int* count = ty_alloc_zero((size_t)liquid->n_pieces * 2, sizeof *count);
    bool ok = count != NULL;
    for (int v = 0; ok && v < m->n_verts; ++v) ++count[liquid->piece[v]];
    int* met = ok ? count + liquid->n_pieces : NULL;
    for (int v = 0; ok && v < m->n_verts; ++v) {
        int p = liquid->piece[v], stride = count[p] / POINTS_PER_PIECE + 1;
        if (met[p]++ % stride) continue;
        ok = ty_array_push(&owner, p) && ty_array_reserve(&x, x.n + 3);
        if (!ok) break;
        memcpy(x.at + x.n, m->vert[v], 3 * sizeof(double));
        x.n += 3;
    }
    ty_free(count);
    *points = x.at;
    *pieces = owner.at;
    *n = owner.n;
    return ok;
}

// The piece of a surface that is nearest to each point within `reach`, -1 when there is none. Asked
// for a few points only: a pass over the triangles takes a tenth of the time of building a
// hierarchy.
static ty_status nearest_pieces(const ty_tri_mesh* m, const int* piece, int64_t n,
                                const double (*x)[3], double reach, int* out, double* distance2)
{
    TY_TRY(ty_few_closest(m->n_tris, (const int(*)[3])m->tri, (const double(*)[3])m->vert, (int)n,
                          x, reach, out, distance2));
    for (int64_t i = 0; i < n; ++i)
        if (out[i] >= 0) out[i] = piece[m->tri[out[i]][0]];
    return ty_ok();
}

static ty_status build_bvh(ty_bvh* bvh, const ty_tri_mesh* m)
{
    return ty_bvh_build(bvh, m->n_verts, (const double(*)[3])m->vert, m->n_tris,
                        (const int(*)[3])m->tri);
}

// Where the vertices near open sides are after the step; the others stay where they are. What leaves
// is the liquid itself, not its surface: at a jet's end the vertices are inside it.
static ty_status move_vertices(ty_ledger* ledger, const ty_tri_mesh* cut, const ty_flow* flow,
                               const ty_world_def* def, double dt)
{
    ty_flow own = *flow;
    if (flow->inside.eval) own.both = flow->inside;
    double reach = 2.0 * flow->max_speed * dt + ledger->cell;
    if (!ty_array_resize(&ledger->after, 3 * (int64_t)cut->n_verts))
        return ty_no_memory("the volume ledger");
    double(*after)[3] = (double(*)[3])ledger->after.at;
    if (cut->n_verts) memcpy(after, cut->vert, (size_t)cut->n_verts * sizeof *after);
    double x[TY_SAMPLE_BATCH][3];
    int id[TY_SAMPLE_BATCH], n = 0;
    for (int v = 0; v < cut->n_verts; ++v) {
        bool near = false;
        for (int side = 0; side < TY_N_SIDES; ++side) {
            double wall = side % 2 ? def->max[side / 2] - cut->vert[v][side / 2]
                                   : cut->vert[v][side / 2] - def->min[side / 2];
            near |= !def->wall[side].closed && wall < reach;
        }
        if (near) {
            id[n] = v;
            memcpy(x[n++], cut->vert[v], sizeof x[0]);
        }
        if (n == TY_SAMPLE_BATCH || (n > 0 && v == cut->n_verts - 1)) {
            ty_trace_forward(&own, dt, n, (const double(*)[3])x, x);
            for (int i = 0; i < n; ++i) memcpy(after[id[i]], x[i], sizeof x[0]);
            n = 0;
        }
    }
    return ty_ok();
}

// The integral of a linear function over the volume between a triangle and a plane, signed: height[k]
// is how far corner k is beyond it, mean[k] the function halfway between the corner and the plane,
// `across` the triangle's area projected onto the plane.
static double prism(const double height[3], const double mean[3], double across)
{
    double heights = height[0] + height[1] + height[2], means = mean[0] + mean[1] + mean[2];
    double products = height[0] * mean[0] + height[1] * mean[1] + height[2] * mean[2];
    return across * (heights * means + products) / 12.0;
}

// That of the triangle's tip at corner a, cut off by the plane.
static double tip(const double height[3], const double mean[3], double across, int a)
{
    int b = (a + 1) % 3, c = (a + 2) % 3;
    double to_b = height[a] / (height[a] - height[b]), to_c = height[a] / (height[a] - height[c]);
    const double h[3] = {height[a], 0.0, 0.0};
    const double m[3] = {mean[a], mean[a] + to_b * (mean[b] - mean[a]),
                         mean[a] + to_c * (mean[c] - mean[a])};
    return prism(h, m, across * to_b * to_c);
}

// That of its part beyond. Summed over a closed surface: the integral beyond the plane.
static double beyond(const double height[3], const double mean[3], double across)
{
    int out = 0, last_in = 0, last_out = 0;
    for (int k = 0; k < 3; ++k) {
        out += height[k] > 0.0;
        *(height[k] > 0.0 ? &last_out : &last_in) = k;
    }
    if (out == 0) return 0.0;
    if (out == 1) return tip(height, mean, across, last_out);
    double whole = prism(height, mean, across);
    return out == 2 ? whole - tip(height, mean, across, last_in) : whole;
}

// The piece that a triangle of the moved surface came from.
static int owner_of(const ty_ledger* ledger, const ty_liquid* liquid, ty_vec3 centre)
{
    if (liquid->n_pieces <= 1) return 0;
    double x[1][3];
    ty_store3(x[0], centre);
    int owner = 0;
    ty_closest_points found = {.triangle = &owner};
    ty_bvh_closest(&ledger->old_bvh, 1, (const double(*)[3])x, INFINITY, &found);
    return owner < 0 ? 0 : ledger->old_piece.at[ledger->old_surface.tri[owner][0]];
}

static void triangle_outflow(ty_ledger* ledger, const ty_world_def* def, const ty_liquid* liquid,
                             ty_vec3 gravity, const int v[3])
{
    const double(*x)[3] = (const double(*)[3])ledger->after.at;
    ty_vec3 a = ty_load3(x[v[0]]), b = ty_load3(x[v[1]]), c = ty_load3(x[v[2]]);
    for (int side = 0; side < TY_N_SIDES; ++side) {
        int axis = side / 2;
        if (def->wall[side].closed) continue;
        double sign = side % 2 ? 1.0 : -1.0, at = side % 2 ? def->max[axis] : def->min[axis];
        const double height[3] = {sign * (a[axis] - at), sign * (b[axis] - at),
                                  sign * (c[axis] - at)};
        if (height[0] <= 0.0 && height[1] <= 0.0 && height[2] <= 0.0) continue;
        double across = sign * 0.5 * ty_cross(b - a, c - a)[axis],
               fall = 0.5 * sign * gravity[axis];
        const double one[3] = {1.0, 1.0, 1.0};
        const double potential[3] = {-ty_dot(gravity, a) + fall * height[0],
                                     -ty_dot(gravity, b) + fall * height[1],
                                     -ty_dot(gravity, c) + fall * height[2]};
        int owner = owner_of(ledger, liquid, (a + b + c) / 3.0);
        ledger->left.at[owner] += beyond(height, one, across);
        ledger->left_potential.at[owner] += beyond(height, potential, across);
    }
}

// What of the surface, carried along by the flow, comes to lie beyond the open sides.
static ty_status measure_outflow(ty_ledger* ledger, const ty_liquid* liquid, const ty_flow* flow,
                                 const ty_world* world, const ty_tri_mesh* cut, double dt)
{
    const ty_world_def* def = ty_world_get_def(world);
    if (!ty_array_resize(&ledger->left, liquid->n_pieces) ||
        !ty_array_resize(&ledger->left_potential, liquid->n_pieces))
        return ty_no_memory("the volume ledger");
    for (int i = 0; i < liquid->n_pieces; ++i)
        ledger->left.at[i] = ledger->left_potential.at[i] = 0.0;
    bool open = false;
    for (int side = 0; side < TY_N_SIDES; ++side)
        open |= def->has_domain && !def->wall[side].closed;
    if (!open || liquid->n_pieces == 0) return ty_ok();
    if (liquid->n_pieces > 1) TY_TRY(build_bvh(&ledger->old_bvh, &ledger->old_surface));
    TY_TRY(move_vertices(ledger, cut, flow, def, dt));
    ty_vec3 gravity = ty_world_gravity(world);
    for (int t = 0; t < cut->n_tris; ++t)
        triangle_outflow(ledger, def, liquid, gravity, cut->tri[t]);
    for (int i = 0; i < liquid->n_pieces; ++i)
        if (!(ledger->left.at[i] > 0.0)) ledger->left.at[i] = ledger->left_potential.at[i] = 0.0;
    return ty_ok();
}

static ty_status remember_pieces(ty_ledger* ledger, const ty_liquid* before)
{
    TY_TRY(ty_tri_mesh_copy(&ledger->old_surface, before->surface));
    if (!ty_array_resize(&ledger->old_piece, before->surface->n_verts))
        return ty_no_memory("the volume ledger");
    memcpy(ledger->old_piece.at, before->piece, (size_t)before->surface->n_verts * sizeof(int));
    return ty_ok();
}

ty_status ty_ledger_remember(ty_ledger* ledger, const ty_liquid* before, const ty_flow* flow,
                             const ty_world* world, const ty_tri_mesh* cut, double dt)
{
    ledger->cell = before->cell;
    ledger->moved.n = ledger->moved_piece.n = 0;
    if (before->n_pieces > 1) TY_TRY(remember_pieces(ledger, before));
    TY_TRY(measure_outflow(ledger, before, flow, world, cut, dt));
    if (before->n_pieces <= 1) return ty_ok();
    double* x = NULL;
    int* owner = NULL;
    int64_t n = 0;
    bool ok = pick_points(before, &x, &owner, &n);
    ty_array_free(&ledger->moved);
    ty_array_free(&ledger->moved_piece);
    ledger->moved.at = x;
    ledger->moved.n = ledger->moved.capacity = 3 * n;
    ledger->moved_piece.at = owner;
    ledger->moved_piece.n = ledger->moved_piece.capacity = n;
    if (!ok) return ty_no_memory("the volume ledger");
    ty_trace_forward(flow, dt, (int)n, (const double(*)[3])x, (double(*)[3])x);
    return ty_ok();
}

// Joins old pieces (0..n_old) and new ones (n_old..) that share liquid.
static ty_status match(ty_ledger* ledger, int n_old, const ty_liquid* after, const ty_flow* flow,
                       double dt, int* parent)
{
    int n_new = after->n_pieces;
    if (n_old == 1 || n_new == 0) {
        for (int i = 0; i < n_new; ++i) ty_join(parent, 0, 1 + i);
        return ty_ok();
    }
    double *x = NULL, *distance2 = NULL;
    int *owner = NULL, *found = NULL;
    int64_t n = 0, n_moved = ledger->moved_piece.n;
    ty_status status = ty_no_memory("the volume ledger");
    double reach = MATCH_CELLS * after->cell;
    if (!pick_points(after, &x, &owner, &n)) goto done;
    found = ty_alloc((size_t)(n > n_moved ? n : n_moved), sizeof *found);
    distance2 = ty_alloc((size_t)(n > n_moved ? n : n_moved), sizeof *distance2);
    if (!found || !distance2) goto done;
    status = nearest_pieces(after->surface, after->piece, n_moved,
                            (const double(*)[3])ledger->moved.at, reach, found, distance2);
    if (status.code != TY_OK) goto done;
    for (int64_t i = 0; i < n_moved; ++i)
        if (found[i] >= 0) ty_join(parent, ledger->moved_piece.at[i], n_old + found[i]);
    ty_trace_back(flow, dt, (int)n, (const double(*)[3])x, (double(*)[3])x);
    status = nearest_pieces(&ledger->old_surface, ledger->old_piece.at, n, (const double(*)[3])x,
                            reach, found, distance2);
    if (status.code != TY_OK) goto done;
    for (int64_t i = 0; i < n; ++i)
        if (found[i] >= 0) ty_join(parent, found[i], n_old + owner[i]);
done:
    ty_free(x);
    ty_free(distance2);
    ty_free(owner);
    ty_free(found);
    return status;
}

// Of n points of components of the cut surface: the piece of each component where it comes nearest
// to the tracker's surface.
static void nearest_of_component(const ty_liquid* liquid, int64_t n, const int* owner,
                                 const int* triangle, const double* distance2, double* nearest,
                                 int* piece)
{
    for (int64_t i = 0; i < n; ++i) {
        if (triangle[i] < 0 || !(distance2[i] < nearest[owner[i]])) continue;
        nearest[owner[i]] = distance2[i];
        piece[owner[i]] = liquid->piece[liquid->surface->tri[triangle[i]][0]];
    }
}

// Pieces that one component of the cut surface runs along are one body: which of them is nearest may
// change from step to step, and with it whose its volume is.
static void join_pieces(ty_ledger* ledger, const ty_liquid* liquid, int64_t n, const int* owner,
                        const int* triangle, const double* distance2, const int* piece)
{
    double same = SAME_CELLS * liquid->cell;
    for (int64_t i = 0; i < n; ++i)
        if (triangle[i] >= 0 && distance2[i] < same * same)
            ty_join(ledger->body.at, piece[owner[i]],
                    liquid->piece[liquid->surface->tri[triangle[i]][0]]);
}

// Which piece each component of the cut surface belongs to: that of the tracker's surface where the
// two come nearest. They are the same surface but for what obstacles cut away, so hardly any has to
// look far.
static ty_status component_pieces(ty_ledger* ledger, const ty_liquid* liquid,
                                  const ty_tri_mesh* cut, const int* component, int n_components,
                                  int* piece)
{
    for (int c = 0; c < n_components; ++c) piece[c] = 0;
    if (liquid->n_pieces <= 1 || n_components == 0) return ty_ok();
    ty_liquid as_liquid = {.surface = cut, .piece = component, .n_pieces = n_components};
    const ty_tri_mesh* m = liquid->surface;
    double *x = NULL, *distance2 = NULL, *nearest = NULL;
    int *owner = NULL, *triangle = NULL;
    int64_t n = 0;
    ty_status status = ty_no_memory("the volume ledger");
    if (!pick_points(&as_liquid, &x, &owner, &n)) goto done;
    distance2 = ty_alloc((size_t)n, sizeof *distance2);
    triangle = ty_alloc((size_t)n, sizeof *triangle);
    nearest = ty_alloc((size_t)n_components, sizeof *nearest);
    if (!distance2 || !triangle || !nearest) goto done;
    for (int c = 0; c < n_components; ++c) nearest[c] = INFINITY;
    status = ty_few_closest(m->n_tris, (const int(*)[3])m->tri, (const double(*)[3])m->vert, (int)n,
                            (const double(*)[3])x, MATCH_CELLS * liquid->cell, triangle, distance2);
    if (status.code != TY_OK) goto done;
    nearest_of_component(liquid, n, owner, triangle, distance2, nearest, piece);
    join_pieces(ledger, liquid, n, owner, triangle, distance2, piece);
    bool all = true;
    for (int c = 0; c < n_components; ++c) all &= nearest[c] < INFINITY;
    if (all) goto done;
    status = build_bvh(&ledger->new_bvh, m);
    if (status.code != TY_OK) goto done;
    ty_closest_points found = {.distance2 = distance2, .triangle = triangle};
    ty_bvh_closest(&ledger->new_bvh, (int)n, (const double(*)[3])x, INFINITY, &found);
    nearest_of_component(liquid, n, owner, triangle, distance2, nearest, piece);
done:
    ty_free(x);
    ty_free(owner);
    ty_free(distance2);
    ty_free(triangle);
    ty_free(nearest);
    return status;
}

// Whether a triangle lies on a solid or on a side of the domain: all its corners do. (Its centre is
// no measure: in a slice of two cells a quarter of the free surface has it within a quarter of a
// cell.)
static bool on_wall(const ty_world* world, const double (*x)[3], double reach)
{
    const ty_world_def* def = ty_world_get_def(world);
    for (int axis = 0; def->has_domain && axis < 3; ++axis) {
        double low = fmin(x[0][axis], fmin(x[1][axis], x[2][axis]));
        double high = fmax(x[0][axis], fmax(x[1][axis], x[2][axis]));
        if (high - def->min[axis] < reach || def->max[axis] - low < reach) return true;
    }
    if (!ty_world_has_obstacles(world)) return false;
    ty_sampler obstacles = ty_world_obstacles(world);
    double d[3];
    ty_sample(&obstacles, 3, x, d);
    return fmax(d[0], fmax(d[1], d[2])) < reach;
}

// Volume of each piece, and its free area estimated from every stride-th triangle.
static void add_triangles(ty_ledger* ledger, const ty_world* world, const ty_tri_mesh* cut,
                          const int* component, const int* piece)
{
    ty_vec3 origin = cut->n_tris ? ty_load3(cut->vert[cut->tri[0][0]]) : ty_vec(0, 0, 0);
    int stride = cut->n_tris / (AREA_SAMPLES * (int)ledger->volume.n) + 1;
    for (int t = 0; t < cut->n_tris; ++t) {
        const int* v = cut->tri[t];
        int p = piece[component[v[0]]];
        ty_vec3 a = ty_load3(cut->vert[v[0]]) - origin, b = ty_load3(cut->vert[v[1]]) - origin;
        ty_vec3 c = ty_load3(cut->vert[v[2]]) - origin;
        ledger->volume.at[p] += ty_dot(a, ty_cross(b, c)) / 6.0;
        if (t % stride) continue;
        double x[3][3];
        for (int i = 0; i < 3; ++i) memcpy(x[i], cut->vert[v[i]], sizeof x[i]);
        if (on_wall(world, (const double(*)[3])x, WALL_CELLS * ledger->cell)) continue;
        ledger->area.at[p] += 0.5 * ty_norm(ty_cross(b - a, c - a)) * stride;
    }
}

static ty_status measure(ty_ledger* ledger, const ty_liquid* liquid, const ty_world* world,
                         const ty_tri_mesh* cut)
{
    int n = liquid->n_pieces > 0 ? liquid->n_pieces : 1;
    ledger->cell = liquid->cell;
    if (!ty_array_resize(&ledger->volume, n) || !ty_array_resize(&ledger->area, n) ||
        !ty_array_resize(&ledger->body, n))
        return ty_no_memory("the volume ledger");
    for (int i = 0; i < n; ++i) ledger->volume.at[i] = ledger->area.at[i] = 0.0;
    for (int i = 0; i < n; ++i) ledger->body.at[i] = i;
    int* component = ty_alloc((size_t)cut->n_verts * 2, sizeof *component);
    if (!component) return ty_no_memory("the volume ledger");
    int* piece = component + cut->n_verts;
    int n_components = ty_tri_mesh_components(cut, component);
    ty_status status = n_components < 0
                           ? ty_no_memory("the volume ledger")
                           : component_pieces(ledger, liquid, cut, component, n_components, piece);
    if (status.code == TY_OK) add_triangles(ledger, world, cut, component, piece);
    for (int i = 0; i < n; ++i) ledger->body.at[i] = ty_find(ledger->body.at, i);
    ty_free(component);
    return status;
}

ty_status ty_ledger_start(ty_ledger* ledger, const ty_liquid* liquid, const ty_world* world,
                          const ty_tri_mesh* cut)
{
    TY_TRY(measure(ledger, liquid, world, cut));
    int64_t n = ledger->volume.n;
    if (!ty_array_resize(&ledger->expected, n)) return ty_no_memory("the volume ledger");
    for (int64_t i = 0; i < n; ++i) ledger->expected.at[i] = ledger->volume.at[i];
    ledger->pending = 0.0;
    return ty_ok();
}

// Sources and drains: to the groups whose volume changed that way since the last balance, in that
// proportion; what nobody shows goes to the largest piece with the rest of the bookings.
static double deal_pending(double pending, int n_groups, const double* expected,
                           const double* volume, double* share)
{
    double total = 0.0, sign = pending < 0.0 ? -1.0 : 1.0;
    for (int g = 0; g < n_groups; ++g)
        total += share[g] = fmax(0.0, sign * (volume[g] - expected[g]));
    double scale = total > fabs(pending) ? pending / total : sign;
    double dealt = 0.0;
    for (int g = 0; g < n_groups; ++g) dealt += share[g] *= scale;
    return pending - dealt;
}

// What the new pieces should hold. parent: union-find over old then new pieces.
static void deal_out(ty_ledger* ledger, int n_old, int n_new, int* parent, double* scratch)
{
    int n = n_old + n_new, largest = 0;
    double *should = scratch, *has = scratch + n, *share = scratch + 2 * n, booked = 0.0;
    for (int i = 0; i < 2 * n; ++i) scratch[i] = 0.0;
    for (int i = 0; i < n_old; ++i)
        should[ty_find(parent, i)] += ledger->expected.at[i] - ledger->left.at[i];
    for (int i = 0; i < n_new; ++i) {
        has[ty_find(parent, n_old + i)] += ledger->volume.at[i];
        if (ledger->volume.at[i] > ledger->volume.at[largest]) largest = i;
    }
    booked += deal_pending(ledger->pending, n, should, has, share);
    for (int g = 0; g < n; ++g) {
        if (parent[g] != g) continue;
        bool from_nowhere = g >= n_old && share[g] == 0.0, vanished = has[g] <= 0.0;
        should[g] += share[g];
        double keep = from_nowhere ? has[g] : vanished ? 0.0 : should[g];
        booked += should[g] - keep;
        ledger->booked += fabs(should[g] - keep);
        should[g] = keep;
    }
    for (int i = 0; i < n_new; ++i) {
        int g = ty_find(parent, n_old + i);
        ledger->expected.at[i] = has[g] > 0.0 ? should[g] * ledger->volume.at[i] / has[g] : 0.0;
    }
    ledger->expected.at[largest] += booked;
    ledger->pending = 0.0;
}

// Joins the pieces from `first` on that are one body.
static void join_bodies(const ty_ledger* ledger, int first, int n, int* parent)
{
    for (int i = 0; i < n && i < ledger->body.n; ++i)
        ty_join(parent, first + i, first + ledger->body.at[i]);
}

static void count_outflow(ty_ledger* ledger)
{
    ledger->step_outflow = (ty_outflow){0};
    for (int64_t i = 0; i < ledger->left_potential.n; ++i) {
        ledger->step_outflow.volume += ledger->left.at[i];
        ledger->step_outflow.potential += ledger->left_potential.at[i];
    }
    ledger->outflow += ledger->step_outflow.volume;
}

ty_status ty_ledger_balance(ty_ledger* ledger, const ty_liquid* after, const ty_flow* flow,
                            const ty_world* world, const ty_tri_mesh* cut, double dt)
{
    int n_old = (int)ledger->expected.n, n_new = after->n_pieces > 0 ? after->n_pieces : 1;
    int* parent = ty_alloc((size_t)(n_old + n_new), sizeof *parent);
    double* scratch = ty_alloc((size_t)(n_old + n_new) * 3, sizeof *scratch);
    ty_status status = ty_no_memory("the volume ledger");
    if (!parent || !scratch || !ty_array_reserve(&ledger->expected, n_new)) goto done;
    for (int i = 0; i < n_old + n_new; ++i) parent[i] = i;
    join_bodies(ledger, 0, n_old, parent);
    status = measure(ledger, after, world, cut);
    if (status.code != TY_OK) goto done;
    join_bodies(ledger, n_old, n_new, parent);
    while (ledger->left.n < n_old)
        if (!ty_array_push(&ledger->left, 0.0)) {
            status = ty_no_memory("the volume ledger");
            goto done;
        }
    count_outflow(ledger);
    status = match(ledger, n_old, after, flow, dt, parent);
    if (status.code == TY_OK) deal_out(ledger, n_old, n_new, parent, scratch);
    ledger->expected.n = n_new;
done:
    ty_free(parent);
    ty_free(scratch);
    return status;
}

// What is missing beyond the slack, as an offset of the surface.
static double offset_of(double missing, double area, double cell, double slack)
{
    double limit = TY_MAX_OFFSET * cell;
    if (area <= 0.0 || fabs(missing) <= slack * area) return 0.0;
    return ty_clamp(missing / area - copysign(slack, missing), -limit, limit);
}

// What a body misses beyond PATIENCE steps' corrections is booked to the largest: a thin one cannot
// take it, and what it breaks up into even less.
static void write_off(ty_ledger* ledger, int n, double* missing, const double* area)
{
    int largest = 0;
    for (int i = 0; i < n; ++i)
        if (ledger->volume.at[i] > ledger->volume.at[largest]) largest = i;
    largest = ledger->body.at[largest];
    for (int i = 0; i < n; ++i) {
        if (ledger->body.at[i] != i || i == largest) continue;
        double most = PATIENCE * TY_MAX_OFFSET * ledger->cell * area[i];
        double rest = missing[i] - ty_clamp(missing[i], -most, most);
        missing[i] -= rest;
        missing[largest] += rest;
        ledger->expected.at[i] -= rest;
        ledger->expected.at[largest] += rest;
        ledger->booked += fabs(rest);
    }
}

// Per piece, that of its body. sums: 2 n.
static void find_offsets(ty_ledger* ledger, int n, double slack, double* sums, double* offset)
{
    double *missing = sums, *area = sums + n;
    for (int i = 0; i < 2 * n; ++i) sums[i] = 0.0;
    for (int i = 0; i < n; ++i) {
        missing[ledger->body.at[i]] += ledger->expected.at[i] - ledger->volume.at[i];
        area[ledger->body.at[i]] += ledger->area.at[i];
    }
    write_off(ledger, n, missing, area);
    for (int i = 0; i < n; ++i) {
        int body = ledger->body.at[i];
        offset[i] = offset_of(missing[body], area[body], ledger->cell, slack);
    }
}

// Bodies may be corrected against each other, but first all of them together come nearer to what
// they should hold: a small one cannot take what a large one gives.
static void hold_sum(const ty_ledger* ledger, int n, double* offset)
{
    double missing = 0.0, up = 0.0, down = 0.0;
    for (int i = 0; i < n; ++i) {
        missing += ledger->expected.at[i] - ledger->volume.at[i];
        *(offset[i] > 0.0 ? &up : &down) += offset[i] * ledger->area.at[i];
    }
    double low = missing < 0.0 ? missing : fmin(missing, up);
    double high = missing > 0.0 ? missing : fmax(missing, down), rise = 1.0, fall = 1.0;
    if (up + down < low) fall = fmax((low - up) / down, 0.0);
    if (up + down > high) rise = fmax((high - down) / up, 0.0);
    for (int i = 0; i < n; ++i) offset[i] *= offset[i] > 0.0 ? rise : fall;
}

// Share of what was asked for that surfaces moved by, of all that was measured: of a small correction
// alone it says nothing, because the surface is contoured anew and its volume wavers by more.
static double share_taken(const ty_ledger* ledger)
{
    return ledger->measured_asked > 0.0 ? ledger->measured_taken / ledger->measured_asked : 1.0;
}

ty_status ty_ledger_correct(ty_ledger* ledger, const ty_tracker_kind* kind, void* tracker,
                            bool later, bool* moved)
{
    int n = kind->liquid(tracker).n_pieces;
    double* offset = ty_alloc((size_t)n, 3 * sizeof *offset);
    if (!offset) return ty_no_memory("the volume ledger");
    double all_area = 0.0;
    for (int i = 0; i < n; ++i) all_area += ledger->area.at[i];
    double slack = SLACK_SHARE * ty_ledger_expected(ledger) /
                   all_area;    // metres; unused when there is no area
    slack = fmin(slack, SLACK_CELLS * ledger->cell);
    find_offsets(ledger, n, slack, offset + n, offset);
    hold_sum(ledger, n, offset);
    *moved = false;
    ledger->asked = ledger->asked_net = 0.0;
    for (int i = 0; i < n; ++i) {
        ledger->asked += fabs(offset[i]) * ledger->area.at[i];
        ledger->asked_net += offset[i] * ledger->area.at[i];
        *moved |= offset[i] != 0.0;
    }
    later = later && kind->offset_later;
    ty_status status = ty_ok();
    if (*moved) status = (later ? kind->offset_later : kind->offset)(tracker, offset);
    if (later) {    // what it does is not measured: as much of it as those that were
        ledger->correction += share_taken(ledger) * ledger->asked;
        *moved = false;
    }
    ty_free(offset);
    return status;
}

ty_status ty_ledger_settle(ty_ledger* ledger, const ty_tracker_kind* kind, void* tracker,
                           double volume, bool* moved)
{
    int n = kind->liquid(tracker).n_pieces;
    double missing = ty_ledger_expected(ledger) - volume, area = 0.0;
    for (int64_t i = 0; i < ledger->area.n; ++i) area += ledger->area.at[i];
    double by = offset_of(missing, area, ledger->cell, 0.0);
    *moved = n > 0 && by != 0.0 && fabs(missing) > SETTLED * ty_ledger_expected(ledger);
    if (!*moved) return ty_ok();
    double* offset = ty_alloc((size_t)n, sizeof *offset);
    if (!offset) return ty_no_memory("the volume ledger");
    for (int i = 0; i < n; ++i) offset[i] = by;
    ledger->asked_net = by * area;
    ledger->asked = fabs(ledger->asked_net);
    ty_status status = kind->offset(tracker, offset);
    ty_free(offset);
    return status;
}

void ty_ledger_corrected(ty_ledger* ledger, double changed)
{
    double share = share_taken(ledger);
    if (fabs(ledger->asked_net) > ONE_WAY * ledger->asked) {
        share = fmax(changed / ledger->asked_net, 0.0);
        ledger->measured_asked += fabs(ledger->asked_net);
        ledger->measured_taken += share * fabs(ledger->asked_net);
    }
    ledger->correction += share * ledger->asked;
}

ty_status ty_ledger_archive(ty_ledger* ledger, ty_archive* ar)
{
    TY_TRY(ty_archive_growing(ar, "ledger_expected", &ledger->expected));
    TY_TRY(ty_archive_growing(ar, "ledger_body", &ledger->body));
    if (ledger->body.n != ledger->expected.n)
        return ty_fail(TY_DAMAGED, "the volume ledger's bodies do not fit");
    for (int64_t i = 0; i < ledger->body.n; ++i)
        if (ledger->body.at[i] < 0 || ledger->body.at[i] >= ledger->body.n)
            return ty_fail(TY_DAMAGED, "the volume ledger's bodies do not fit");
    TY_TRY(ty_archive_growing(ar, "ledger_source_on", &ledger->source_on));
    double values[6] = {ledger->pending, ledger->booked,         ledger->correction,
                        ledger->outflow, ledger->measured_asked, ledger->measured_taken};
    TY_TRY(ty_archive_f64(ar, "ledger_sums", values, 6));
    ledger->pending = values[0];
    ledger->booked = values[1];
    ledger->correction = values[2];
    ledger->outflow = values[3];
    ledger->measured_asked = values[4];
    ledger->measured_taken = values[5];
    return ty_ok();
}
