// SPDX-License-Identifier: Apache-2.0
// Error correction [Enright2002] section 3.3. A particle of sign s (+1 in air) and radius r that
// has escaped says that phi_p(x) = s (r - |x - x_p|) around it; at the eight corners of its cell
//
//   phi+ = max(phi, phi_p of escaped air particles)    phi- = min(phi, phi_p of escaped liquid particles)
//   phi  = phi+ if |phi+| <= |phi-|, else phi-
//
// Largest and smallest do not depend on the order, so neither do the bits.
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "track/particle/particle.h"

enum { BLOCK = 4096 };
// Cells beyond the band of seeding where particles that are not escaped are dropped. The surface
// takes a while to come back to where they are; then new ones say nearly the same: symmetric
// difference of the deformed sphere (50 cells, CFL 5) 1.6 %, with 3 cells 1.4, with 1.5 1.8.
static const float KEEP_BAND = 2.0f;

// Cells: a particle is no farther from a corner of its cell
static const double NEAR_WALL = 1.75;

// phi at n particles of one cell from the i-th on, in cells: trilinear.
static void measure_run(const ty_particle* p, int64_t i, int n, float* value)
{
    const ty_grid* g = &p->ls->grid;
    int64_t dy = ty_grid_stride(g, 1), dz = ty_grid_stride(g, 2);
    const double* v = p->ls->phi + p->now.cell.at[i];
    const double* row[4] = {v, v + dy, v + dz, v + dy + dz};
    float low[4], rise[4], per_cell = (float)(1.0 / g->cell);
    for (int k = 0; k < 4; ++k) {
        low[k] = (float)row[k][0] * per_cell;
        rise[k] = (float)(row[k][1] - row[k][0]) * per_cell;
    }
    const float *restrict x = p->now.place[0].at + i, *restrict y = p->now.place[1].at + i,
                *restrict z = p->now.place[2].at + i;
    float* restrict out = value;
    for (int k = 0; k < n; ++k) {
        float a = low[0] + x[k] * rise[0], b = low[1] + x[k] * rise[1];
        float c = low[2] + x[k] * rise[2], d = low[3] + x[k] * rise[3];
        a += y[k] * (b - a);
        c += y[k] * (d - c);
        out[k] = a + z[k] * (c - a);
    }
}

void ty_particle_measure(const ty_particle* p, int64_t begin, int64_t end, float* value)
{
    for (int64_t i = begin, next; i < end; i = next) {
        next = ty_swarm_run(&p->now, i, end);
        measure_run(p, i, (int)(next - i), value + i);
    }
}

// What a particle says about a corner of its cell, metres.
static double sphere(const ty_particle* p, int64_t i, int dx, int dy, int dz)
{
    ty_vec3 from = ty_vec(dx - (double)p->now.place[0].at[i], dy - (double)p->now.place[1].at[i],
                          dz - (double)p->now.place[2].at[i]);
    double radius = (double)p->now.radius.at[i], way = ty_norm(from);
    return p->ls->grid.cell * (radius > 0.0 ? radius - way : radius + way);
}

// Measures, and puts the escaped particles of a plane of cells into the plane's part of `order`.
static void find_escaped(void* ctx, ty_range r)
{
    ty_particle* p = ctx;
    int plane = (int)r.begin, found = 0;
    ty_particle_measure(p, p->plane.at[plane], p->plane.at[plane + 1], p->value.at);
    int* list = p->order.at + p->plane.at[plane];
    for (int64_t i = p->plane.at[plane]; i < p->plane.at[plane + 1]; ++i) {
        list[found] = (int)i;
        found += ty_particle_escaped(p->now.radius.at[i], p->value.at[i]);
    }
    p->count.at[plane] = found;
}

// Whether a wall stands between a particle and a corner of its cell.
static bool is_hidden(const ty_particle* p, int64_t i, int64_t corner)
{
    const ty_levelset* ls = p->ls;
    if (!ls->has_obstacles || ls->solid[corner] > NEAR_WALL * ls->grid.cell) return false;
    int ijk[3];
    double from[3], to[3];
    ty_grid_coords(&ls->grid, corner, ijk);
    ty_grid_cell_center(&ls->grid, ijk[0], ijk[1], ijk[2], to);
    ty_particle_place(p, i, from);
    return !ls->closed[corner] && !ty_levelset_in_sight(ls, ty_load3(from), ty_load3(to));
}

