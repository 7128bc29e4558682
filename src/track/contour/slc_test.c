// SPDX-License-Identifier: Apache-2.0
#include "track/contour/slc.h"

#include "core/hash.h"
#include "core/parallel.h"
#include "test.h"
#include "track/kinds.h"
#include "track/tank.h"

typedef struct motion {
    ty_vec3 velocity, spin;    // about the middle of the unit box
} motion;

static void eval_motion(const void* self, int n, const double (*x)[3], double* out)
{
    const motion* m = self;
    for (int i = 0; i < n; ++i) {
        ty_vec3 r = ty_load3(x[i]) - ty_vec(0.5, 0.5, 0.5);
        ty_store3(out + 3 * i, m->velocity + ty_cross(m->spin, r));
    }
}

static ty_flow flow_of(const motion* m, double cell)
{
    return (ty_flow){.velocity = {.self = m, .width = 3, .eval = eval_motion},
                     .cell = cell,
                     .dt_limit = INFINITY,
                     .max_speed = ty_norm(m->velocity) + ty_norm(m->spin)};
}

static ty_slc* open_slc(const tank* t, double cell, bool thicken)
{
    ty_track_def def = ty_track_default();
    void* self;
    def.cell = cell;
    def.thicken_surface = thicken;
    assert_ok(ty_tracker_contour.create(&self, &def, t->world));
    return self;
}

static void advance(ty_slc* s, const tank* t, const motion* m, double dt, int steps)
{
    ty_flow flow = flow_of(m, s->def.cell);
    for (int i = 0; i < steps; ++i) {
        assert_ok(ty_world_move(t->world, (i + 1) * dt, dt));
        assert_ok(ty_tracker_contour.advance(s, &flow, t->world, i * dt, dt));
        assert_ok(ty_tri_mesh_validate(&s->now.mesh));
    }
}

static double volume_of(const ty_slc* s) { return ty_tri_mesh_volume(&s->now.mesh); }

static void what_does_not_move_stays_as_it_was(void** state)
{
    (void)state;
    const double h = 1.0 / 16;
    tank t;
    tank_begin(&t, 1, 1, 1);
    tank_liquid(&t, ball(0.5, 0.53, 0.47, 0.23));
    tank_liquid(&t, block(0.1, 0.1, 0.1, 0.4, 0.17, 0.9));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, true);
    ty_tri_mesh before = {0};
    assert_ok(ty_tri_mesh_copy(&before, &s->now.mesh));
    advance(s, &t, &(motion){0}, 0.01, 100);
    assert_int_equal(s->now.mesh.n_verts, before.n_verts);
    for (int v = 0; v < before.n_verts; ++v)
        assert_true(ty_norm(ty_load3(before.vert[v]) - ty_load3(s->now.mesh.vert[v])) < 1e-3 * h);
    ty_tri_mesh_free(&before);
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

// A hundred remakes, most of their values interpolated; the way is a millionth of a cell.
static void what_hardly_moves_stays_as_it_was(void** state)
{
    (void)state;
    const double h = 1.0 / 40;
    tank t;
    tank_begin(&t, 1, 1, 1);
    tank_liquid(&t, ball(0.5, 0.513, 0.487, 0.21));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, false);
    ty_tri_mesh before = {0};
    assert_ok(ty_tri_mesh_copy(&before, &s->now.mesh));
    advance(s, &t, &(motion){.velocity = ty_vec(1, 0, 0)}, 1e-8 * h, 100);
    assert_int_equal(s->now.mesh.n_verts, before.n_verts);
    for (int v = 0; v < before.n_verts; ++v)
        assert_true(ty_norm(ty_load3(before.vert[v]) - ty_load3(s->now.mesh.vert[v])) < 1e-3 * h);
    ty_tri_mesh_free(&before);
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

