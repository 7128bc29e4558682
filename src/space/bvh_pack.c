// SPDX-License-Identifier: Apache-2.0
// Closest points of a pack: up to eight points that lie close together go through the tree as one. A
// node is asked once, for a ball around them; what may hold the closest triangle of any of them is
// asked for all side by side (points of a lattice near the surface: a quarter more a second).
#include "geometry/triangle_four.h"
#include "space/bvh_search.h"

enum { PACK = TY_BVH_WIDTH };
enum {
    PATIENCE = 8
};    // one in so many lonely points is answered at once, as a new place to start from

// How wide a pack may be: leaves (of size l) within its reach of the surface, at a distance d, lie in
// a disc of radius^2 (d + width)^2 - d^2, which is to be at most WIDE l^2.
static const float WIDE = 16.0f;

typedef struct pack {
    const points* from;
    const ty_bvh* bvh;
    int n, at[PACK];    // which of the block's points
    query q[PACK];
    // Lanes beyond the last point have a bound that nothing is within.
    float p[3][PACK] __attribute__((aligned(32)));
    float bound[PACK] __attribute__((aligned(32)));
    float reach[PACK] __attribute__((aligned(32)));
    float away[PACK] __attribute__((aligned(32)));    // from the middle
    float middle[3], bound_of_all;                    // squared distance from the middle
    float last_reach;    // the distance of the last point that was answered
    int hint;            // a leaf near by: visited first, and not again; or -1
} pack;

static inline void shorten(pack* k)
{
    float most = -ty_f8_least(-(ty_f8_load(k->reach) + ty_f8_load(k->away))) * RELATIVE_MARGIN;
    k->bound_of_all = most * most;
}

// Squared distances of a node's child to the points.
static inline ty_f8 to_points(const ty_bvh_node* n, int lane, const pack* k)
{
    bricks b;
    ty_f8 at[3];
    for (int i = 0; i < 3; ++i) {
        at[i] = ty_f8_load(k->p[i]);
        b.middle[i] = ty_f8_all(n->middle[i][lane]);
        b.half[i] = ty_f8_all(n->half[i][lane]);
        for (int axis = 0; axis < 3; ++axis) b.axis[i][axis] = ty_f8_all(n->axis[i][axis][lane]);
    }
    return squared_distance(at, &b);
}

// Which points of the pack something at these squared distances may matter to.
static inline unsigned points_within(ty_f8 d2, const pack* k)
{
    return ty_i8_bits(d2 <= ty_f8_load(k->bound));
}

static inline void visit_leaf_for(pack* k, int leaf, unsigned who)
{
    for (; who; who &= who - 1) {
        int i = __builtin_ctz(who);
        visit_leaf(k->bvh, leaf, &k->q[i]);
        k->bound[i] = k->q[i].bound;
        k->reach[i] = k->q[i].reach;
    }
}

// Leaves of a node that any point may have to ask, and their boxes' distances.
typedef struct leaf_list {
    int n, leaf[TY_BVH_WIDTH];
    ty_f8 d2[TY_BVH_WIDTH];
} leaf_list;

static inline void list_leaf(leaf_list* l, const pack* k, const ty_bvh_node* n, int lane)
{
    l->d2[l->n] = to_points(n, lane, k);
    l->leaf[l->n] = ~n->child[lane];
    l->n += (l->leaf[l->n] != k->hint) & (points_within(l->d2[l->n], k) != 0);
}

static void search(pack* k)
{
    entry stack[TY_BVH_STACK];
    int top = 1;
    stack[0] = (entry){0.0f, 0};
    if (k->hint >= 0) visit_leaf_for(k, k->hint, (1u << k->n) - 1u);
    shorten(k);
    while (top > 0) {
        entry e = stack[--top];
        if (e.d2 > k->bound_of_all) continue;
        const ty_bvh_node* n = &k->bvh->node[e.child];
        float d[TY_BVH_WIDTH];
        int count = 0;
        leaf_list l;
        l.n = 0;
        ty_i8 child;
        memcpy(&child, n->child, sizeof child);
        unsigned near = lanes_within(n, k->middle, k->bound_of_all, d),
                 leaves = ty_i8_bits(child < 0);
        for (unsigned w = near & ~leaves; w; w &= w - 1) {
            int lane = __builtin_ctz(w);
            push_entry(stack + top, count++, (entry){d[lane], n->child[lane]});
        }
        top += count;
        for (unsigned w = near & leaves; w; w &= w - 1) list_leaf(&l, k, n, __builtin_ctz(w));
        for (int i = 0; i < l.n; ++i) visit_leaf_for(k, l.leaf[i], points_within(l.d2[i], k));
        if (l.n) shorten(k);
    }
}

// A triangle that a point may have to be asked about in doubles.
typedef struct pair {
    query* q;
    int triangle;
} pair;
enum { MAX_PAIRS = PACK * TY_BVH_ASKED * TY_BVH_WIDTH };

