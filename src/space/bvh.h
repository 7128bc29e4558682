// SPDX-License-Identifier: Apache-2.0
// A bounding volume hierarchy over triangles: closest points, rays, boxes, self-intersections.
//
//   node   8 boxes and 8 bricks as floats, side by side (a brick: a box that is turned as the surface is, if that
//          makes it smaller; closest points ask bricks, all others boxes)
//   leaf   8 triangles as floats, side by side (corner, two edges, what distances need, slack)
//
//   boxes and triangles are kept in units of the mesh: (x - centre) / scale, within [-1, 1]. Floats only rule
//   out: what they leave is decided in doubles on the borrowed vertices. So answers are those of asking every
//   triangle with ty_closest_on_triangle or ty_ray_triangle, to the bit, with ties to the lowest id.
//
// Open type. Zero-initialise; build; free. Borrows the mesh's arrays until the next build or free;
// owns the rest, and building again reuses it. Queries do not write: free to ask from any thread.
// Same bits for any number of threads. Triangles with an index out of range or a vertex that is not
// finite are ignored.
#ifndef TY_SPACE_BVH_H
#define TY_SPACE_BVH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"
#include "core/vec.h"
#include "geometry/triangle.h"

enum {
    TY_BVH_WIDTH = 8,
    TY_BVH_MAX_DEPTH =
        176,    // splits leave an eighth on either side: log(2^31) / log(8/7) and a few
    TY_BVH_MAX_LEVELS =
        96,    // of an ordered tree: a bit of a code each, or half of what has one code
    TY_BVH_STACK = TY_BVH_MAX_DEPTH * (TY_BVH_WIDTH - 1) + 1
};

typedef struct ty_bvh_node {
    float middle[3][TY_BVH_WIDTH];                            // bricks: middle, three unit axes,
    float axis[3][3][TY_BVH_WIDTH], half[3][TY_BVH_WIDTH];    // and how far they go along each
    int child[TY_BVH_WIDTH];                                  // a node, or ~leaf
    float lo[3][TY_BVH_WIDTH], hi[3][TY_BVH_WIDTH];           // boxes
    int n_children;
} __attribute__((aligned(64))) ty_bvh_node;

typedef struct ty_bvh_leaf {
    float a[3][TY_BVH_WIDTH], ab[3][TY_BVH_WIDTH], ac[3][TY_BVH_WIDTH];
    float normal[3][TY_BVH_WIDTH];     // of unit length, or zero
    float inverse[3][TY_BVH_WIDTH];    // 1 / |ab|^2, 1 / |ac|^2, 1 / |bc|^2
    float ab_ab[TY_BVH_WIDTH], ab_ac[TY_BVH_WIDTH];
    float
        slack[TY_BVH_WIDTH];    // by how much floats may overestimate the distance of this triangle
    int id[TY_BVH_WIDTH];
    int n;
} __attribute__((aligned(64))) ty_bvh_leaf;

typedef struct ty_bvh_ref ty_bvh_ref;
typedef struct ty_bvh_topology ty_bvh_topology;
typedef struct ty_bvh_task ty_bvh_task;

typedef struct ty_bvh {
    int n_verts, n_tris;
    const double (*vert)[3];
    const int (*tri)[3];
    double centre[3], scale, inverse_scale;
    int n_nodes, n_leaves, n_top;    // node 0 is the root; children come after their parent
    ty_bvh_node* node;
    ty_bvh_leaf* leaf;
    int* leaf_of;                                        // per triangle, -1 when ignored
    int n_levels, level_first[TY_BVH_MAX_LEVELS + 1];    // of an ordered tree; else 0
    int n_tasks;
    ty_bvh_task* task;    // subtrees: ranges of nodes that are built and refitted side by side
    int node_capacity, leaf_capacity, tri_capacity, ref_capacity;
    ty_bvh_ref *ref, *spare;    // kept between builds
    ty_bvh_topology* topology;
    void* block;
} ty_bvh;

// Binned surface area heuristic, top down. Fails with TY_NO_MEMORY only. No triangles: every query
// finds nothing.
ty_status ty_bvh_build(ty_bvh* bvh, int n_verts, const double (*vert)[3], int n_tris,
                       const int (*tri)[3]);
// For triangles listed by the lattice's cells in Morton order: a leaf holds consecutive ones. Another
// order makes a poor tree, no wrong one.
ty_status ty_bvh_build_ordered(ty_bvh* bvh, int n_verts, const double (*vert)[3], int n_tris,
                               const int (*tri)[3], const double origin[3], double cell);
