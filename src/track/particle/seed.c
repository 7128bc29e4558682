// SPDX-License-Identifier: Apache-2.0
// Where particles come from and where they go. A cell whose middle is within BAND of the surface is
// filled up to particles_per_cell as soon as it has less than a LOW share of that; one that has
// more than a HIGH share loses those that say least about the surface (the largest distance less
// radius, [Enright2002] section 3.4). Escaped ones are never dropped. Places are hash(cell, step,
// number); the side is the level set's.
//
// Departs: places are even in the cell, not attracted to a band that starts 0.1 cells from the
// surface: the nearest particles see the smallest errors (slotted sphere, 100 cells, CFL 1:
// symmetric difference 1.5 instead of 2.6 %).
#include <math.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "track/particle/particle.h"

enum { TRIES = 4, ALL = -1 };
// Cells; 2 and 3 gave the same in the deformation test, for twice the time
static const double BAND = 1.0;
static const double LOW = 0.25, HIGH = 2.0;    // shares of particles_per_cell
static const double CORNER = 0.87;             // cells from a cell's middle to its corners

static bool wants_particles(const ty_particle* p, int64_t cell)
{
    const ty_levelset* ls = p->ls;
    const double* v = ls->phi + cell;
    double h = ls->grid.cell, sum = 0.0;
    if (fabs(v[0]) > (BAND + CORNER) * h) return false;
    bool open = false;
    for (int k = 0; k < 8; ++k) {
        int64_t at = (k & 1) + (k >> 1 & 1) * ty_grid_stride(&ls->grid, 1) +
                     (k >> 2) * ty_grid_stride(&ls->grid, 2);
        open |= !ls->closed[cell + at];
        sum += v[at];
    }
    double middle = sum / 8.0;
    return open && fabs(middle) < BAND * h && !(p->ls->def.one_sided && middle > 0.0);
}

// The particles of a cell; *n is how many. Needs the order.
static int64_t particles_of(const ty_particle* p, int plane, int64_t cell, int* n)
{
    int64_t width = (int64_t)p->ls->grid.n[0] * p->ls->grid.n[1], end = p->plane.at[plane + 1];
    *n = 0;
    if (p->plane.at[plane] == end) return end;
    int64_t first = p->first.at[cell];
    *n = (int)((cell + 1 < (plane + 1) * width ? p->first.at[cell + 1] : end) - first);
    return first;
}

// Drops the one that says least, of those that are not escaped.
static bool drop_one(ty_particle* p, int64_t first, int n)
{
    float most = -INFINITY;
    int64_t worst = ALL;
    for (int64_t i = first; i < first + n; ++i) {
        float radius = p->now.radius.at[i], value = p->value.at[i];
        if (radius == 0.0f || ty_particle_escaped(radius, value)) continue;
        float spare = radius > 0.0f ? value - radius : radius - value;
        if (spare > most) most = spare, worst = i;
    }
    if (worst != ALL) p->now.radius.at[worst] = 0.0f;
    return worst != ALL;
}

// How many a plane's cells want; the surplus of the others is dropped.
static void count_plane(void* ctx, ty_range r)
{
    ty_particle* p = ctx;
    const ty_grid* g = &p->ls->grid;
    int plane = (int)r.begin, target = p->ls->def.particles_per_cell, wanted = 0;
    for (int j = 0; j < g->n[1] - 1; ++j)
        for (int i = 0; i < g->n[0] - 1; ++i) {
            int64_t cell = ty_grid_index(g, i, j, plane);
            int n;
            int64_t first = particles_of(p, plane, cell, &n);
            if (n < LOW * target && wants_particles(p, cell)) wanted += target - n;
            for (int left = n; left > HIGH * target; --left)
                if (!drop_one(p, first, n)) break;
        }
    p->count.at[plane] = wanted;
}

static bool in_solid(const ty_levelset* ls, const double x[3])
{
    double d = INFINITY;
    for (int axis = 0; axis < 3; ++axis)
        if (x[axis] < ls->lo[axis] || x[axis] > ls->hi[axis]) return true;
    if (ls->solid) ty_grid_linear(&ls->grid, ls->solid, 1, (const double(*)[3])x, &d);
    return d < 0.0;
}

// A random place of a cell that has a side. Radius 0 where none was found.
static void place_particle(ty_particle* p, int64_t at, const int ijk[3], int number)
{
    const ty_levelset* ls = p->ls;
    const ty_grid* g = &ls->grid;
    int64_t cell = ty_grid_index(g, ijk[0], ijk[1], ijk[2]);
    uint64_t seed = ty_mix2(ty_mix2((uint64_t)cell, (uint64_t)p->step), (uint64_t)number);
    p->now.cell.at[at] = (int)cell;
    p->now.radius.at[at] = 0.0f;
    for (int try = 0; try < TRIES; ++try) {
        double x[1][3], phi;
        for (int axis = 0; axis < 3; ++axis) {
            float place = (float)ty_unit(ty_mix2(seed, (uint64_t)(3 * try + axis)));
            p->now.place[axis].at[at] = place;
            x[0][axis] = g->origin[axis] + g->cell * (ijk[axis] + 0.5 + (double)place);
        }
        if (in_solid(ls, x[0])) continue;
        ty_grid_linear(g, ls->phi, 1, (const double(*)[3])x, &phi);
        float value = (float)(phi / g->cell), size = fabsf(value);
        if (ls->def.one_sided && value > 0.0f) continue;
        p->now.radius.at[at] = value > 0.0f ? ty_particle_radius(size) : -ty_particle_radius(size);
        return;
    }
}

static void fill_plane(void* ctx, ty_range r)
{
    ty_particle* p = ctx;
    const ty_grid* g = &p->ls->grid;
    int ijk[3] = {0, 0, (int)r.begin}, target = p->ls->def.particles_per_cell;
    if (p->count.at[ijk[2]] == 0) return;
    int64_t to = p->begin.at[ijk[2]];
    for (ijk[1] = 0; ijk[1] < g->n[1] - 1; ++ijk[1])
        for (ijk[0] = 0; ijk[0] < g->n[0] - 1; ++ijk[0]) {
            int64_t cell = ty_grid_index(g, ijk[0], ijk[1], ijk[2]);
            int n;
            particles_of(p, ijk[2], cell, &n);
            if (!(n < LOW * target) || !wants_particles(p, cell)) continue;
            for (int k = n; k < target; ++k) place_particle(p, to++, ijk, k);
        }
}

ty_status ty_particle_seed(ty_particle* p)
{
    int planes = p->ls->grid.n[2];
    if (!ty_array_resize(&p->count, planes) || !ty_array_resize(&p->begin, planes))
        return ty_no_memory("particles");
    p->count.at[planes - 1] = 0;
    ty_parallel_for(planes - 1, 1, count_plane, p);
    int64_t old = ty_swarm_count(&p->now), wanted = ty_prefix_sum(planes, p->count.at, p->begin.at);
    for (int k = 0; k < planes; ++k) p->begin.at[k] += old;
    if (wanted == 0) return ty_ok();
    if (old + wanted > INT32_MAX)
        return ty_fail(TY_BAD_INPUT, "more than 2^31 particles; choose fewer per cell");
    TY_TRY(ty_swarm_resize(&p->now, old + wanted));
    ty_parallel_for(planes - 1, 1, fill_plane, p);
    return ty_ok();
}
