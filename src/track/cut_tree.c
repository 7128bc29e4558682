// SPDX-License-Identifier: Apache-2.0
#include "track/cut_tree.h"

#include <string.h>

#include "core/parallel.h"
#include "space/octree_corners.h"
#include "track/cut_film.h"
#include "track/cut_rim.h"
#include "world/shape.h"

enum { BLOCK = TY_SAMPLE_BATCH };
enum { BESIDE = 1, BELOW_FILM };    // corners; 0: no obstacle near

typedef struct job {
    ty_cut_tree* t;
    const ty_cut_part* p;
    const ty_liquid* liquid;
    ty_contour* contour;
    ty_tri_mesh* out;
} job;

void ty_cut_tree_rest(ty_cut_tree* t)
{
    ty_octree_free(&t->cells);
    ty_array_free(&t->beside);
    ty_array_free(&t->from);
}

void ty_cut_tree_free(ty_cut_tree* t)
{
    ty_cut_tree_rest(t);
    ty_lattice_set_free(&t->blocks);
    ty_lattice_set_free(&t->rim);
    ty_array_free(&t->block);
    ty_array_free(&t->depth);
    ty_array_free(&t->crossed);
}

// A point's node, and whether that is in the lattice; *inner: off its outermost planes, too.
static bool node_of(const job* k, const int point[3], int s[3], bool* inner)
{
    bool in = true;
    *inner = true;
    for (int axis = 0; axis < 3; ++axis) {
        s[axis] = point[axis] + k->t->shift[axis];
        in &= s[axis] >= 0 && s[axis] < k->p->whole[axis];
        *inner &= s[axis] > 0 && s[axis] < k->p->whole[axis] - 1;
    }
    return in;
}

static void node_place(const job* k, const int s[3], double x[3])
{
    for (int axis = 0; axis < 3; ++axis) x[axis] = ty_cut_node(k->p, axis, s[axis]);
}

// Signs at the corners of the liquid's leaf that holds x, as ty_octree.inside; 0 outside the tree.
static unsigned leaf_signs(const ty_octree* tree, ty_octree_cursor* c, const double x[3])
{
    int at[3];
    ty_octree_lattice_of(tree, x, at);
    ty_octant o = ty_octree_leaf(tree, c, at);
    return o.id < 0 ? 0 : tree->inside.at[o.id];
}

static bool add_cell(const job* k, ty_lattice_cursor* c, const int at[3])
{
    return ty_lattice_put(&k->t->cells.level[0].octants, c, at[0], at[1], at[2]);
}

// Cells that hold the liquid's triangles. The last cell may be a little longer than theirs.
static bool add_liquid(const job* k)
{
    const ty_octree* tree = k->liquid->tree;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    for (int i = 0; i < tree->level[0].octants.n; ++i) {
        unsigned inside = tree->inside.at[i];
        if (inside == 0 || inside == 255) continue;
        const int* x = ty_lattice_walk_to(&tree->level[0].octants, &walk, i);
        int at[3];
        bool in = true;
        for (int axis = 0; axis < 3; ++axis) {
            int s = x[axis] + k->t->shift[axis], last = k->p->whole[axis] - 2;
            in &= s >= 0 && s <= last + 1;
            at[axis] = (s < last ? s : last) - k->t->shift[axis];
        }
        if (in && !add_cell(k, &c, at)) return false;
    }
    return true;
}

static bool add_rim(const job* k)
{
    const ty_octree* tree = k->liquid->tree;
    ty_octree_cursor leaf = ty_octree_cursor_start();
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    for (int i = 0; i < k->t->rim.n; ++i) {
        const int* at = ty_lattice_walk_to(&k->t->rim, &walk, i);
        ty_octant o = ty_octree_leaf(tree, &leaf, at);
        if (o.id >= 0 && tree->inside.at[o.id] && !add_cell(k, &c, at)) return false;
    }
    return true;
}

// The cells outside of node s that touch it, on a side of the domain across `axis`.
static bool add_outer(const job* k, ty_lattice_cursor* c, const int s[3], int axis)
{
    int a = (axis + 1) % 3, b = (axis + 2) % 3, at[3];
    for (int i = 0; i < 4; ++i) {
        at[axis] = s[axis] - (s[axis] == 0) - k->t->shift[axis];
        at[a] = s[a] - (i & 1) - k->t->shift[a];
        at[b] = s[b] - (i >> 1) - k->t->shift[b];
        if (!add_cell(k, c, at)) return false;
    }
    return true;
}

