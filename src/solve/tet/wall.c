// SPDX-License-Identifier: Apache-2.0
// Solids as tets and faces see them: one open part per face for both its tets, so that the open
// parts of all tets and their walls close. Then int grad q over the open part = sum of int q n over
// its faces and its wall.
#include <string.h>

#include "solve/tet/cut_tet.h"
#include "solve/tet/projector.h"

// Relative difference of shares that makes a wall bent.
static const double FLAT = 1e-9;

static void distances(const ty_tet_state* s, int tet, double d[4])
{
    for (int i = 0; i < 4; ++i) d[i] = s->solid.at[s->mesh.tet[tet][i]];
}

// A face of a dropped tet is closed, any other face of a whole one open; between cut tets distances
// tell.
typedef enum face_rule { CLOSED, OPEN, BY_DISTANCE } face_rule;

static face_rule rule_of(const ty_tet_state* s, int face)
{
    const int* side = s->mesh.face_tet[face];
    double a = s->open.at[side[0]], b = side[1] < 0 ? a : s->open.at[side[1]];
    if (a == 0.0 || b == 0.0) return CLOSED;
    return side[1] >= 0 && (a == 1.0 || b == 1.0) ? OPEN : BY_DISTANCE;
}

double ty_tet_face_open(const ty_tet_state* s, int tet, int i)
{
    double d[4];
    distances(s, tet, d);
    const double on[3] = {d[(i + 1) % 4], d[(i + 2) % 4], d[(i + 3) % 4]};
    face_rule rule = rule_of(s, s->mesh.tet_face[tet][i]);
    return rule == CLOSED ? 0.0 : rule == OPEN ? 1.0 : ty_triangle_open_share(on);
}

// Whether tet and faces are as open as a plane through the distances makes them.
static bool is_flat(const ty_tet_state* s, int tet, const double d[4])
{
    if (fabs(ty_tet_open_share(d) - s->open.at[tet]) > FLAT * s->open.at[tet]) return false;
    for (int i = 0; i < 4; ++i) {
        const double on[3] = {d[(i + 1) % 4], d[(i + 2) % 4], d[(i + 3) % 4]};
        if (fabs(ty_triangle_open_share(on) - ty_tet_face_open(s, tet, i)) > FLAT) return false;
    }
    return true;
}

static void bent_wall(const ty_tet_state* s, int tet, const double d[4], ty_vec3 velocity,
                      double at[4])
{
    ty_tet_geometry g = ty_tet_mesh_geometry(&s->mesh, tet);
    for (int j = 0; j < 4; ++j) at[j] = -s->open.at[tet] * ty_dot(ty_load3(g.S[j]), velocity) / 3.0;
    for (int i = 0; i < 4; ++i) {
        face_rule rule = rule_of(s, s->mesh.tet_face[tet][i]);
        double on[3] = {d[(i + 1) % 4], d[(i + 2) % 4], d[(i + 3) % 4]},
               moment[3] = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
        if (rule == CLOSED) continue;
        if (rule == BY_DISTANCE) ty_triangle_open_moments(on, moment);
        double out = ty_dot(ty_load3(g.S[i]), velocity);
        for (int k = 0; k < 3; ++k) at[(i + 1 + k) % 4] -= out * moment[k];
    }
}

double ty_tet_wall_flux(const ty_tet_state* s, int tet, double at[4])
{
    ty_vec3 velocity = ty_tet_solid_velocity(s, tet), x[4];
    memset(at, 0, 4 * sizeof(double));
    if (ty_dot(velocity, velocity) == 0.0 || s->open.at[tet] == 0.0) return 0.0;
    double d[4];
    distances(s, tet, d);
    // The flat formula loses no digits in slivers.
    if (!is_flat(s, tet, d)) bent_wall(s, tet, d, velocity, at);
    else {
        for (int i = 0; i < 4; ++i) x[i] = ty_load3(s->mesh.vert[s->mesh.tet[tet][i]]);
        ty_wall_part wall = ty_tet_wall_part(d, x);
        for (int i = 0; i < 4; ++i) at[i] = wall.centre[i] * ty_dot(wall.area, velocity);
    }
    return at[0] + at[1] + at[2] + at[3];
}
