// SPDX-License-Identifier: Apache-2.0
// The invariants of an octree, checked octant by octant without the sets' tricks.
#include <string.h>

#include "space/octree.h"
#include "space/octree_rules.h"

typedef struct check {
    const ty_octree* t;
    ty_octree_cursor c;
    ty_lattice_cursor split[TY_OCTREE_MAX_LEVELS];
} check;

static bool has(check* k, int l, int x, int y, int z)
{
    return ty_lattice_has(&k->t->level[l].octants, &k->c.level[l], x, y, z);
}

static ty_status wrong(const char* what, int l, const int x[3])
{
    return ty_fail(TY_DAMAGED, "octree: %s at octant (%d, %d, %d) of level %d", what, x[0], x[1],
                   x[2], l);
}

// Leaves across faces and edges are at most one level coarser; there are no gaps in the tree's
// inside.
static ty_status check_balance(check* k, int l, const int x[3])
{
    for (int d = 0; d < 27; ++d) {
        int n[3] = {x[0] + d % 3 - 1, x[1] + d / 3 % 3 - 1, x[2] + d / 9 - 1};
        if ((d % 3 != 1) + (d / 3 % 3 != 1) + (d / 9 != 1) == 3) continue;
        if (has(k, l, n[0], n[1], n[2])) continue;
        for (int up = 2; l + up < k->t->n_levels; ++up)
            if (!has(k, l + 1, n[0] >> 1, n[1] >> 1, n[2] >> 1) &&
                has(k, l + up, n[0] >> up, n[1] >> up, n[2] >> up))
                return wrong("not balanced", l, x);
    }
    return ty_ok();
}

static ty_status check_family(check* k, int l, const int x[3], bool is_split)
{
    const ty_octree* t = k->t;
    if (l + 1 < t->n_levels) {
        int up[3] = {x[0] >> 1, x[1] >> 1, x[2] >> 1};
        if (!ty_octree_is_split(t, &k->split[l + 1], l + 1, up))
            return wrong("parent is not split", l, x);
    }
    for (int v = 0; l > 0 && v < 8; ++v)
        if (has(k, l - 1, 2 * x[0] + (v & 1), 2 * x[1] + (v >> 1 & 1), 2 * x[2] + (v >> 2)) !=
            is_split)
            return wrong("children do not fit", l, x);
    return ty_ok();
}

static ty_status check_corners(check* k, int l, int id, const int x[3])
{
    const ty_octree* t = k->t;
    for (int v = 0; v < 8; ++v) {
        int at[3];
        for (int axis = 0; axis < 3; ++axis) at[axis] = (x[axis] + (v >> axis & 1)) * (1 << l);
        int corner = ty_lattice_id(&t->corners, &k->c.corner, at[0], at[1], at[2]);
        if (corner < 0 || corner != ty_octree_corner(t, id, v)) return wrong("wrong corner", l, x);
        if (isnan(t->corner_value.at[corner])) return wrong("corner without a value", l, x);
    }
    return ty_ok();
}

static ty_status require_box(check* k, const int lo[3], const int hi[3])
{
    for (int z = lo[2]; z <= hi[2]; ++z)
        for (int y = lo[1]; y <= hi[1]; ++y)
            for (int x = lo[0]; x <= hi[0]; ++x)
                if (!has(k, 0, x, y, z))
                    return wrong("a vertex near the surface misses a finest octant", 0, lo);
    return ty_ok();
}

static ty_status require_corner_star(check* k, const int x[3], int v)
{
    int lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
        hi[axis] = x[axis] + (v >> axis & 1);
        lo[axis] = hi[axis] - 1;
    }
    return require_box(k, lo, hi);
}

static ty_status require_centre_star(check* k, const int x[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        int lo[3] = {x[0], x[1], x[2]}, hi[3] = {x[0], x[1], x[2]};
        --lo[axis];
        ++hi[axis];
        TY_TRY(require_box(k, lo, hi));
    }
    return ty_ok();
}

static bool apart(double f, double g) { return ty_sign(f) != ty_sign(g) || ty_sign(f) == 0; }

static ty_status check_stuff_rule(check* k, int id, const int x[3])
{
    const ty_octree* t = k->t;
    int corner[8];
    ty_octree_corners_of(t, id, corner);
    double centre = t->level[0].value.at[id], f[8];
    for (int v = 0; v < 8; ++v) f[v] = t->corner_value.at[corner[v]];
    for (int v = 0; v < 8; ++v) {
        bool active = apart(centre, f[v]);
        if (active) TY_TRY(require_centre_star(k, x));
        for (int axis = 0; axis < 3; ++axis) active |= apart(f[v], f[v ^ 1 << axis]);
        if (active) TY_TRY(require_corner_star(k, x, v));
    }
    for (int axis = 0; axis < 3; ++axis) {
        int n[3] = {x[0], x[1], x[2]};
        ++n[axis];
        int other = ty_lattice_id(&t->level[0].octants, &k->c.level[0], n[0], n[1], n[2]);
        if (other < 0 || !apart(centre, t->level[0].value.at[other])) continue;
        TY_TRY(require_centre_star(k, x));
        TY_TRY(require_centre_star(k, n));
    }
    return ty_ok();
}

static ty_status check_contour_rule(check* k, int id, const int x[3])
{
    const ty_octree* t = k->t;
    int corner[8];
    ty_octree_corners_of(t, id, corner);
    for (int v = 0; v < 8; ++v)
        for (int axis = 0; axis < 3; ++axis) {
            int other = v ^ 1 << axis;
            if ((t->corner_value.at[corner[v]] < 0.0) == (t->corner_value.at[corner[other]] < 0.0))
                continue;
            int lo[3], hi[3];    // the four octants around the edge
            for (int a = 0; a < 3; ++a) {
                hi[a] = x[a] + (a != axis ? v >> a & 1 : 0);
                lo[a] = a != axis ? hi[a] - 1 : hi[a];
            }
            TY_TRY(require_box(k, lo, hi));
        }
    return ty_ok();
}

static ty_status check_octant(check* k, ty_octree_rule rule, int l, int i, const int x[3])
{
    const ty_octree* t = k->t;
    int id = t->level[l].first + i;
    bool is_split = ty_octree_is_split(t, &k->split[l], l, x);
    TY_TRY(check_family(k, l, x, is_split));
    if (is_split) return ty_ok();
    TY_TRY(check_balance(k, l, x));
    TY_TRY(check_corners(k, l, id, x));
    if (l > 0 && !ty_octree_leaf_is_pure(t, &k->c.corner, l, id, x))
        return wrong("coarse leaf at the surface", l, x);
    if (l > 0) return ty_ok();
    return rule == TY_OCTREE_STUFF ? check_stuff_rule(k, id, x) : check_contour_rule(k, id, x);
}

ty_status ty_octree_validate(const ty_octree* t, ty_octree_rule rule)
{
    check k = {.t = t, .c = ty_octree_cursor_start()};
    memcpy(k.split, k.c.level, sizeof k.split);
    for (int l = 0; l < t->n_levels; ++l)
        for (int i = 0; i < t->level[l].octants.n; ++i) {
            int x[1][3];
            ty_lattice_set_points(&t->level[l].octants, i, i + 1, x);
            TY_TRY(check_octant(&k, rule, l, i, x[0]));
        }
    return ty_ok();
}