// Cells where the liquid ends at a side of the domain.
static bool add_side(const job* k, int side)
{
    int axis = side / 2, a = (axis + 1) % 3, b = (axis + 2) % 3, s[3];
    const int *lo = k->t->lo, *hi = k->t->hi;
    ty_octree_cursor leaf = ty_octree_cursor_start();
    ty_lattice_cursor c = ty_lattice_cursor_start();
    s[axis] = side % 2 ? k->p->whole[axis] - 1 : 0;
    if (s[axis] < lo[axis] || s[axis] > hi[axis]) return true;
    for (s[b] = lo[b]; s[b] <= hi[b]; ++s[b])
        for (s[a] = lo[a]; s[a] <= hi[a]; ++s[a]) {
            double x[3];
            node_place(k, s, x);
            if (leaf_signs(k->liquid->tree, &leaf, x) && !add_outer(k, &c, s, axis)) return false;
        }
    return true;
}

// Points of one block that a function has to be asked about.
typedef struct asked {
    int n, id[BLOCK];
    double x[BLOCK][3], value[BLOCK];
} asked;

static void ask(const job* k, asked* a, int id, const int s[3])
{
    node_place(k, s, a->x[a->n]);
    a->id[a->n++] = id;
}

// Trilinear between the corners of leaf o, at u cells.
static double between(const ty_octree* tree, const ty_octant* o, const double u[3])
{
    int corner[8];
    ty_octree_corners_of(tree, o->id, corner);
    double part = 1.0 / (1 << o->level), sum = 0.0;
    for (int v = 0; v < 8; ++v) {
        double weight = 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            double w = part * u[axis] - o->x[axis];
            weight *= v >> axis & 1 ? w : 1.0 - w;
        }
        sum += weight * tree->corner_value.at[corner[v]];
    }
    return sum;
}

// The liquid's value at a node, unless it has to be asked: in leaves with triangles, off the corners.
static bool liquid_value(const job* k, ty_octree_cursor* c, const int point[3], const int s[3],
                         bool inner, double* value)
{
    const ty_octree* tree = k->liquid->tree;
    double x[3], u[3];
    int at[3];
    int id = inner ? ty_lattice_id(&tree->corners, &c->corner, point[0], point[1], point[2]) : -1;
    if (id >= 0) {
        *value = tree->corner_value.at[id];
        return true;
    }
    node_place(k, s, x);
    ty_octree_cells_of(tree, x, u, at);
    ty_octant o = ty_octree_leaf(tree, c, at);
    *value = TY_FAR;
    if (o.id < 0) return true;
    unsigned inside = tree->inside.at[o.id];
    *value = between(tree, &o, u);
    return inside == 0 || inside == 255;
}

// What obstacles take away of the liquid's values; nodes below films stay liquid.
static void cut_solids(const job* k, int64_t begin, const asked* solid, double* value)
{
    double x[BLOCK][3], depth[BLOCK];
    bool below[BLOCK];
    int id[BLOCK], n = 0;
    for (int i = 0; i < solid->n; ++i) {
        double* here = &value[solid->id[i]];
        bool shallow = *here < 0.0 && *here > -TY_CUT_FILM_DEEP * k->p->cell;
        if (shallow && solid->value[i] < 0.0) {
            memcpy(x[n], solid->x[i], sizeof x[0]);
            depth[n] = solid->value[i];
            id[n++] = i;
        } else *here = ty_max(*here, -solid->value[i]);
    }
    ty_cut_below_film(k->p, n, (const double(*)[3])x, depth, below);
    for (int i = 0; i < n; ++i) {
        int at = solid->id[id[i]];
        if (below[i]) k->t->beside.at[begin + at] = BELOW_FILM;
        else value[at] = -depth[i];
    }
}

