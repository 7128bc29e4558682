// SPDX-License-Identifier: Apache-2.0
// What moves the surface: rates, blows, balanced continuation; how far it may go in a step.
#include "solve/grid/gridflow.h"

#include <math.h>

#include "solve/grid/rig.h"

static void everywhere(const void* self, int n, const double (*x)[3], double* out)
{
    (void)self, (void)x;
    for (int i = 0; i < n; ++i) out[i] = -1.0;
}

// A stream through two open sides, in steady state: a face on a side that looked beyond it would
// see the stream end.
static void uniform_stream_has_no_rate_at_open_sides(void** unused)
{
    (void)unused;
    rig r = rig_cube(8);
    for (int side = 0; side < TY_N_SIDES; ++side) r.def.wall[side].closed = side / 2 != 0;
    r.def.gravity = ty_varying_vector(0, 0, 0);
    r.def.liquids = ty_alloc(1, sizeof *r.def.liquids);
    r.def.n_liquids = 1;
    r.def.liquids[0] = ty_liquid_default(TY_SHAPE_BOX);
    for (int axis = 0; axis < 3; ++axis)
        r.def.liquids[0].shape.min[axis] = -9.0, r.def.liquids[0].shape.max[axis] = 9.0;
    r.def.liquids[0].velocity = ty_varying_vector(1, 0, 0);
    r.liquid.distance = (ty_sampler){&r, 1, 0.0, everywhere};
    assert_ok(rig_start(&r));
    assert_ok(rig_step(&r, 0.05));
    const ty_gridflow* gf = r.self;
    for (int64_t k = 0; k < gf->face[0].n; ++k) {
        assert_near(gf->u[0][gf->face[0].at[k]], 1.0, 1e-9);
        assert_near(gf->rate[0][gf->face[0].at[k]], 0.0, 1e-6);
    }
    assert_true(gf->face[0].n >= 9 * 8 * 8);    // those on both sides are among them
    rig_end(&r);
}

static const half_space pool = {.normal = {0, 1, 0}, .level = 0.53};

static void blow_is_not_carried_and_a_slow_change_is(void** unused)
{
    (void)unused;
    rig r = rig_cube(8);
    rig_liquid(&r, &pool);
    assert_ok(rig_start(&r));
    assert_ok(rig_step(&r, 0.02));
    ty_gridflow* gf = r.self;
    int slow = gf->face[1].at[0], blow = gf->face[1].at[1];
    ty_room rooms = ty_gridflow_make_room(gf);
    double room = ty_room_at(&rooms, 0.0), before = 4.0, change = 0.5;
    gf->next[1][slow] = gf->next[1][blow] = 0.0;
    gf->rate[1][slow] = gf->rate[1][blow] = before;
    gf->next_acc[1][slow] = before + change;
    gf->next_acc[1][blow] = before - 1000.0 * room;
    ty_gridflow_smooth(gf);
    // The share that lags behind is 0.9 (2 theta - 1).
    double kept = 1.0 - 0.9 * (2.0 * gf->def->theta - 1.0);
    assert_near(gf->next_acc[1][slow], before + kept * change, 1e-12);
    assert_near(gf->next_acc[1][blow], before - kept * (before + room), 1e-9);
    rig_end(&r);
}

// The sum of |net outflow| over air cells beside the surface whose faces are all known.
static double imbalance(const ty_gridflow* gf)
{
    double total = 0.0;
    for (int i = 0; i < gf->cells.count; ++i) {
        int at[3];
        ty_cell_coords(&gf->cells, i, at);
        bool counts = gf->state[i] == TY_CELL_AIR && gf->phi[i] < gf->cells.h;
        for (int axis = 0; axis < 3; ++axis)
            counts = counts && at[axis] >= 1 && at[axis] <= gf->cells.n[axis];
        double net = 0.0;
        for (int axis = 0; axis < 3 && counts; ++axis) {
            int f = i, g = i + gf->cells.stride[axis];
            net += gf->open[axis][g] * gf->next[axis][g] - gf->open[axis][f] * gf->next[axis][f];
        }
        total += fabs(net);
    }
    return total;
}

static void balanced_velocities_are_nearly_free_of_divergence(void** unused)
{
    (void)unused;
    rig r = rig_cube(8);
    rig_liquid(&r, &pool);
    assert_ok(rig_start(&r));
    assert_ok(rig_step(&r, 0.02));
    ty_gridflow* gf = r.self;
    for (int axis = 0; axis < 3; ++axis)
        for (int f = 0; f < gf->cells.count; ++f) {
            gf->next[axis][f] = gf->u[axis][f];
            if (gf->mark[axis][f] > 1)
                gf->next[axis][f] += 20.0 * (ty_unit(ty_mix2((uint64_t)axis, (uint64_t)f)) - 0.5);
        }
    double before = imbalance(gf);
    assert_true(before > 1.0);
    assert_ok(ty_gridflow_balance(gf));
    assert_true(imbalance(gf) < 0.1 * before);
    // The liquid's own faces are not touched.
    for (int axis = 0; axis < 3; ++axis)
        for (int64_t k = 0; k < gf->face[axis].n; ++k)
            assert_true(gf->next[axis][gf->face[axis].at[k]] == gf->u[axis][gf->face[axis].at[k]]);
    rig_end(&r);
}

