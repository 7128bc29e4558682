// SPDX-License-Identifier: Apache-2.0
// Two counting sorts, by plane of cells and then within each plane. Both keep the order of equals,
// so the result is one and the same whatever the number of threads.
#include <string.h>

#include "core/parallel.h"
#include "track/particle/particle.h"

enum { BLOCK = 16384 };

ty_status ty_swarm_resize(ty_swarm* s, int64_t n)
{
    bool done = ty_array_resize(&s->radius, n) && ty_array_resize(&s->cell, n);
    for (int axis = 0; axis < 3; ++axis) done = done && ty_array_resize(&s->place[axis], n);
    return done ? ty_ok() : ty_no_memory("particles");
}

void ty_swarm_free(ty_swarm* s)
{
    for (int axis = 0; axis < 3; ++axis) ty_array_free(&s->place[axis]);
    ty_array_free(&s->radius);
    ty_array_free(&s->cell);
}

// The plane of cells that a particle is in: most often that of the one before, so divisions are few.
typedef struct at_plane {
    int width, plane;
} at_plane;

static at_plane first_plane(const ty_particle* p)
{
    return (at_plane){p->ls->grid.n[0] * p->ls->grid.n[1], 0};
}

static inline int plane_of(at_plane* a, int cell)
{
    unsigned in = (unsigned)(cell - a->plane * a->width);
    if (in >= (unsigned)a->width) a->plane = cell / a->width;
    return a->plane;
}

static void count_planes(void* ctx, ty_range r)
{
    ty_particle* p = ctx;
    int planes = p->ls->grid.n[2];
    int* count = p->count.at + r.block * planes;
    at_plane a = first_plane(p);
    memset(count, 0, (size_t)planes * sizeof *count);
    for (int64_t i = r.begin; i < r.end; ++i)
        if (p->now.radius.at[i] != 0.0f) ++count[plane_of(&a, p->now.cell.at[i])];
}

static void deal_planes(void* ctx, ty_range r)
{
    ty_particle* p = ctx;
    int* next = p->count.at + r.block * p->ls->grid.n[2];
    at_plane a = first_plane(p);
    for (int64_t i = r.begin; i < r.end; ++i)
        if (p->now.radius.at[i] != 0.0f)
            p->order.at[next[plane_of(&a, p->now.cell.at[i])]++] = (int)i;
}

static void copy(ty_swarm* to, int64_t at, const ty_swarm* from, int64_t i)
{
    for (int axis = 0; axis < 3; ++axis) to->place[axis].at[at] = from->place[axis].at[i];
    to->radius.at[at] = from->radius.at[i];
    to->cell.at[at] = from->cell.at[i];
}

// After this first[cell] is the end of the cell's particles; the next pass makes it the beginning
// again.
static void sort_plane(ty_particle* p, int plane)
{
    int64_t begin = p->plane.at[plane], end = p->plane.at[plane + 1];
    if (begin == end) return;
    int64_t width = (int64_t)p->ls->grid.n[0] * p->ls->grid.n[1];
    int* first = p->first.at + plane * width;
    memset(first, 0, (size_t)width * sizeof *first);
    for (int64_t i = begin; i < end; ++i) ++first[p->now.cell.at[p->order.at[i]] - plane * width];
    int sum = (int)begin;
    for (int64_t c = 0; c < width; ++c) {
        int here = first[c];
        first[c] = sum;
        sum += here;
    }
    for (int64_t i = begin; i < end; ++i) {
        int64_t from = p->order.at[i];
        copy(&p->spare, first[p->now.cell.at[from] - plane * width]++, &p->now, from);
    }
    for (int64_t c = width - 1; c > 0; --c) first[c] = first[c - 1];
    first[0] = (int)begin;
}

static void sort_planes(void* ctx, ty_range r)
{
    for (int64_t plane = r.begin; plane < r.end; ++plane) sort_plane(ctx, (int)plane);
}

// Where each block's particles of each plane go. Returns how many there are.
static int64_t place_blocks(ty_particle* p, int64_t blocks)
{
    int planes = p->ls->grid.n[2];
    int64_t sum = 0;
    for (int plane = 0; plane < planes; ++plane) {
        p->plane.at[plane] = sum;
        for (int64_t b = 0; b < blocks; ++b) {
            int* count = &p->count.at[b * planes + plane];
            int here = *count;
            *count = (int)sum;
            sum += here;
        }
    }
    p->plane.at[planes] = sum;
    return sum;
}

ty_status ty_particle_sort(ty_particle* p)
{
    int64_t n = ty_swarm_count(&p->now), blocks = (n + BLOCK - 1) / BLOCK;
    int planes = p->ls->grid.n[2];
    if (!ty_array_resize(&p->count, blocks * planes) || !ty_array_resize(&p->plane, planes + 1) ||
        !ty_array_resize(&p->order, n) || !ty_array_resize(&p->first, ty_grid_size(&p->ls->grid)))
        return ty_no_memory("particles");
    ty_parallel_for(n, BLOCK, count_planes, p);
    int64_t kept = place_blocks(p, blocks);
    ty_parallel_for(n, BLOCK, deal_planes, p);
    TY_TRY(ty_swarm_resize(&p->spare, kept));
    ty_parallel_for(planes, 1, sort_planes, p);
    ty_swarm sorted = p->spare;
    p->spare = p->now;
    p->now = sorted;
    return ty_ok();
}