static void cells_know_the_closest_triangle(void** state)
{
    (void)state;
    enum { MANY = 4000 };
    static double x[MANY][3], d2[MANY];
    static int tri[MANY];
    const double h = 1.0 / 24;
    tank t;
    tank_begin(&t, 1, 1, 1);
    tank_liquid(&t, ball(0.4, 0.5, 0.5, 0.2));
    tank_liquid(&t, block(0.5, 0.3, 0.3, 0.8, 0.71, 0.6));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, false);
    const ty_tri_mesh* m = &s->now.mesh;
    int n_found = 0;
    for (int i = 0; i < MANY; ++i)    // around vertices, some of them right on one
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = m->vert[7 * i % m->n_verts][axis] +
                         (i % 8 ? h * (ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis)) - 0.5) : 0.0);
    ty_bvh_closest(&s->now.exact.bvh, MANY, (const double(*)[3])x, INFINITY,
                   &(ty_closest_points){.distance2 = d2, .triangle = tri});
    ty_octree_cursor cursor = ty_octree_cursor_start();
    ty_slc_walk walk = ty_slc_walk_start();
    for (int i = 0; i < MANY; ++i) {
        int at[3];
        double u[3];
        ty_slc_foot foot;
        ty_octree_cells_of(&s->now.tree, x[i], u, at);
        ty_octant o = ty_octree_leaf(&s->now.tree, &cursor, at);
        if (!ty_slc_foot_near(&s->now, &walk, &o, x[i], u, &foot)) continue;
        assert_int_equal(foot.triangle, tri[i]);
        assert_true(foot.at.distance2 == d2[i]);
        ++n_found;
    }
    assert_true(n_found > MANY / 2);
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

static void a_moving_ball_stays_a_ball(void** state)
{
    (void)state;
    const double h = 1.0 / 20, radius = 0.2;
    tank t;
    tank_begin(&t, 1, 1, 1);
    tank_liquid(&t, ball(0.3, 0.5, 0.5, radius));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, false);
    double volume = volume_of(s);
    advance(s, &t, &(motion){.velocity = ty_vec(1, 0, 0)}, 0.02, 20);
    assert_near(volume_of(s), volume, 5e-3 * volume);
    for (int v = 0; v < s->now.mesh.n_verts; ++v) {
        double r = ty_norm(ty_load3(s->now.mesh.vert[v]) - ty_vec(0.7, 0.5, 0.5));
        assert_near(r, radius, 0.03 * h);
    }
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

static void pieces_are_bodies_and_bubbles_are_theirs(void** state)
{
    (void)state;
    const double h = 1.0 / 20;
    tank t;
    ty_shape_def parts[2] = {ball(0.3, 0.5, 0.5, 0.22), ball(0.3, 0.5, 0.5, 0.12)};
    ty_shape_def shell = ty_shape_default(TY_SHAPE_DIFFERENCE);
    shell.children = parts;
    shell.n_children = 2;
    tank_begin(&t, 1, 1, 1);
    tank_liquid(&t, shell);
    tank_liquid(&t, ball(0.75, 0.5, 0.5, 0.15));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, false);
    int component[20000];
    assert_true(s->now.mesh.n_verts < 20000);
    assert_int_equal(ty_tri_mesh_components(&s->now.mesh, component), 3);
    assert_int_equal(s->n_pieces, 2);
    for (int v = 0; v < s->now.mesh.n_verts; ++v) {
        bool left = s->now.mesh.vert[v][0] < 0.55;
        assert_int_equal(s->piece.at[v], left ? s->piece.at[0] : 1 - s->piece.at[0]);
    }
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