// Mostly one triangle or none of a leaf: the first is written down without a branch.
static int list_pairs(pack* k, pair out[MAX_PAIRS])
{
    const unsigned any = 1u << (TY_BVH_WIDTH - 1);
    int n = 0;
    for (int i = 0; i < k->n; ++i) {
        query* q = &k->q[i];
        for (int j = 0; j < q->n_asked; ++j) {
            const int* id = k->bvh->leaf[q->asked[j].leaf].id;
            unsigned near = within_reach(&q->asked[j], q->reach);
            out[n] = (pair){q, id[__builtin_ctz(near | any)]};
            n += near != 0;
            for (near &= near - 1; near; near &= near - 1)
                out[n++] = (pair){q, id[__builtin_ctz(near)]};
        }
        q->n_asked = 0;
    }
    return n;
}

// Most points of a finely triangulated surface's neighbourhood are nearest to the inside of a face:
// four such pairs are decided at once.
static void decide_four(const ty_bvh* b, const pair* p)
{
    ty_vec3 x[4], corner[3][4];
    ty_closest c[4];
    for (int i = 0; i < 4; ++i) {
        x[i] = p[i].q->x;
        for (int j = 0; j < 3; ++j) corner[j][i] = ty_load3(b->vert[b->tri[p[i].triangle][j]]);
    }
    ty_l4 inside = ty_closest_on_faces(x, corner, c);
    for (int i = 0; i < 4; ++i)
        if (inside[i]) take_triangle(p[i].q, p[i].triangle, &c[i]);
        else try_triangle(b, p[i].q, p[i].triangle);
}

// The last four may be filled up with one pair again, which changes nothing.
static void decide_all(pack* k)
{
    pair p[MAX_PAIRS + 4];
    int n = list_pairs(k, p);
    if (n == 0) return;
    p[n] = p[n + 1] = p[n + 2] = p[n - 1];
    for (int i = 0; i < n; i += 4) decide_four(k->bvh, p + i);
}

// How far the pack's other points may be from its first.
static float width_at(const pack* k)
{
    if (k->hint < 0) return 0.0f;
    const ty_bvh_leaf* l = &k->bvh->leaf[k->hint];
    float d = k->last_reach, size2 = 4.0f / l->inverse[0][0];
    return sqrtf(d * d + WIDE * size2) - d;
}

static inline float gap2(const float a[3], const float b[3])
{
    float sum = 0.0f;
    for (int axis = 0; axis < 3; ++axis) sum += (a[axis] - b[axis]) * (a[axis] - b[axis]);
    return sum;
}

static void set_middle(pack* k)
{
    for (int axis = 0; axis < 3; ++axis) {
        float lo = k->p[axis][0], hi = lo;
        for (int i = 1; i < k->n; ++i) {
            lo = k->p[axis][i] < lo ? k->p[axis][i] : lo;
            hi = k->p[axis][i] > hi ? k->p[axis][i] : hi;
        }
        k->middle[axis] = 0.5f * (lo + hi);
        for (int i = k->n; i < PACK; ++i) k->p[axis][i] = k->middle[axis];
    }
    for (int i = 0; i < PACK; ++i) {
        k->bound[i] = i < k->n ? k->q[i].bound : -1.0f;
        k->reach[i] = i < k->n ? k->q[i].reach : 0.0f;
        k->away[i] = i < k->n ? sqrtf(gap2(k->q[i].p, k->middle)) : 0.0f;
    }
}

// Points from `at` on, as many as lie close together; returns the one after them.
static int gather(pack* k, int at, int end)
{
    const batch* job = k->from->job;
    float width = 0.0f;
    k->n = 0;
    for (; at < end && k->n < PACK; ++at) {
        ty_vec3 x = ty_load3(k->from->x[point_at(k->from, at)]);
        query* q = &k->q[k->n];
        if (!finite3(x)) {
            q->triangle = -1;
            store(job->out, answer_at(k->from, at), q);
            continue;
        }
        begin_query(k->bvh, q, x, job->limit2, job->keen);
        if (k->n == 0) width = width_at(k);
        else if (gap2(q->p, k->q[0].p) > width * width) break;
        for (int axis = 0; axis < 3; ++axis) k->p[axis][k->n] = q->p[axis];
        k->at[k->n++] = at;
    }
    return at;
}

int ty_bvh_closest_packs(const points* p, int n, uint16_t* rest)
{
    pack k = {.from = p, .bvh = p->job->bvh, .hint = -1};
    int n_rest = 0, n_lonely = 0;
    if (k.bvh->n_nodes == 0) {
        for (int i = 0; i < n; ++i) rest[i] = (uint16_t)point_at(p, i);
        return n;
    }
    for (int at = 0; at < n;) {
        at = gather(&k, at, n);
        if (k.n == 0) break;
        if (k.n == 1 && n_lonely++ % PATIENCE > 0) {
            rest[n_rest++] = (uint16_t)point_at(p, k.at[0]);
            continue;
        }
        if (k.n > 1) n_lonely = 0;
        set_middle(&k);
        search(&k);
        decide_all(&k);
        for (int i = 0; i < k.n; ++i) {
            if (k.q[i].triangle >= 0) {
                k.hint = k.bvh->leaf_of[k.q[i].triangle];
                k.last_reach = k.q[i].reach;
            }
            store(p->job->out, answer_at(p, k.at[i]), &k.q[i]);
        }
    }
    return n_rest;
}
