// SPDX-License-Identifier: Apache-2.0
// TEST TIER: full
// The tracker and the ledger on liquid thinner than a cell.
#include "core/parallel.h"
#include "sim/ledger.h"
#include "test.h"
#include "track/kinds.h"
#include "track/tank.h"

static const double CELL = 1.0 / 16;
static const double WIDE = 0.7;
enum { SETTLE = 2 };    // of sim/step.c

static void eval_drift(const void* self, int n, const double (*x)[3], double* out)
{
    (void)x;
    for (int i = 0; i < n; ++i) memcpy(out + 3 * i, self, 3 * sizeof(double));
}

typedef struct drifting {
    tank t;
    void* tracker;
    ty_cutter* cutter;
    ty_ledger ledger;
    ty_tri_mesh cut;
} drifting;

static void cut(drifting* d)
{
    ty_liquid liquid = ty_tracker_contour.liquid(d->tracker);
    assert_ok(ty_cut_surface(d->cutter, &liquid, d->t.world, &d->cut));
}

static void open_sheet(drifting* d)
{
    memset(d, 0, sizeof *d);
    tank_begin(&d->t, 1, 1, 1);
    d->t.def.has_domain = false;
    double middle = 8.5 * CELL, half = 0.25 * CELL;
    tank_liquid(&d->t, block(0.2, middle - half, 0.2, 0.2 + WIDE, middle + half, 0.2 + WIDE));
    tank_open(&d->t, CELL);
    ty_track_def def = ty_track_default();
    def.cell = CELL;
    assert_ok(ty_tracker_contour.create(&d->tracker, &def, d->t.world));
    assert_ok(ty_cutter_create(&d->cutter));
    assert_ok(ty_ledger_open(&d->ledger, 0));
    cut(d);
    ty_liquid liquid = ty_tracker_contour.liquid(d->tracker);
    assert_ok(ty_ledger_start(&d->ledger, &liquid, d->t.world, &d->cut));
}

static void step(drifting* d, const ty_flow* flow, double t, double dt)
{
    bool moved = false;
    ty_liquid liquid = ty_tracker_contour.liquid(d->tracker);
    assert_ok(ty_ledger_remember(&d->ledger, &liquid, flow, d->t.world, &d->cut, dt));
    assert_ok(ty_tracker_contour.advance(d->tracker, flow, d->t.world, t, dt));
    cut(d);
    liquid = ty_tracker_contour.liquid(d->tracker);
    assert_ok(ty_ledger_balance(&d->ledger, &liquid, flow, d->t.world, &d->cut, dt));
    assert_ok(ty_ledger_correct(&d->ledger, &ty_tracker_contour, d->tracker, false, &moved));
    for (int pass = 0; moved; ++pass) {    // as sim/step.c does
        double before = ty_tri_mesh_volume(&d->cut), after;
        cut(d);
        after = ty_tri_mesh_volume(&d->cut);
        ty_ledger_corrected(&d->ledger, after - before);
        if (pass == SETTLE) break;
        assert_ok(ty_ledger_settle(&d->ledger, &ty_tracker_contour, d->tracker, after, &moved));
    }
}

// The widest gap that rays straight through the sheet see, two cells and more inside its rim; in
// cells.
static double widest_hole(const ty_tri_mesh* m, const double shift[3])
{
    ty_bvh bvh = {0};
    double widest = 0.0;
    assert_ok(ty_bvh_build(&bvh, m->n_verts, (const double(*)[3])m->vert, m->n_tris,
                           (const int(*)[3])m->tri));
    for (int row = 0; row < 28; ++row) {
        double gap = 0.0;
        for (int i = 0; i < 28; ++i) {
            ty_vec3 from = ty_vec(0.33 + 0.25 * CELL * i, -1.5, 0.33 + 0.25 * CELL * row) +
                           ty_load3(shift);
            gap = ty_bvh_any_hit(&bvh, from, ty_vec(0, 1, 0), 0.0, 4.0) ? 0.0 : gap + 0.25;
            widest = ty_max(widest, gap);
        }
    }
    ty_bvh_free(&bvh);
    return widest;
}

static void drift(double cells_per_step)
{
    drifting d;
    open_sheet(&d);
    const double v[3] = {0.3, 1.0, 0.2};
    double dt = cells_per_step * CELL, first = ty_tri_mesh_volume(&d.cut), worst = 0.0, later = 0.0,
           shift[3];
    ty_flow flow = {
        .velocity = {.self = v, .width = 3, .eval = eval_drift}, .cell = CELL, .max_speed = 1.1};
    for (int i = 0; i < 100; ++i) {
        step(&d, &flow, i * dt, dt);
        assert_ok(ty_tri_mesh_validate(ty_tracker_contour.liquid(d.tracker).surface));
        double error = fabs(ty_tri_mesh_volume(&d.cut) / first - 1.0);
        worst = ty_max(worst, error);
        if (i >= 20) later = ty_max(later, error);
    }
    for (int axis = 0; axis < 3; ++axis) shift[axis] = 100 * dt * v[axis];
    double hole = widest_hole(&d.cut, shift);
    print_message(
        "  %.2f cells a step: volume within %.1f %%, from step 20 on %.1f %%, widest hole %.2f cells\n",
        cells_per_step, 100 * worst, 100 * later, hole);
    assert_true(worst < 0.05);
    assert_true(hole <= 2.0);
    ty_tracker_contour.destroy(d.tracker);
    ty_cutter_destroy(d.cutter);
    ty_ledger_free(&d.ledger);
    ty_tri_mesh_free(&d.cut);
    tank_close(&d.t);
}

static void a_sheet_of_half_a_cell_keeps_its_volume(void** state)
{
    (void)state;
    drift(0.9);
    drift(0.45);
    drift(0.13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_sheet_of_half_a_cell_keeps_its_volume)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