// Outside the lattice there is air.
static void value_block(void* ctx, ty_range r)
{
    const job* k = ctx;
    ty_octree* cells = &k->t->cells;
    ty_octree_cursor c = ty_octree_cursor_start();
    ty_lattice_cursor block = ty_lattice_cursor_start();
    asked liquid = {.n = 0}, solid = {.n = 0};
    double* value = cells->corner_value.at + r.begin;
    int point[BLOCK][3], n = (int)(r.end - r.begin);
    ty_lattice_set_points(&cells->corners, (int)r.begin, (int)r.end, point);
    for (int i = 0; i < n; ++i) {
        int s[3];
        bool inner, in = node_of(k, point[i], s, &inner);
        value[i] = TY_FAR;
        k->t->beside.at[r.begin + i] = 0;
        if (!in) continue;
        if (!liquid_value(k, &c, point[i], s, inner, &value[i])) ask(k, &liquid, i, s);
        if (!k->p->has_obstacles || !ty_cut_tree_beside(k->t, &block, s)) continue;
        k->t->beside.at[r.begin + i] = BESIDE;
        ask(k, &solid, i, s);
    }
    if (liquid.n) ty_cut_distance(k->p, liquid.n, (const double(*)[3])liquid.x, liquid.value);
    for (int i = 0; i < liquid.n; ++i) value[liquid.id[i]] = liquid.value[i];
    if (!solid.n) return;
    ty_sampler obstacles = ty_world_obstacles(k->p->world);
    ty_sample(&obstacles, solid.n, (const double(*)[3])solid.x, solid.value);
    cut_solids(k, r.begin, &solid, value);
}

// Corners, values, signs of the cells that there are.
static ty_status complete(const job* k)
{
    ty_octree* cells = &k->t->cells;
    TY_TRY(ty_lattice_set_finish(&cells->level[0].octants));
    cells->n_octants = cells->level[0].octants.n;
    ty_lattice_set_clear(&cells->corners);
    if (!ty_octree_insert_corners(cells)) return ty_no_memory("cut surface");
    TY_TRY(ty_lattice_set_finish(&cells->corners));
    if (!ty_array_resize(&cells->corner_value, cells->corners.n) ||
        !ty_array_resize(&k->t->beside, cells->corners.n))
        return ty_no_memory("cut surface");
    ty_parallel_for(cells->corners.n, BLOCK, value_block, (void*)k);
    return ty_octree_find_corners(cells);
}

// Where a face's corners differ, the cell behind it has to be there. It is, but where the liquid's
// curved surface leaves the cells of its triangles, or an obstacle is not where its distance says.
static ty_status follow(const job* k, bool* more)
{
    static const unsigned mask[6] = {0x55, 0xaa, 0x33, 0xcc, 0x0f, 0xf0};
    ty_octree* cells = &k->t->cells;
    ty_lattice_set* set = &cells->level[0].octants;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    int n = set->n;
    *more = false;
    k->t->from.n = 0;
    for (int i = 0; i < n; ++i) {
        unsigned inside = cells->inside.at[i];
        if (inside == 0 || inside == 255) continue;
        const int* x = ty_lattice_walk_to(set, &walk, i);
        for (int face = 0; face < 6; ++face) {
            unsigned on_face = inside & mask[face];
            int at[3] = {x[0], x[1], x[2]};
            at[face >> 1] += face & 1 ? 1 : -1;
            if (on_face == 0 || on_face == mask[face] ||
                ty_lattice_has(set, &c, at[0], at[1], at[2]))
                continue;
            for (int axis = 0; axis < 3; ++axis)
                if (!ty_array_push(&k->t->from, at[axis])) return ty_no_memory("cut surface");
        }
    }
    c = ty_lattice_cursor_start();
    for (int64_t i = 0; i < k->t->from.n; i += 3)
        if (!add_cell(k, &c, k->t->from.at + i)) return ty_no_memory("cut surface");
    *more = k->t->from.n > 0;
    return ty_ok();
}

static ty_status find_cells(const job* k)
{
    ty_octree* cells = &k->t->cells;
    bool ok = true, more = true;
    cells->n_levels = 1;
    cells->cell = 1.0;
    for (int axis = 0; axis < 3; ++axis) cells->origin[axis] = k->t->shift[axis];
    ty_lattice_set_clear(&cells->level[0].octants);
    ok = add_liquid(k) && (!k->p->has_obstacles || add_rim(k));
    for (int side = 0; ok && side < 6; ++side) ok = add_side(k, side);
    if (!ok) return ty_no_memory("cut surface");
    while (more) {
        TY_TRY(complete(k));
        TY_TRY(follow(k, &more));
    }
    return ty_ok();
}