static void the_sign_is_right_everywhere(void** state)
{
    (void)state;
    const double h = 1.0 / 32;
    tank t;
    tank_begin(&t, 2, 2, 2);
    tank_liquid(&t, ball(1, 1, 1, 0.5));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, false);
    unsigned seed = 1;
    for (int i = 0; i < 4000; ++i) {
        double x[1][3], d;
        for (int axis = 0; axis < 3; ++axis) {
            seed = seed * 1664525u + 1013904223u;
            x[0][axis] = -1.0 + 4.0 * (seed >> 8) / 16777216.0;
        }
        double exact = ty_norm(ty_load3(x[0]) - ty_vec(1, 1, 1)) - 0.5;
        ty_slc_distance(&s->now, 1, (const double(*)[3])x, &d, NULL, NULL);
        if (fabs(exact) > 0.01 * h) assert_true((d < 0.0) == (exact < 0.0));
        assert_near(d, exact, 0.05 * fabs(exact) + 0.02 * h);
    }
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

// y = 0.5 + 0.3 (x - 0.5), resting against four walls.
static void tilted_water_meets_walls_undisturbed(void** state)
{
    (void)state;
    const double h = 1.0 / 16;
    tank t;
    tank_begin(&t, 1, 1, 1);
    ty_shape_def plane = ty_shape_default(TY_SHAPE_PLANE);
    double point[3] = {0.5, 0.5, 0.5}, normal[3] = {-0.3, 1, 0};
    memcpy(plane.point, point, sizeof point);
    memcpy(plane.normal, normal, sizeof normal);
    tank_liquid(&t, plane);
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, false);
    advance(s, &t, &(motion){0}, 0.01, 20);
    int n_inside = 0;
    for (int v = 0; v < s->now.mesh.n_verts; ++v) {
        const double* x = s->now.mesh.vert[v];
        bool near = x[1] > 0.0 && x[0] > -1.5 * h && x[0] < 1 + 1.5 * h && x[2] > -1.5 * h &&
                    x[2] < 1 + 1.5 * h;
        if (!near) continue;
        ++n_inside;
        assert_near(x[1], 0.5 + 0.3 * (x[0] - 0.5), 0.02 * h);
    }
    assert_true(n_inside > 400);
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

// A block that ends on the floor, on two walls and on a plate that stands in it, and is deeper than
// any reach: what is nearest to its middle is the solids', no surface of the liquid.
static void deep_liquid_runs_on_into_what_it_stands_on(void** state)
{
    (void)state;
    const double h = 1.0 / 40;
    tank t;
    tank_begin(&t, 1, 1, 1);
    tank_liquid(&t, block(0, 0, 0, 0.55, 0.7, 1));
    tank_obstacle(&t, block(0.3, 0, 0, 0.5, 0.2, 1));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, false);
    ty_sampler f = ty_slc_distance_sampler(&s->now);
    for (double y = 0.0; y < 0.4; y += 0.5 * h) {
        const double x[5][3] = {{0.15, -2.5 * h, y + 0.2},
                                {-2.5 * h, y, 0.5},
                                {0.2, y, -2.5 * h},
                                {0.3 + 2.5 * h, 0.4 * y, 0.5},
                                {0.4, 0.2 - 2.5 * h, y + 0.2}};
        double d[5];
        ty_sample(&f, 5, x, d);
        for (int i = 0; i < 5; ++i) assert_true(d[i] < 0.0);
    }
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

static void colours_stay_with_the_liquid(void** state)
{
    (void)state;
    const double h = 1.0 / 20;
    tank t;
    tank_begin(&t, 1, 1, 1);
    tank_liquid(&t, ball(0.3, 0.5, 0.5, 0.2));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, false);
    float* colour = ty_tri_mesh_add_attribute(&s->now.mesh, "colour", 3);
    assert_non_null(colour);
    for (int i = 0; i < 3 * s->now.mesh.n_verts; ++i)
        colour[i] = (float)s->now.mesh.vert[i / 3][i % 3];
    advance(s, &t, &(motion){.velocity = ty_vec(1, 0.2, 0)}, 0.02, 10);
    colour = ty_tri_mesh_attribute(&s->now.mesh, "colour", 3);
    assert_non_null(colour);
    for (int v = 0; v < s->now.mesh.n_verts; ++v) {
        assert_near((double)colour[3 * v], s->now.mesh.vert[v][0] - 0.2, 0.3 * h);
        assert_near((double)colour[3 * v + 1], s->now.mesh.vert[v][1] - 0.04, 0.3 * h);
    }
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

