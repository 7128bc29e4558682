// SPDX-License-Identifier: Apache-2.0
#include "track/particle/particle.h"

#include <math.h>

#include "core/parallel.h"
#include "track/kinds.h"
#include "track/tank.h"

static const ty_tracker_kind* kind = &ty_tracker_particle;
static const double CELL = 0.05;

static void uniform(const void* self, int n, const double (*x)[3], double* out)
{
    (void)x;
    for (int i = 0; i < n; ++i) memcpy(out + 3 * i, self, 3 * sizeof *out);
}

static ty_flow flow_of(const double v[3])
{
    return (ty_flow){.velocity = {.self = v, .width = 3, .eval = uniform},
                     .cell = CELL,
                     .max_speed = ty_norm(ty_load3(v)),
                     .dt_limit = INFINITY};
}

static const double still[3] = {0, 0, 0};

static ty_particle* start(const tank* t, bool one_sided)
{
    void* self;
    ty_track_def def = ty_track_default();
    def.cell = CELL;
    def.one_sided = one_sided;
    assert_ok(kind->create(&self, &def, t->world));
    return self;
}

static void one_ball(tank* t)
{
    tank_begin(t, 1.0, 1.0, 1.0);
    tank_liquid(t, ball(0.5, 0.5, 0.5, 0.3));
    tank_open(t, CELL);
}

static double volume(const ty_particle* p) { return ty_tri_mesh_volume(kind->liquid(p).surface); }

// Steps in liquid that does not move.
static void rest(ty_particle* p, const tank* t, int steps)
{
    ty_flow flow = flow_of(still);
    for (int k = 0; k < steps; ++k) assert_ok(kind->advance(p, &flow, t->world, 0.0, 0.01));
}

static void particles_are_on_their_side_with_their_radius(void** state)
{
    (void)state;
    tank t;
    one_ball(&t);
    for (int one_sided = 0; one_sided < 2; ++one_sided) {
        ty_particle* p = start(&t, one_sided);
        int64_t n[2] = {0, 0};
        for (int64_t i = 0; i < ty_swarm_count(&p->now); ++i) {
            double x[3], r = p->now.radius.at[i];
            if (r == 0.0) continue;
            ty_particle_place(p, i, x);
            double exact = (ty_norm(ty_load3(x) - ty_vec(0.5, 0.5, 0.5)) - 0.3) / CELL;
            assert_true(fabs(exact) < 2.0);
            assert_true(exact * r > 0.0 ||
                        fabs(exact) < 0.1);    // trilinear: 0.02 cells on this ball
            assert_near(fabs(r), ty_clamp(fabs(exact), 0.1, 0.5), 0.05);
            ++n[r > 0.0];
        }
        double cells = 4.0 * M_PI * 0.3 * 0.3 / (CELL * CELL);    // of a layer of one cell
        assert_near((double)n[0] / (32.0 * cells), 1.0, 0.25);
        if (one_sided) assert_int_equal(n[1], 0);
        else assert_near((double)n[1] / (double)n[0], 1.0, 0.3);
        kind->destroy(p);
    }
    tank_close(&t);
}

// Makes the level set wrong behind the particles' back.
static double damaged_by(ty_particle* p, const tank* t, double cells)
{
    for (int64_t c = 0; c < ty_grid_size(&p->ls->grid); ++c) p->ls->phi[c] += cells * CELL;
    rest(p, t, 1);
    return volume(p);
}

// A step takes back about a quarter of an error of a fifth of a cell: spheres of half a cell at
// most reach few corners.
static void escaped_particles_restore_the_surface(void** state)
{
    (void)state;
    tank t;
    one_ball(&t);
    double layer = 0.2 * CELL * 4.0 * M_PI * 0.3 * 0.3;
    for (int side = -1; side <= 1; side += 2) {
        ty_particle* p = start(&t, false);
        double before = volume(p), left = fabs(damaged_by(p, &t, 0.2 * side) - before) / layer;
        assert_true(left > 0.5 && left < 0.85);
        kind->destroy(p);
    }
    // Those of one side cannot see that the liquid has grown.
    ty_particle* p = start(&t, true);
    double before = volume(p);
    assert_true(damaged_by(p, &t, -0.2) > before + 0.9 * layer);
    kind->destroy(p);
    tank_close(&t);
}

static void still_liquid_keeps_every_bit(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1.0, 1.0, 1.0);
    tank_liquid(&t, block(0, 0, 0, 1, 0.437, 1));
    tank_obstacle(&t, ball(0.5, 0.4, 0.5, 0.2));
    tank_open(&t, CELL);
    ty_particle* p = start(&t, false);
    size_t bytes = (size_t)ty_grid_size(&p->ls->grid) * sizeof(double);
    double* before = ty_alloc(1, bytes);
    memcpy(before, p->ls->phi, bytes);
    rest(p, &t, 5);
    assert_memory_equal(before, p->ls->phi, bytes);
    ty_free(before);
    kind->destroy(p);
    tank_close(&t);
}

