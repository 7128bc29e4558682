// SPDX-License-Identifier: Apache-2.0
// Points by cell, for neighbours within a radius: cells of that size, hashed, points sorted by
// bucket (counting sort, so ids ascend within a bucket and nothing depends on threads or history).
//
// Open type. Zero-initialise; build; free. Borrows `x` until the next build; building again reuses
// memory. Free to ask from any thread.
#ifndef TY_SPACE_HASH_GRID_H
#define TY_SPACE_HASH_GRID_H

#include <stdint.h>

#include "core/memory.h"
#include "core/vec.h"

typedef struct ty_hash_entry {
    int64_t cell[3];
    int id;
} ty_hash_entry;

typedef struct ty_hash_grid {
    int n;
    const double (*x)[3];
    double cell;             // metres; the largest radius one can ask for
    unsigned n_buckets;      // a power of two
    int* start;              // n_buckets + 1: ranges of `entry`
    ty_hash_entry* entry;    // the points by bucket
    double* place[3];        // theirs, by axis; room for four behind the last
    uint8_t* shared;         // per bucket: its points are of several cells
    unsigned* bucket;        // of every point
    int capacity;
    unsigned bucket_capacity;
} ty_hash_grid;

// The cells around the last point asked about that have points. Value; one per thread and grid,
// started anew after each build.
typedef struct ty_hash_cursor {
    int64_t lo[3], hi[3];
    int n;    // -1: none asked yet
    struct {
        int64_t cell[3];
        int begin, end;
        bool shared;
    } range[64];    // four cells along an axis at most, by rounding
} ty_hash_cursor;
static inline ty_hash_cursor ty_hash_cursor_start(void)
{
    ty_hash_cursor c;
    c.n = -1;
    return c;
}

// Points that are not finite are left out. `radius` must be positive.
ty_status ty_hash_grid_build(ty_hash_grid* grid, int n, const double (*x)[3], double radius);
void ty_hash_grid_free(ty_hash_grid* grid);

// Calls visit(ctx, id, distance2) for every point within `radius` (at most the grid's) of p, each
// once, in an order that depends only on the points and the cell size.
void ty_hash_grid_near(const ty_hash_grid* grid, const double p[3], double radius,
                       void (*visit)(void* ctx, int id, double distance2), void* ctx);
// The same. Fast when points that follow each other are of one cell.
void ty_hash_grid_near_last(const ty_hash_grid* grid, ty_hash_cursor* cursor, const double p[3],
                            double radius, void (*visit)(void* ctx, int id, double distance2),
                            void* ctx);
// The closest point within `radius`, ties to the lowest id; -1 when there is none.
int ty_hash_grid_closest(const ty_hash_grid* grid, const double p[3], double radius,
                         double* distance2);

#endif
