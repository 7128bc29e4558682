// SPDX-License-Identifier: Apache-2.0
// The tetrahedra of each octant, [Labelle2007] sections 3 and 4. An octant owns
//   - the lattice tets of its three upper faces, where the octant behind is as large (finest: through the stencils);
//   - the quarters of faces behind which octants are finer;
//   - the half-pyramids of faces behind which the octant is coarser.
// The same code counts and writes, so the two agree.
#include <limits.h>

#include "core/parallel.h"
#include "mesh/contour_table.h"
#include "mesh/stuff_stage.h"
#include "mesh/stuff_stencil.h"

typedef struct sink {
    int n;
    int (*tet)[4];    // NULL: count only
    ty_tet_kind* kind;
    int64_t n_quads;
    int64_t* quad;    // where addresses of quads go, NULL: count only
} sink;

typedef struct octant {
    const ty_stuffing* k;
    ty_octree_cursor* c;
    const ty_stencil* stencils;
    int id, level;
    const int* x;
    int corner[8];
} octant;

static int octant_behind(const octant* o, int face)
{
    int at[3] = {o->x[0], o->x[1], o->x[2]};
    at[face >> 1] += face & 1 ? 1 : -1;
    const ty_octree_level* level = &o->k->t->level[o->level];
    int id = ty_lattice_id(&level->octants, &o->c->level[o->level], at[0], at[1], at[2]);
    return id < 0 ? -1 : level->first + id;
}

// Writes a tet of lattice vertices.
static void put_lattice(const ty_stuffing* k, sink* out, const int vert[4], ty_tet_kind kind)
{
    if (out->tet) {
        for (int i = 0; i < 4; ++i) out->tet[out->n][i] = k->s->vert_id.at[vert[i]];
        out->kind[out->n] = kind;
    }
    ++out->n;
}

// Mesh vertex at the midpoint of face edge k; -1 when no finer octant has it.
static int edge_midpoint(const octant* o, int face, int edge)
{
    int a = ty_face_corner(face, edge), b = ty_face_corner(face, edge + 1), at[3];
    for (int axis = 0; axis < 3; ++axis)
        at[axis] = (2 * o->x[axis] + (a >> axis & 1) + (b >> axis & 1)) * (1 << o->level) / 2;
    return ty_lattice_id(&o->k->t->corners, &o->c->corner, at[0], at[1], at[2]);
}

static int face_centre(const octant* o, int face)
{
    int at[3];
    for (int axis = 0; axis < 3; ++axis)
        at[axis] = (2 * o->x[axis] + (axis == face >> 1 ? 2 * (face & 1) : 1)) * (1 << o->level) /
                   2;
    return ty_lattice_id(&o->k->t->corners, &o->c->corner, at[0], at[1], at[2]);
}

static void put_shape(const octant* o, sink* out, int shape, const int at[TY_N_PLACES])
{
    int place[4], vert[4];
    ty_tet_shape_places(shape, place);
    for (int i = 0; i < 4; ++i) vert[i] = at[place[i]];
    put_lattice(o->k, out, vert, ty_make_kind(shape, o->level));
}

static void fill_equal(const octant* o, sink* out, int face, int at[TY_N_PLACES])
{
    for (int k = 0; k < 4; ++k) {
        int shape = (face >> 1) * 4 + k;
        at[TY_AT_M + k] = o->level ? edge_midpoint(o, face, k) : -1;
        if (at[TY_AT_M + k] < 0) put_shape(o, out, TY_TET_LATTICE + shape, at);
        else
            for (int half = 0; half < 2; ++half)
                put_shape(o, out, TY_TET_HALF + 2 * shape + half, at);
    }
}

static void fill_finer(const octant* o, sink* out, int face, int at[TY_N_PLACES])
{
    at[TY_AT_F] = face_centre(o, face);
    for (int k = 0; k < 4; ++k) {
        at[TY_AT_M + k] = edge_midpoint(o, face, k);
        for (int half = 0; half < 2; ++half)
            put_shape(o, out, TY_TET_QUARTER + 8 * face + 2 * k + half, at);
    }
}

// The diagonal touches the coarser face's centre: a corner odd in both directions of the face; so
// does its opposite, even in both.
static void fill_coarser(const octant* o, sink* out, int face, const int at[TY_N_PLACES])
{
    int axis = face >> 1, u = (axis + 1) % 3, v = (axis + 2) % 3, corner = ty_face_corner(face, 0);
    int diagonal = (o->x[u] + (corner >> u & 1) + o->x[v] + (corner >> v & 1)) & 1;
    for (int side = 0; side < 2; ++side)
        put_shape(o, out, TY_TET_PYRAMID + 4 * face + 2 * diagonal + side, at);
}