static void offsets_and_edits_are_not_undone(void** state)
{
    (void)state;
    tank t, other;
    one_ball(&t);
    ty_particle* p = start(&t, false);
    double metres[1] = {0.4 * CELL};
    assert_ok(kind->offset(p, metres));
    double grown = volume(p);
    rest(p, &t, 3);
    assert_near(volume(p), grown, 1e-3 * grown);
    tank_begin(&other, 1.0, 1.0, 1.0);
    tank_liquid(&other, block(0, 0, 0, 0.5, 1, 1));
    tank_open(&other, CELL);
    for (int add = 0; add < 2; ++add) {
        ty_edit e = {.add = add, .region = ty_world_liquid(other.world)};
        double changed;
        assert_ok(kind->edit(p, 1, &e, &changed));
        double then = volume(p);
        rest(p, &t, 3);
        assert_near(volume(p), then, 2e-3 * grown);
    }
    kind->destroy(p);
    tank_close(&other);
    tank_close(&t);
}

static void particles_keep_out_of_solids(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1.0, 1.0, 1.0);
    tank_liquid(&t, ball(0.3, 0.5, 0.5, 0.2));
    tank_obstacle(&t, ball(0.7, 0.5, 0.5, 0.15));
    tank_open(&t, CELL);
    ty_particle* p = start(&t, false);
    const double right[3] = {1, 0, 0};
    ty_flow flow = flow_of(right);
    int64_t near = 0;
    for (int k = 0; k < 6; ++k) assert_ok(kind->advance(p, &flow, t.world, 0.05 * k, 0.05));
    for (int64_t i = 0; i < ty_swarm_count(&p->now); ++i) {
        double x[3];
        if (p->now.radius.at[i] == 0.0f) continue;
        ty_particle_place(p, i, x);
        double d = ty_norm(ty_load3(x) - ty_vec(0.7, 0.5, 0.5)) - 0.15;
        assert_true(
            d >
            -0.1 *
                CELL);    // the solid's distance is interpolated: h^2 / 8 times the curvatures' sum
        for (int axis = 0; axis < 3; ++axis) assert_true(x[axis] > -1e-6 && x[axis] < 1.0 + 1e-6);
        near += d < 0.01 * CELL;
    }
    assert_true(near > 10);    // some did come to it
    kind->destroy(p);
    tank_close(&t);
}

static void all_leave_through_an_open_side(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1.0, 1.0, 1.0);
    t.def.wall[TY_RIGHT].closed = false;
    tank_liquid(&t, ball(0.5, 0.5, 0.5, 0.2));
    tank_open(&t, CELL);
    ty_particle* p = start(&t, false);
    const double right[3] = {1, 0, 0};
    ty_flow flow = flow_of(right);
    for (int k = 0; k < 16; ++k) assert_ok(kind->advance(p, &flow, t.world, 0.05 * k, 0.05));
    assert_int_equal(kind->liquid(p).surface->n_tris, 0);
    assert_int_equal(ty_swarm_count(&p->now), 0);
    assert_int_equal(p->drop.n, 0);
    kind->destroy(p);
    tank_close(&t);
}

static void a_full_tank_has_no_particles(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1.0, 1.0, 1.0);
    tank_liquid(&t, block(-1, -1, -1, 2, 2, 2));
    tank_open(&t, CELL);
    ty_particle* p = start(&t, false);
    assert_int_equal(ty_swarm_count(&p->now), 0);
    rest(p, &t, 2);
    ty_vec3 middle = ty_vec(0.5, 0.5, 0.5);
    double x[1][3], phi;
    ty_store3(x[0], middle);
    ty_sampler distance = kind->liquid(p).distance;
    ty_sample(&distance, 1, (const double(*)[3])x, &phi);
    assert_true(phi < 0.0);
    kind->destroy(p);
    tank_close(&t);
}

// A particle put high above a pool becomes a drop, falls as a stone does, and is a particle again
// in the pool.
static void lone_liquid_falls_back(void** state)
{
    (void)state;
    tank t;
    tank_begin(&t, 1.0, 1.0, 1.0);
    tank_liquid(&t, block(0, 0, 0, 1, 0.3, 1));
    tank_open(&t, CELL);
    ty_particle* p = start(&t, false);
    const double at[3] = {0.5, 0.8, 0.5};
    int64_t n = ty_swarm_count(&p->now);
    assert_ok(ty_swarm_resize(&p->now, n + 1));
    p->now.radius.at[n] = -0.2f;
    assert_true(ty_particle_put(p, n, at));
    rest(p, &t, 1);
    assert_int_equal(p->drop.n, 1);
    rest(p, &t, 10);
    assert_int_equal(p->drop.n, 1);
    assert_near(p->drop.at[0].x[1], 0.8 - 0.5 * 9.81 * 0.1 * 0.1, 1e-6);
    ty_tri_mesh points = {0};
    assert_ok(kind->particles(p, &points));
    double highest = ty_tri_mesh_bounds(&points).hi[1];
    assert_near(highest, p->drop.at[0].x[1], 1e-12);
    ty_tri_mesh_free(&points);
    rest(p, &t, 30);
    assert_int_equal(p->drop.n, 0);
    kind->destroy(p);
    tank_close(&t);
}