// The flow in the middle of a step: by what it says of its motion, anywhere; and at the centre and
// the lower faces of the cell around a point, inside the domain and beyond its sides.
static void middle_of_a_step_is_the_same_in_all_answers(void** unused)
{
    (void)unused;
    enum { POINTS = 64 };
    const double dt = 0.02, rounding = 1e-5;    // m/s, of speeds up to 20
    rig r = rig_cube(8);
    rig_liquid(&r, &pool);
    assert_ok(rig_start(&r));
    ty_gridflow* gf = r.self;
    for (int axis = 0; axis < 3; ++axis)
        for (int f = 0; f < gf->cells.count; ++f) {
            uint64_t seed = ty_mix2((uint64_t)axis, (uint64_t)f);
            gf->seen[axis][f] = 20.0 * (ty_unit(seed) - 0.5);
            gf->rate[axis][f] = 200.0 * (ty_unit(ty_mix2(seed, 1)) - 0.5);
        }
    ty_gridflow_lead(gf, dt);
    for (int i = 0; i < POINTS; ++i) {
        double x[1][3], at[4][3], motion[6], middle[12], cell[12], h = gf->cells.h;
        for (int axis = 0; axis < 3; ++axis) {
            x[0][axis] = -0.3 + 1.6 * ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis));
            double low = h * floor((x[0][axis] - gf->cells.origin[axis]) / h);
            for (int k = 0; k < 4; ++k)
                at[k][axis] = gf->cells.origin[axis] + low + (k == 1 + axis ? 0.0 : 0.5 * h);
        }
        ty_gridflow_motion(gf, 1, (const double(*)[3])x, motion);
        ty_gridflow_middle(gf, 1, (const double(*)[3])x, middle);
        for (int axis = 0; axis < 3; ++axis)
            assert_near(middle[axis], motion[axis] + 0.5 * dt * motion[3 + axis], rounding);
        ty_gridflow_middle(gf, 4, (const double(*)[3])at, middle);
        ty_gridflow_middle_center(gf, 1, (const double(*)[3])x, cell);
        ty_gridflow_middle_faces(gf, 1, (const double(*)[3])x, cell + 3);
        for (int k = 0; k < 12; ++k) assert_near(cell[k], middle[k], rounding);
    }
    rig_end(&r);
}

// The speed that a step goes by when the first n cells of the floor move at 4 m/s and all others at 1,
// with this acceleration beside gravity, and these downward velocities around.
static double pace_of(ty_gridflow* gf, int n, double acting, double down)
{
    ty_vec3 g = ty_world_gravity(gf->world);
    for (int axis = 0; axis < 3; ++axis)
        for (int f = 0; f < gf->cells.count; ++f) {
            gf->acc[axis][f] = g[axis] + acting;
            gf->u[axis][f] = axis == 1 ? -down : 0.0;
        }
    assert_true(ty_array_resize(&gf->scratch, gf->wet.n));
    for (int64_t k = 0; k < gf->wet.n; ++k) gf->scratch.at[k] = k < n ? 16.0 : 1.0;
    return ty_gridflow_pace(gf, gf->scratch.at, 4.0);
}

static void step_goes_by_what_does_not_fly(void** unused)
{
    (void)unused;
    rig r = rig_cube(16);
    rig_liquid(&r, &pool);
    assert_ok(rig_start(&r));
    assert_ok(rig_step(&r, 0.01));
    ty_gridflow* gf = r.self;
    int n = (int)gf->wet.n;
    assert_near(gf->def->cfl, 2.0, 0.0);
    assert_in_range(n, 2000, 2300);
    assert_int_equal(gf->layers, 5);
    assert_near(pace_of(gf, 10, 0.0, 0.0), 2.0 * (1.0 + TY_STEP_SLACK),
                0.02);    // velocities end there
    gf->layers = gf->most_layers;
    assert_near(pace_of(gf, 10, 0.0, 0.0), 1.0, 0.02);       // they fly
    assert_near(pace_of(gf, 10, 200.0, 0.0), 4.0, 0.0);      // something acts on them
    assert_near(pace_of(gf, 10, 0.0, 4.0), 4.0, 0.0);        // the floor is in their way
    assert_near(pace_of(gf, n / 50, 0.0, 0.0), 4.0, 0.0);    // too many
    assert_near(pace_of(gf, 2, 200.0, 0.0), 2.0, 0.02);      // spray: twice as far
    rig_end(&r);
}

static void only_closed_tanks_have_slack_and_waves_have_none(void** unused)
{
    (void)unused;
    rig r = rig_cube(16);
    rig_liquid(&r, &pool);
    assert_ok(rig_start(&r));
    ty_gridflow* gf = r.self;
    gf->closed[TY_TOP] = true;
    assert_near(ty_gridflow_slack(gf), 0.0, 1e-12);    // still water: waves limit the step
    gf->dt_limit *= 0.5;
    assert_near(ty_gridflow_slack(gf), TY_STEP_SLACK, 0.0);
    gf->closed[TY_TOP] = false;
    assert_near(ty_gridflow_slack(gf), 0.0, 0.0);
    rig_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(middle_of_a_step_is_the_same_in_all_answers),
        cmocka_unit_test(uniform_stream_has_no_rate_at_open_sides),
        cmocka_unit_test(blow_is_not_carried_and_a_slow_change_is),
        cmocka_unit_test(step_goes_by_what_does_not_fly),
        cmocka_unit_test(only_closed_tanks_have_slack_and_waves_have_none),
        cmocka_unit_test(balanced_velocities_are_nearly_free_of_divergence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