// New positions for the same triangles: boxes anew, same tree, about a third of the time of a
// build. Answers stay exact however far vertices moved; the tree gets slower. `vert` must be finite
// wherever it was when built.
void ty_bvh_refit(ty_bvh* bvh, const double (*vert)[3]);
void ty_bvh_free(ty_bvh* bvh);
// Every invariant: boxes hold what is below them, every triangle in one leaf, numbering. For tests.
ty_status ty_bvh_validate(const ty_bvh* bvh);

// Answers of ty_bvh_closest; any array may be NULL.
typedef struct ty_closest_points {
    double* distance2;         // INFINITY when there is none within max_distance
    int* triangle;             // -1 then
    double (*point)[3];        // undefined then
    unsigned char* feature;    // as ty_closest.feature, undefined then
} ty_closest_points;

// The closest triangle to each point within max_distance (INFINITY: anywhere). Does not depend on
// how points are batched or ordered; batches of hundreds to millions are fastest, because they are
// visited in order of place. Points must be finite: others find nothing.
void ty_bvh_closest(const ty_bvh* bvh, int n, const double (*x)[3], double max_distance,
                    const ty_closest_points* out);

// A search for the closest triangle by a caller who knows which leaves may hold it:
//
//   ty_bvh_search q;
//   ty_bvh_search_begin(&bvh, &q, x);
//   ty_bvh_search_leaves(&bvh, &q, first, last);    // as often as ty_bvh_search_reach asks for
//   ty_bvh_search_end(&bvh, &q);                    // q.triangle, q.best
//
// The answer is that of ty_bvh_closest when every leaf within reach was asked. Value; re-entrant.
enum { TY_BVH_ASKED = 12 };
typedef struct ty_bvh_asked {
    float least[TY_BVH_WIDTH];    // no closer than this, in units of the mesh
    int leaf;
    unsigned lanes;    // which of its triangles may be the closest
} ty_bvh_asked;
typedef struct ty_bvh_search {
    ty_vec3 x;
    float p[3];    // x in units of the mesh
    float bound,
        reach;     // nothing beyond this squared distance (boxes), distance (triangles) counts
    float keen;    // boxes beyond this part of the squared reach may be left out
    int triangle;
    ty_closest best;
    int n_asked;    // leaves whose triangles are decided at the end, in doubles
    ty_bvh_asked asked[TY_BVH_ASKED];
} ty_bvh_search;
void ty_bvh_search_begin(const ty_bvh* bvh, ty_bvh_search* q, const double x[3]);
void ty_bvh_search_leaves(const ty_bvh* bvh, ty_bvh_search* q, int first, int last);
void ty_bvh_search_end(const ty_bvh* bvh, ty_bvh_search* q);
// No triangle farther than this counts any more, metres.
static inline double ty_bvh_search_reach(const ty_bvh* bvh, const ty_bvh_search* q)
{
    return (double)q->reach * bvh->scale;
}

// A triangle to each point that is farther than the closest by at most this part of the distance.
// Which one depends on how points are batched (not on threads). Several times as fast for points
// far from the mesh.
void ty_bvh_nearly_closest(const ty_bvh* bvh, int n, const double (*x)[3], double tolerance,
                           const ty_closest_points* out);

typedef struct ty_bvh_hit {
    int triangle;    // -1: none
    ty_ray_hit hit;
} ty_bvh_hit;

// The hit of smallest t in [t_min, t_max]; ties to the lowest triangle.
ty_bvh_hit ty_bvh_nearest_hit(const ty_bvh* bvh, ty_vec3 origin, ty_vec3 direction, double t_min,
                              double t_max);
// Whether anything is hit with t in [t_min, t_max].
bool ty_bvh_any_hit(const ty_bvh* bvh, ty_vec3 origin, ty_vec3 direction, double t_min,
                    double t_max);
// How often the ray leaves the mesh minus how often it enters it, and (unless NULL) all hits, t in
// [t_min, t_max].
int ty_bvh_crossings(const ty_bvh* bvh, ty_vec3 origin, ty_vec3 direction, double t_min,
                     double t_max, int* n_hits);

// Triangles whose bounding boxes meet `box`, ascending; returns how many. When they are more than
// `limit`, only `limit` of them are given (always the same ones).
int64_t ty_bvh_overlaps(const ty_bvh* bvh, const ty_box* box, int64_t limit, int* triangle);

// Pairs of triangles that share no vertex (by id, or by position when two differ) and have a point
// in common.
typedef struct ty_bvh_pair {
    int first, second;    // first < second
    double place[3];      // a common point
} ty_bvh_pair;
// At most `limit` pairs, those of the lowest ids, ascending; *n_pairs: how many there are in all.
// Parallel.
ty_status ty_bvh_self_intersections(const ty_bvh* bvh, int64_t limit, ty_bvh_pair* pair,
                                    int64_t* n_pairs);

#endif