// Half the thickness by the sheet's vertices away from its rims, and volumes of the ball and of
// what has the sheet.
static double sheet_half(const ty_slc* s, double volume[2])
{
    double sum = 0.0;
    int n = 0;
    const ty_tri_mesh* m = ty_tracker_contour.liquid(s).surface;
    volume[0] = volume[1] = 0.0;
    for (int i = 0; i < m->n_tris; ++i) {
        const int* id = m->tri[i];
        volume[m->vert[id[0]][0] < 0.45] += ty_dot(ty_load3(m->vert[id[0]]),
                                                   ty_cross(ty_load3(m->vert[id[1]]),
                                                            ty_load3(m->vert[id[2]]))) /
                                            6;
    }
    for (int v = 0; v < m->n_verts; ++v) {
        const double* x = m->vert[v];
        if (!(x[0] > 0.85 && x[0] < 1.0 && x[1] > 0.35 && x[1] < 0.65)) continue;
        sum += fabs(x[2] - 0.5 - 0.5 * s->def.cell);
        ++n;
    }
    return sum / n;
}

static void offset_pieces(double cells)
{
    const double h = 1.0 / 24, metres = cells * h;
    tank t;
    tank_begin(&t, 2, 1, 1);
    tank_liquid(&t, ball(0.25, 0.5, 0.5, 0.15));
    tank_liquid(&t, block(0.5, 0.2, 0.2, 0.76, 0.8, 0.8));
    tank_liquid(&t, block(0.75, 0.2, 0.5, 1.1, 0.8, 0.5 + h));    // a sheet of one cell
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, false);
    assert_int_equal(s->n_pieces, 2);
    double before[2], after[2], both[2] = {metres, metres}, all = ty_tri_mesh_area(&s->now.mesh);
    double ball_area = 4 * M_PI * 0.15 * 0.15, half = sheet_half(s, before);
    assert_ok(ty_tracker_contour.offset(s, both));
    assert_ok(ty_tri_mesh_validate(&s->now.mesh));
    double moved = sheet_half(s, after) - half;
    print_message("%g cells: volume %.4g and %.4g of what was asked, sheet %.3g\n", cells,
                  (after[1] - before[1]) / (ball_area * metres),
                  (after[0] - before[0]) / ((all - ball_area) * metres), moved / metres);
    assert_near(after[1] - before[1], ball_area * metres, 0.05 * ball_area * metres);
    assert_near(after[0] - before[0], (all - ball_area) * metres, 0.3 * (all - ball_area) * metres);
    assert_true(moved > 0.2 * metres && moved < 0.5 * metres);
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

static void an_offset_moves_pieces_and_spares_thin_places(void** state)
{
    (void)state;
    offset_pieces(0.2);
    offset_pieces(0.05);    // without a remake
    offset_pieces(0.01);
}

static void eval_ball(const void* self, int n, const double (*x)[3], double* out)
{
    const double* b = self;
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i]) - ty_load3(b)) - b[3];
}

static void edits_change_what_they_say(void** state)
{
    (void)state;
    const double h = 1.0 / 24;
    tank t;
    tank_begin(&t, 1, 1, 1);
    tank_liquid(&t, ball(0.3, 0.5, 0.5, 0.15));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, false);
    const double source[4] = {0.7, 0.5, 0.5, 0.15};
    ty_edit edit = {.add = true,
                    .region = {.self = source, .width = 1, .exact_band = 1, .eval = eval_ball}};
    double first = volume_of(s), changed;
    assert_ok(ty_tracker_contour.edit(s, 1, &edit, &changed));
    assert_near(changed, volume_of(s) - first, 0.01 * first);
    assert_near(changed, 4.0 / 3.0 * M_PI * pow(0.15, 3), 0.05 * first);
    assert_int_equal(s->n_pieces, 2);
    double both = volume_of(s);
    edit.add = false;
    assert_ok(ty_tracker_contour.edit(s, 1, &edit, &changed));
    assert_near(changed, first - both, 0.01 * first);
    assert_near(volume_of(s), first, 1e-6 * first);
    assert_int_equal(s->n_pieces, 1);
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