// An edge of the cells that the surface cuts. Value.
typedef struct edge {
    int axis, s[3];    // of the lower end
    bool outer;        // one end is outside the lattice
    bool plain;        // off the domain's sides and off obstacles
    bool film;         // the end that is inside is below a film
    double low, high;
} edge;

static edge edge_of(const job* k, ty_lattice_cursor* c, uint64_t key, const int point[3])
{
    const ty_octree* cells = &k->t->cells;
    edge e = {.axis = (int)(key & 3)};
    int low = (int)(key >> 2), next[3] = {point[0], point[1], point[2]}, s[3];
    bool inner[2];
    ++next[e.axis];
    int high = ty_lattice_id(&cells->corners, c, next[0], next[1], next[2]);
    e.outer = !node_of(k, point, e.s, &inner[0]) | !node_of(k, next, s, &inner[1]);
    e.plain = inner[0] && inner[1] && !k->t->beside.at[low] && !k->t->beside.at[high];
    e.low = cells->corner_value.at[low];
    e.high = cells->corner_value.at[high];
    e.film = k->t->beside.at[e.high < 0.0 ? high : low] == BELOW_FILM;
    return e;
}

static void plain_block(void* ctx, ty_range r)
{
    const job* k = ctx;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    for (int64_t v = r.begin; v < r.end; ++v) {
        uint64_t key = k->contour->key.at[v];
        const int* point = ty_lattice_walk_to(&k->t->cells.corners, &walk, (int)(key >> 2));
        k->t->from.at[v] = edge_of(k, &c, key, point).plain ? 0 : -1;
    }
}

static bool is_on(const ty_octree* tree, const int point[3], int axis, const double x[3])
{
    double low[3];
    ty_store3(low, ty_octree_point(tree, ty_vec(point[0], point[1], point[2])));
    for (int d = 0; d < 3; ++d)
        if (d == axis ? !(x[d] >= low[d] && x[d] <= low[d] + 1.5 * tree->cell) : x[d] != low[d])
            return false;
    return true;
}

// The hull's vertices are in the same order: by the lower end of their edge, then by axis.
static void match_hull(const job* k)
{
    const ty_tri_mesh* hull = k->liquid->hull;
    ty_lattice_walk walk = {0};
    int at = 0;
    for (int v = 0; v < k->out->n_verts; ++v) {
        uint64_t key = k->contour->key.at[v];
        if (k->t->from.at[v] < 0) continue;
        const int* point = ty_lattice_walk_to(&k->t->cells.corners, &walk, (int)(key >> 2));
        while (at < hull->n_verts && !is_on(k->liquid->tree, point, (int)(key & 3), hull->vert[at]))
            ++at;
        k->t->from.at[v] = at < hull->n_verts ? at++ : -1;
    }
}

// The liquid's vertex; with TY_CUT_LEAST from the edge's ends where it lies on the edge.
static void take_vertex(const job* k, int from, const edge* e, double x[3])
{
    const ty_world_def* def = ty_world_get_def(k->p->world);
    memcpy(x, k->liquid->surface->vert[from], 3 * sizeof *x);
    for (int axis = 0; axis < 3 && def->has_domain; ++axis)
        x[axis] = ty_clamp(x[axis], def->min[axis], def->max[axis]);
    if (k->p->fattening.eval) return;
    double low = ty_cut_node(k->p, e->axis, e->s[e->axis]), cell = k->p->cell;
    x[e->axis] = ty_clamp(x[e->axis], low + TY_CUT_LEAST * cell, low + (1.0 - TY_CUT_LEAST) * cell);
}

// Edges of one block of which the zero has to be looked for.
typedef struct sought {
    int n, id[BLOCK], axis[BLOCK];
    double a[BLOCK][3], b[BLOCK][3], fa[BLOCK], fb[BLOCK], t[BLOCK];
} sought;