enum corner_stage { BEGIN, PULL, END };

// phi+ is in `next`, phi- in `spare`. The first and the last stage may come to a corner several
// times.
static void at_corner(ty_particle* p, enum corner_stage stage, int64_t i, int64_t c, int dx, int dy,
                      int dz)
{
    double *phi = &p->ls->phi[c], *up = &p->ls->next[c], *down = &p->ls->spare[c];
    if (stage == BEGIN) *up = *down = *phi;
    if (stage == END) *phi = fabs(*up) <= fabs(*down) ? *up : *down;
    if (stage != PULL) return;
    if (is_hidden(p, i, c)) return;
    double says = sphere(p, i, dx, dy, dz);
    if (p->now.radius.at[i] > 0.0f) *up = ty_max(*up, says);
    else *down = ty_min(*down, says);
}

// The escaped particles of the cells above and below a plane of values.
static void over_plane(ty_particle* p, int plane, enum corner_stage stage)
{
    const ty_grid* g = &p->ls->grid;
    for (int dz = 0; dz < 2 && dz <= plane; ++dz) {
        const int* list = p->order.at + p->plane.at[plane - dz];
        for (int k = 0; k < p->count.at[plane - dz]; ++k) {
            if (p->now.radius.at[list[k]] == 0.0f) continue;
            int64_t corner = p->now.cell.at[list[k]] + dz * ty_grid_stride(g, 2);
            for (int q = 0; q < 4; ++q)
                at_corner(p, stage, list[k], corner + (q & 1) + (q >> 1) * ty_grid_stride(g, 1),
                          q & 1, q >> 1, dz);
        }
    }
}

static void correct_planes(void* ctx, ty_range r)
{
    for (int64_t plane = r.begin; plane < r.end; ++plane)
        for (enum corner_stage stage = BEGIN; stage <= END; ++stage)
            over_plane(ctx, (int)plane, stage);
}

ty_status ty_particle_find(ty_particle* p)
{
    int64_t n = ty_swarm_count(&p->now);
    int planes = p->ls->grid.n[2];
    if (!ty_array_resize(&p->value, n) || !ty_array_resize(&p->order, n) ||
        !ty_array_resize(&p->count, planes))
        return ty_no_memory("particles");
    ty_parallel_for(planes, 1, find_escaped, p);
    return ty_ok();
}

void ty_particle_correct(ty_particle* p)
{
    int planes = p->ls->grid.n[2];
    int64_t escaped = 0;
    for (int k = 0; k < planes; ++k) escaped += p->count.at[k];
    if (escaped == 0) return;
    ty_parallel_for(planes, 1, correct_planes, p);
    ty_levelset_continue(p->ls, p->ls->phi);
}

// The radius of a particle that is not escaped; 0 far from the surface.
static inline float radius_at(float sign, float value)
{
    float size = sign * value, near = size > KEEP_BAND ? 0.0f : sign;    // no branches
    return near * ty_particle_radius(size);
}

void ty_particle_radii(ty_particle* p, int64_t begin, int64_t end)
{
    const float* restrict value = p->value.at;
    float* restrict radius = p->now.radius.at;
    for (int64_t i = begin; i < end; ++i) {
        float was = radius[i], next = radius_at(copysignf(1.0f, was), value[i]);
        next = ty_particle_escaped(was, value[i]) ? was : next;
        radius[i] = was == 0.0f ? was : next;
    }
}

static void renew_block(void* ctx, ty_range r)
{
    ty_particle* p = ctx;
    const float* restrict value = p->value.at;
    float* restrict radius = p->now.radius.at;
    ty_particle_measure(p, r.begin, r.end, p->value.at);
    for (int64_t i = r.begin; i < r.end; ++i) {
        float was = radius[i], sign = copysignf(1.0f, was), next = radius_at(sign, value[i]);
        next = ty_particle_escaped(sign * ty_particle_radius(0.0f), value[i]) ? 0.0f : next;
        radius[i] = was == 0.0f ? 0.0f : next;
    }
}

void ty_particle_renew(ty_particle* p)
{
    p->measured = ty_swarm_count(&p->now);
    ty_parallel_for(p->measured, BLOCK, renew_block, p);
}
