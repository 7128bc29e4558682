// SPDX-License-Identifier: Apache-2.0
// A ball of lattice tetrahedra. In the body-centred cubic lattice every square between two
// neighbouring cubes carries four tets: both cube centres and one edge of the square.
#include <math.h>
#include <string.h>

#include "core/hash.h"
#include "core/memory.h"
#include "linear/model_problems.h"

typedef struct lattice {
    int cubes;         // per side
    int* corner_id;    // (cubes + 1)^3, -1 = unused
    int* centre_id;    // cubes^3
    double radius;
    double jitter;
    TY_ARRAY(double) pos;
    TY_ARRAY(int) tet;
    bool ok;
} lattice;

void ty_model_mesh_free(ty_model_mesh* mesh)
{
    ty_free(mesh->pos);
    ty_free(mesh->tet);
    *mesh = (ty_model_mesh){0};
}

// Twice the coordinates, so that corners are even and centres odd; from the ball's middle.
static double distance_to_middle(const lattice* l, const int twice[3])
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        double x = 0.5 * twice[axis] - 0.5 * l->cubes;
        sum += x * x;
    }
    return sqrt(sum);
}

static int vertex_id(lattice* l, const int twice[3])
{
    int m = twice[0] & 1 ? l->cubes : l->cubes + 1;
    int* ids = twice[0] & 1 ? l->centre_id : l->corner_id;
    int64_t key = ((int64_t)(twice[2] >> 1) * m + (twice[1] >> 1)) * m + (twice[0] >> 1);
    if (ids[key] >= 0) return ids[key];
    ids[key] = (int)(l->pos.n / 3);
    for (int axis = 0; axis < 3; ++axis) {
        double noise = 2.0 * ty_unit(ty_mix2((uint64_t)ids[key], (uint64_t)axis)) - 1.0;
        l->ok = l->ok &&
                ty_array_push(&l->pos, 0.5 * twice[axis] - 0.5 * l->cubes + l->jitter * noise);
    }
    return ids[key];
}

static void add_tet(lattice* l, int twice[4][3])
{
    for (int v = 0; v < 4; ++v)
        if (distance_to_middle(l, twice[v]) > l->radius) return;
    for (int v = 0; v < 4; ++v) {
        int id = vertex_id(l, twice[v]);
        l->ok = l->ok && ty_array_push(&l->tet, id);
    }
}

// The four tets on the cube's upper square in `axis`, positively oriented.
static void add_square(lattice* l, const int cube[3], int axis)
{
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    static const int ring[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int e = 0; e < 4; ++e) {
        int twice[4][3];
        for (int v = 0; v < 4; ++v)
            for (int k = 0; k < 3; ++k) twice[v][k] = 2 * cube[k] + 1;
        twice[1][axis] += 2;
        for (int v = 2; v < 4; ++v) {
            const int* at = ring[(e + v - 2) % 4];
            twice[v][axis] += 1;
            twice[v][b] += at[0];
            twice[v][c] += at[1];
        }
        if (twice[1][axis] < 2 * l->cubes) add_tet(l, twice);
    }
}

static uint32_t every_third_bit(uint32_t x)
{
    uint32_t out = 0;
    for (int bit = 0; bit < 10; ++bit) out |= (x >> (3 * bit) & 1u) << bit;
    return out;
}

static void add_cubes(lattice* l)
{
    uint32_t side = 1;
    while ((int)side < l->cubes) side *= 2;
    for (uint32_t code = 0; code < side * side * side && l->ok; ++code) {
        int cube[3];
        bool inside = true;
        for (int axis = 0; axis < 3; ++axis) {
            cube[axis] = (int)every_third_bit(code >> axis);
            inside = inside && cube[axis] < l->cubes;
        }
        for (int axis = 0; axis < 3 && inside; ++axis) add_square(l, cube, axis);
    }
}

// r -> R (r / R)^g: a tet's size goes like r^(g-1), and r runs from half a cube to R.
static void grade(lattice* l, double grading)
{
    double exponent = log(grading) / log(2.0 * l->radius);
    for (int64_t v = 0; v < l->pos.n; v += 3) {
        double* x = l->pos.at + v;
        double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        double scale = r > 0.0 ? pow(r / l->radius, exponent) : 0.0;
        for (int axis = 0; axis < 3; ++axis) x[axis] *= scale;
    }
}

ty_status ty_model_ball(ty_model_mesh* mesh, int n_tets, double jitter, double grading)
{
    *mesh = (ty_model_mesh){0};
    lattice l = {.jitter = jitter, .ok = true};
    l.radius = cbrt(n_tets / 12.0 / (4.0 / 3.0 * 3.14159265358979)) + 0.55;    // 12 tets per cube
    l.cubes = 2 * (int)ceil(l.radius) + 2;
    size_t corners = (size_t)(l.cubes + 1) * (size_t)(l.cubes + 1) * (size_t)(l.cubes + 1);
    l.corner_id = ty_alloc(corners, sizeof(int));
    l.centre_id = ty_alloc(corners, sizeof(int));
    l.ok = l.corner_id && l.centre_id;
    if (l.ok) {
        memset(l.corner_id, -1, corners * sizeof(int));
        memset(l.centre_id, -1, corners * sizeof(int));
        add_cubes(&l);
    }
    if (grading > 1.0) grade(&l, grading);
    ty_free(l.corner_id);
    ty_free(l.centre_id);
    *mesh = (ty_model_mesh){(int)(l.pos.n / 3), (int)(l.tet.n / 4), (double(*)[3])l.pos.at,
                            (int(*)[4])l.tet.at};
    if (l.ok) return ty_ok();
    ty_model_mesh_free(mesh);
    return ty_no_memory("model mesh");
}