// A face of an octant inside the liquid whose tets are whole.
static void fill_whole_face(const octant* o, sink* out, int face, int behind)
{
    int at[TY_N_PLACES];
    for (int k = 0; k < 4; ++k) at[TY_AT_Q + k] = o->corner[ty_face_corner(face, k)];
    at[TY_AT_C] = o->k->n_corners + o->id;
    at[TY_AT_C2] = o->k->n_corners + behind;
    if (behind < 0) fill_coarser(o, out, face, at);
    else if (o->level && !ty_octree_is_leaf(o->k->t, behind)) fill_finer(o, out, face, at);
    else if (face & 1) fill_equal(o, out, face, at);
}

static int octant_cut(const ty_stuff* s, int oct, int bit)
{
    unsigned below = s->octant_cuts.at[oct] & ((1u << bit) - 1);
    return s->octant_first_cut.at[oct] + __builtin_popcount(below);
}

// The cut between vertices i and j of lattice tet (q_k, q_k+1, c, c').
static int cut_of(const octant* o, int behind, int axis, const int q[2], int i, int j)
{
    const ty_stuff* s = o->k->s;
    if (i == 2) return octant_cut(s, o->id, 8 + axis);
    if (j == 2) return octant_cut(s, o->id, q[i]);
    if (j == 3) return octant_cut(s, behind, q[i] ^ 1 << axis);
    int low = q[0] & q[1], along = (q[0] ^ q[1]) >> 1;
    unsigned below = s->corner_cuts.at[o->corner[low]] & ((1u << along) - 1);
    return s->corner_first_cut.at[o->corner[low]] + __builtin_popcount(below);
}