static void seek(sought* z, int id, const edge* e)
{
    int i = z->n++;
    for (int d = 0; d < 3; ++d) z->a[i][d] = z->b[i][d] = e->s[d];
    z->b[i][e->axis] += 1.0;
    z->fa[i] = e->low;
    z->fb[i] = e->high;
    z->axis[i] = e->axis;
    z->id[i] = id;
}

static void find_sought(const job* k, sought* z, double (*vert)[3])
{
    ty_sampler f = ty_cut_function(k->p);
    if (!z->n) return;
    ty_find_zeros(&f, k->p->refine, z->n, (const double(*)[3])z->a, (const double(*)[3])z->b, z->fa,
                  z->fb, z->t);
    for (int i = 0; i < z->n; ++i) {
        double* x = vert[z->id[i]];
        double t = z->t[i] >= TY_CUT_LEAST ? z->t[i]
                                           : TY_CUT_LEAST;    // not-a-number goes to an end
        z->a[i][z->axis[i]] += ty_min(t, 1.0 - TY_CUT_LEAST);
        ty_cut_to_space(k->p, z->a[i], x);
        if (k->p->fattening.eval) ty_cut_draw_back(k->p, x);
    }
}

static void place_film(const job* k, const int end[3], const int other[3], double x[3])
{
    double a[3], b[3];
    node_place(k, end, a);
    node_place(k, other, b);
    ty_cut_film(k->p, a, b, x);
}

static void place_block(void* ctx, ty_range r)
{
    const job* k = ctx;
    ty_lattice_cursor c = ty_lattice_cursor_start();
    ty_lattice_walk walk = {0};
    sought z = {.n = 0};
    double(*vert)[3] = k->out->vert + r.begin;
    for (int64_t v = r.begin; v < r.end; ++v) {
        uint64_t* key = &k->contour->key.at[v];
        const int* point = ty_lattice_walk_to(&k->t->cells.corners, &walk, (int)(*key >> 2));
        edge e = edge_of(k, &c, *key, point);
        bool high = e.high < 0.0;
        int i = (int)(v - r.begin), end[3] = {e.s[0], e.s[1], e.s[2]},
            other[3] = {e.s[0], e.s[1], e.s[2]};
        end[e.axis] += high;
        other[e.axis] += !high;
        if (e.outer) node_place(k, end, vert[i]);
        else if (e.film) place_film(k, end, other, vert[i]);
        else if (k->t->from.at[v] >= 0) take_vertex(k, k->t->from.at[v], &e, vert[i]);
        else seek(&z, i, &e);
        *key = ty_contour_key(e.s, e.axis) | (uint64_t)high << TY_CUT_HIGH;
    }
    find_sought(k, &z, vert);
}

// A tracker's lattice point (0, 0, 0) is at its tree's origin.
static void find_range(ty_cut_tree* t, const ty_cut_part* p, const ty_liquid* liquid)
{
    ty_box box = ty_tri_mesh_bounds(liquid->hull);
    for (int axis = 0; axis < 3; ++axis) {
        double last = p->whole[axis] - 1.0, lo = (box.lo[axis] - p->lo[axis]) / p->cell,
               hi = (box.hi[axis] - p->lo[axis]) / p->cell;
        t->shift[axis] = (int)lround((liquid->tree->origin[axis] - p->lo[axis]) / p->cell + 0.5);
        t->lo[axis] = (int)ty_clamp(floor(lo), 0.0, last);
        t->hi[axis] = (int)ty_clamp(ceil(hi) + 1.0, 0.0, last);
    }
}

ty_status ty_cut_tree_contour(ty_cut_tree* t, const ty_cut_part* p, const ty_liquid* liquid,
                              ty_contour* contour, ty_tri_mesh* out)
{
    job k = {t, p, liquid, contour, out};
    find_range(t, p, liquid);
    if (p->has_obstacles) TY_TRY(ty_cut_rim_find(t, p));
    TY_TRY(find_cells(&k));
    TY_TRY(ty_contour_octree(contour, &t->cells, NULL, 0, out));
    if (!ty_array_resize(&t->from, out->n_verts)) return ty_no_memory("cut surface");
    ty_parallel_for(out->n_verts, BLOCK, plain_block, &k);
    match_hull(&k);
    ty_parallel_for(out->n_verts, BLOCK, place_block, &k);
    return ty_ok();
}