// Stretching: cells that the surface comes to are filled, those it left are emptied.
static void cells_are_refilled(void** state)
{
    (void)state;
    tank t;
    one_ball(&t);
    ty_particle* p = start(&t, false);
    for (int64_t i = 0; i < ty_swarm_count(&p->now); ++i)
        if (p->now.cell.at[i] % p->ls->grid.n[0] < p->ls->grid.n[0] / 2) p->now.radius.at[i] = 0.0f;
    int64_t all = ty_swarm_count(&p->now);
    rest(p, &t, 1);
    assert_near((double)ty_swarm_count(&p->now) / (double)all, 1.0, 0.02);
    rest(p, &t, 1);    // new ones at other places, not once more the same
    assert_near((double)ty_swarm_count(&p->now) / (double)all, 1.0, 0.02);
    kind->destroy(p);
    tank_close(&t);
}

static void sorting_keeps_all(void** state)
{
    (void)state;
    tank t;
    one_ball(&t);
    ty_particle* p = start(&t, false);
    const double v[3] = {1, 0.5, -0.3};
    ty_flow flow = flow_of(v);
    int64_t n = 0;
    assert_int_equal(ty_particle_ways(p, &flow, 0.05).code, TY_OK);
    ty_particle_move(p, 0.05);
    double sum[2] = {0, 0};
    for (int64_t i = 0; i < ty_swarm_count(&p->now); ++i) {
        n += p->now.radius.at[i] != 0.0f;
        sum[0] += (double)p->now.radius.at[i];
    }
    assert_ok(ty_particle_sort(p));
    assert_int_equal(ty_swarm_count(&p->now), n);
    for (int64_t i = 0; i < n; ++i) {
        sum[1] += (double)p->now.radius.at[i];
        if (i > 0) assert_true(p->now.cell.at[i] >= p->now.cell.at[i - 1]);
        if (i == 0 || p->now.cell.at[i] != p->now.cell.at[i - 1])
            assert_int_equal(p->first.at[p->now.cell.at[i]], i);
    }
    assert_near(sum[0], sum[1], 1e-9);
    kind->destroy(p);
    tank_close(&t);
}

// Where the first particles of all cells are dropped, the others still know where to go.
static void those_behind_dropped_ones_move(void** state)
{
    (void)state;
    tank t;
    one_ball(&t);
    ty_particle* p = start(&t, false);
    const double v[3] = {0.2, 0.1, -0.3}, dt = 0.05;
    ty_flow flow = flow_of(v);
    assert_ok(ty_particle_sort(p));
    assert_ok(ty_particle_ways(p, &flow, dt));
    for (int64_t i = 0; i < p->way.n; ++i) p->way.at[i] = 1e3f;    // none is there of before
    int64_t n = ty_swarm_count(&p->now), moved = 0;
    for (int64_t i = 0; i < n; ++i)
        if (i == 0 || p->now.cell.at[i] != p->now.cell.at[i - 1]) p->now.radius.at[i] = 0.0f;
    double(*x)[3] = ty_alloc((size_t)n, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; ++i) ty_particle_place(p, i, x[i]);
    assert_ok(ty_particle_ways(p, &flow, dt));
    ty_particle_move(p, dt);
    for (int64_t i = 0; i < n; ++i) {
        double to[3];
        if (p->now.radius.at[i] == 0.0f) continue;
        ty_particle_place(p, i, to);
        for (int axis = 0; axis < 3; ++axis)
            assert_near(to[axis] - x[i][axis], dt * v[axis], 1e-6 * CELL);
        ++moved;
    }
    assert_true(moved > n / 2);
    ty_free(x);
    kind->destroy(p);
    tank_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_are_on_their_side_with_their_radius),
        cmocka_unit_test(escaped_particles_restore_the_surface),
        cmocka_unit_test(still_liquid_keeps_every_bit),
        cmocka_unit_test(offsets_and_edits_are_not_undone),
        cmocka_unit_test(particles_keep_out_of_solids),
        cmocka_unit_test(all_leave_through_an_open_side),
        cmocka_unit_test(a_full_tank_has_no_particles),
        cmocka_unit_test(lone_liquid_falls_back),
        cmocka_unit_test(cells_are_refilled),
        cmocka_unit_test(sorting_keeps_all),
        cmocka_unit_test(those_behind_dropped_ones_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