static void put_stencil(const octant* o, sink* out, const ty_stencil* stencil, int behind, int axis,
                        const int q[2], const int vert[4])
{
    const ty_stuff* s = o->k->s;
    for (int t = 0; t < stencil->n_tets; ++t) {
        for (int i = 0; i < 4; ++i) {
            static const uint8_t end[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
            int corner = stencil->corner[t][i], id;
            if (corner < 4) id = s->vert_id.at[vert[corner]];
            else
                id = s->cut_id
                         .at[cut_of(o, behind, axis, q, end[corner - 4][0], end[corner - 4][1])];
            out->tet[out->n][i] = id;
        }
        out->kind[out->n++] = ty_make_kind(TY_TET_IRREGULAR, 0);
    }
}

static void mark_used(const ty_stuff* s, const int vert[4])
{
    for (int i = 0; i < 4; ++i)
        if (s->sign.at[vert[i]] == 0) __atomic_store_n(&s->used.at[vert[i]], 1, __ATOMIC_RELAXED);
}

static void fill_quad(const octant* o, sink* out, int shape, const int vert[4])
{
    int64_t address = 12 * (int64_t)o->id + shape;
    if (out->quad) out->quad[out->n_quads] = address;
    ++out->n_quads;
    if (out->tet && ty_stuff_keeps_quad(o->k, address))
        put_lattice(o->k, out, vert, ty_make_kind(TY_TET_IRREGULAR, 0));
}

// One lattice tet of a face near the surface.
static void fill_cut_tet(const octant* o, sink* out, int shape, int behind)
{
    const ty_stuff* s = o->k->s;
    int face = 2 * (shape >> 2) + 1, axis = shape >> 2;
    int q[2] = {ty_face_corner(face, shape & 3), ty_face_corner(face, (shape & 3) + 1)};
    int vert[4] = {o->corner[q[0]], o->corner[q[1]], o->k->n_corners + o->id,
                   o->k->n_corners + behind};
    int pattern = ty_pattern(s->sign.at[vert[0]], s->sign.at[vert[1]], s->sign.at[vert[2]],
                             s->sign.at[vert[3]]);
    const ty_stencil* stencil = &o->stencils[shape * TY_N_PATTERNS + pattern];
    if (pattern == 0) {
        put_lattice(o->k, out, vert, ty_make_kind(shape, 0));
    } else if (pattern == TY_PATTERN_ALL_ON) {
        fill_quad(o, out, shape, vert);
    } else if (!out->tet) {
        out->n += stencil->n_tets;
        if (stencil->n_tets) mark_used(s, vert);
    } else {
        put_stencil(o, out, stencil, behind, axis, q, vert);
    }
}

// Signs of an octant's corners: -1 all inside, 1 none inside nor on the surface, 0 mixed.
static int corners_side(const octant* o)
{
    const int8_t* sign = o->k->s->sign.at;
    int least = 1, most = -1;
    for (int v = 0; v < 8; ++v) {
        int one = sign[o->corner[v]];
        least = one < least ? one : least;
        most = one > most ? one : most;
    }
    return most < 0 ? -1 : least > 0 ? 1 : 0;
}

static void fill_octant(const octant* o, sink* out)
{
    const int8_t* sign = o->k->s->sign.at;
    int centre = sign[o->k->n_corners + o->id];
    if (o->level > 0) {
        if (centre >= 0) return;
        for (int face = 0; face < 6; ++face) fill_whole_face(o, out, face, octant_behind(o, face));
        return;
    }
    int side = corners_side(o);
    for (int face = 0; face < 6; ++face) {
        int behind = octant_behind(o, face);
        if (behind < 0) {
            if (centre < 0) fill_whole_face(o, out, face, behind);
        } else if (face & 1) {
            int other = sign[o->k->n_corners + behind];
            if (side < 0 && centre < 0 && other < 0) fill_whole_face(o, out, face, behind);
            else if (!(side > 0 && centre > 0 && other > 0))
                for (int i = 0; i < 4; ++i) fill_cut_tet(o, out, (face >> 1) * 4 + i, behind);
        }
    }
}

typedef struct fill_args {
    ty_stuffing* k;
    int level;
    int* block_quads;       // counting: quads of each block of finest octants
    int64_t* first_quad;    // then where they go; NULL while counting
} fill_args;

static octant octant_at(const fill_args* args, ty_octree_cursor* c, int id, const int x[3])
{
    octant o = {args->k, c, ty_stencils(), id, args->level, x, {0}};
    ty_octree_corners_of(args->k->t, id, o.corner);
    return o;
}

static void fill_block(void* ctx, ty_range r)
{
    const fill_args* args = ctx;
    const ty_stuffing* k = args->k;
    ty_octree_cursor c = ty_octree_cursor_start();
    const ty_octree_level* level = &k->t->level[args->level];
    int x[TY_STUFF_BLOCK][3];
    ty_lattice_set_points(&level->octants, (int)r.begin, (int)r.end, x);
    ty_tet_mesh* m = k->mesh;
    for (int64_t i = r.begin; i < r.end; ++i) {
        int id = level->first + (int)i;
        octant o = octant_at(args, &c, id, x[i - r.begin]);
        int64_t first = m->first_tet[id];
        if (!ty_octree_is_leaf(k->t, id) || first == m->first_tet[id + 1]) continue;
        sink out = {.tet = m->tet + first, .kind = m->kind + first};
        fill_octant(&o, &out);
    }
}

static void count_block(void* ctx, ty_range r)
{
    const fill_args* args = ctx;
    const ty_stuffing* k = args->k;
    ty_octree_cursor c = ty_octree_cursor_start();
    const ty_octree_level* level = &k->t->level[args->level];
    int x[TY_STUFF_BLOCK][3];
    int64_t n_quads = 0;
    if (args->first_quad && !args->block_quads[r.block]) return;
    ty_lattice_set_points(&level->octants, (int)r.begin, (int)r.end, x);
    for (int64_t i = r.begin; i < r.end; ++i) {
        int id = level->first + (int)i;
        octant o = octant_at(args, &c, id, x[i - r.begin]);
        sink out = {0};
        if (args->first_quad) out.quad = k->s->quad.at + args->first_quad[r.block] + n_quads;
        if (ty_octree_is_leaf(k->t, id)) fill_octant(&o, &out);
        k->s->n_tets.at[id] = out.n;
        n_quads += out.n_quads;
    }
    if (!args->level && !args->first_quad) args->block_quads[r.block] = (int)n_quads;
}

static ty_status collect_quads(ty_stuffing* k, fill_args* args, int64_t n_blocks)
{
    ty_stuff* s = k->s;
    int64_t n = ty_prefix_sum(n_blocks, s->block_quads.at, s->first_quad.at);
    if (!ty_array_resize(&s->quad, n)) return ty_no_memory("tetrahedra on the surface");
    args->level = 0;
    args->first_quad = s->first_quad.at;
    if (n) ty_parallel_for(k->t->level[0].octants.n, TY_STUFF_BLOCK, count_block, args);
    return ty_ok();
}

ty_status ty_stuff_count(ty_stuffing* k)
{
    const ty_octree* t = k->t;
    int64_t n_blocks = ((int64_t)t->level[0].octants.n + TY_STUFF_BLOCK - 1) / TY_STUFF_BLOCK;
    if (!ty_array_resize(&k->s->n_tets, t->n_octants) ||
        !ty_array_resize(&k->s->block_quads, n_blocks) ||
        !ty_array_resize(&k->s->first_quad, n_blocks))
        return ty_no_memory("tetrahedra");
    fill_args args = {.k = k, .block_quads = k->s->block_quads.at};
    for (args.level = 0; args.level < t->n_levels; ++args.level)
        ty_parallel_for(t->level[args.level].octants.n, TY_STUFF_BLOCK, count_block, &args);
    return collect_quads(k, &args, n_blocks);
}

// Inside vertices, then those on the surface, then cut points: boundary vertices last.
static int64_t number_vertices(ty_stuffing* k, int64_t* n_inner)
{
    ty_stuff* s = k->s;
    int64_t count = 0;
    for (int64_t v = 0; v < s->sign.n; ++v)
        s->vert_id.at[v] = s->sign.at[v] < 0 ? (int)count++ : -1;
    *n_inner = count;
    for (int64_t v = 0; v < s->sign.n; ++v)
        if (s->used.at[v]) s->vert_id.at[v] = (int)count++;
    for (int64_t i = 0; i < s->cut.n; ++i)
        if (s->cut_id.at[i] >= 0) s->cut_id.at[i] = (int)count++;
    return count;
}

static void place_corners(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    int x[TY_STUFF_BLOCK][3];
    ty_lattice_set_points(&k->t->corners, (int)r.begin, (int)r.end, x);
    for (int64_t v = r.begin; v < r.end; ++v) {
        const int* p = x[v - r.begin];
        int half[3] = {2 * p[0], 2 * p[1], 2 * p[2]}, id = k->s->vert_id.at[v];
        if (id >= 0) ty_store3(k->mesh->vert[id], ty_warped_point(k, (int)v, half));
    }
}

static void place_centres(void* ctx, ty_range r)
{
    const fill_args* args = ctx;
    const ty_stuffing* k = args->k;
    int x[TY_STUFF_BLOCK][3], w = 1 << args->level,
                              first = k->n_corners + k->t->level[args->level].first;
    ty_lattice_set_points(&k->t->level[args->level].octants, (int)r.begin, (int)r.end, x);
    for (int64_t i = r.begin; i < r.end; ++i) {
        const int* p = x[i - r.begin];
        int half[3] = {(2 * p[0] + 1) * w, (2 * p[1] + 1) * w, (2 * p[2] + 1) * w},
            vert = first + (int)i;
        int id = k->s->vert_id.at[vert];
        if (id >= 0) ty_store3(k->mesh->vert[id], ty_warped_point(k, vert, half));
    }
}

static void place_cuts(void* ctx, ty_range r)
{
    const ty_stuffing* k = ctx;
    for (int64_t i = r.begin; i < r.end; ++i)
        if (k->s->cut_id.at[i] >= 0)
            ty_store3(k->mesh->vert[k->s->cut_id.at[i]], ty_cut_point(k, (int)i));
}

static ty_status number_tets(ty_stuffing* k, int64_t* n_tets)
{
    ty_tet_mesh* m = k->mesh;
    int64_t n = k->t->n_octants;
    for (int64_t q = 0; q < k->s->quad.n; ++q)
        if (k->s->keep_quad.at[q]) ++k->s->n_tets.at[k->s->quad.at[q] / 12];
    if (n + 1 > m->first_capacity) {
        ty_free(m->first_tet);
        m->first_capacity = 0;
        m->first_tet = ty_alloc((size_t)(n + 1 + n / 8), sizeof *m->first_tet);
        if (!m->first_tet) return ty_no_memory("tetrahedra");
        m->first_capacity = n + 1 + n / 8;
    }
    int64_t count = 0;
    for (int64_t o = 0; o < n && count <= INT_MAX / 4; ++o) {
        m->first_tet[o] = (int)count;
        count += k->s->n_tets.at[o];
    }
    if (count > INT_MAX / 4)
        return ty_fail(TY_BAD_INPUT, "more than 2^29 tetrahedra: take a larger cell");
    m->first_tet[n] = (int)count;
    *n_tets = count;
    return ty_ok();
}

ty_status ty_stuff_fill(ty_stuffing* k)
{
    int64_t n_tets = 0, n_inner, n_verts = number_vertices(k, &n_inner);
    TY_TRY(number_tets(k, &n_tets));
    if (n_verts > INT_MAX) return ty_fail(TY_BAD_INPUT, "more vertices than 32-bit ids can name");
    TY_TRY(ty_tet_mesh_resize(k->mesh, (int)n_verts, (int)n_tets));
    k->mesh->n_inner = (int)n_inner;
    ty_parallel_for(k->n_corners, TY_STUFF_BLOCK, place_corners, k);
    ty_parallel_for(k->s->cut.n, 8 * TY_STUFF_BLOCK, place_cuts, k);
    fill_args args = {.k = k};
    for (args.level = 0; args.level < k->t->n_levels; ++args.level) {
        ty_parallel_for(k->t->level[args.level].octants.n, TY_STUFF_BLOCK, place_centres, &args);
        ty_parallel_for(k->t->level[args.level].octants.n, TY_STUFF_BLOCK, fill_block, &args);
    }
    return ty_ok();
}