static void liquid_leaves_through_open_sides(void** state)
{
    (void)state;
    const double h = 1.0 / 16;
    tank t;
    tank_begin(&t, 1, 1, 1);
    for (int side = 0; side < TY_N_SIDES; ++side) t.def.wall[side].closed = false;
    tank_liquid(&t, ball(0.7, 0.5, 0.5, 0.2));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, true);
    advance(s, &t, &(motion){.velocity = ty_vec(1, 0, 0)}, 0.05, 20);
    assert_int_equal(s->now.mesh.n_tris, 0);
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

static void without_a_domain_liquid_goes_anywhere(void** state)
{
    (void)state;
    const double h = 1.0 / 16;
    tank t;
    tank_begin(&t, 1, 1, 1);
    t.def.has_domain = false;
    tank_liquid(&t, ball(0.7, 0.5, 0.5, 0.2));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, true);
    double volume = volume_of(s);
    advance(s, &t, &(motion){.velocity = ty_vec(3, -7, 0)}, 0.05, 20);
    assert_near(volume_of(s), volume, 0.02 * volume);
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

// Where the surface lies in its cells makes it seem to gain and to lose.
static void thin_places_grow_by_losses_less_gains(void** state)
{
    (void)state;
    const double h = 1.0 / 16;
    tank t;
    tank_begin(&t, 1, 1, 1);
    t.def.has_domain = false;
    tank_liquid(&t, block(0.2, 8.25 * h, 0.2, 0.8, 8.75 * h, 0.8));
    tank_open(&t, h);
    ty_slc* s = open_slc(&t, h, true);
    advance(s, &t, &(motion){.velocity = ty_vec(0, 1, 0)}, 0.3 * h, 3);
    double volume = ty_tri_mesh_volume(ty_slc_shown(s)), some = 1e-3 * volume;
    assert_int_equal(s->carried_grow.n, s->now.inset.n);
    s->gained = 0.0;
    assert_ok(ty_slc_grow(s, -some));
    assert_ok(ty_slc_grow(s, some));
    assert_true(ty_tri_mesh_volume(ty_slc_shown(s)) == volume);
    assert_ok(ty_slc_grow(s, some));
    assert_near(ty_tri_mesh_volume(ty_slc_shown(s)), volume + some, 0.3 * some);
    ty_tracker_contour.destroy(s);
    tank_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_move_stays_as_it_was),
        cmocka_unit_test(what_hardly_moves_stays_as_it_was),
        cmocka_unit_test(cells_know_the_closest_triangle),
        cmocka_unit_test(a_moving_ball_stays_a_ball),
        cmocka_unit_test(pieces_are_bodies_and_bubbles_are_theirs),
        cmocka_unit_test(the_sign_is_right_everywhere),
        cmocka_unit_test(tilted_water_meets_walls_undisturbed),
        cmocka_unit_test(deep_liquid_runs_on_into_what_it_stands_on),
        cmocka_unit_test(colours_stay_with_the_liquid),
        cmocka_unit_test(an_offset_moves_pieces_and_spares_thin_places),
        cmocka_unit_test(edits_change_what_they_say),
        cmocka_unit_test(liquid_leaves_through_open_sides),
        cmocka_unit_test(without_a_domain_liquid_goes_anywhere),
        cmocka_unit_test(thin_places_grow_by_losses_less_gains),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_threads_stop();
    return failed;
}
