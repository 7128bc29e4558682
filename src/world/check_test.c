// SPDX-License-Identifier: Apache-2.0
#include "world/check.h"

#include <math.h>
#include <string.h>

#include "format/file.h"
#include "format/test_files.h"
#include "world/world_test.h"

static ty_world_def pool(void)
{
    ty_world_def def = tank();
    ty_liquid_def* l = grow(def.liquids, def.n_liquids);
    *l = ty_liquid_default(TY_SHAPE_BOX);
    set3(l->shape.max, 2, 0.4, 1);
    return def;
}

static ty_obstacle_def* add_box(ty_world_def* def, ty_vec3 lo, ty_vec3 hi)
{
    ty_obstacle_def* o = grow(def->obstacles, def->n_obstacles);
    *o = ty_obstacle_default(TY_SHAPE_BOX);
    ty_store3(o->shape.min, lo);
    ty_store3(o->shape.max, hi);
    return o;
}

static ty_warnings check(const ty_world_def* def, double cell)
{
    ty_warnings found = {0};
    assert_ok(ty_world_check(def, cell, 2.0, &found));
    return found;
}

static const ty_warning* find(const ty_warnings* found, ty_warning_kind kind)
{
    for (int64_t i = 0; i < found->list.n; ++i)
        if (found->list.at[i].kind == kind) return &found->list.at[i];
    return NULL;
}

static void a_good_scene_gives_no_warning(void** state)
{
    (void)state;
    ty_world_def def = pool();
    add_box(&def, ty_vec(0.8, 0.4, 0.3), ty_vec(1.1, 0.8, 0.6));
    ty_camera_def* c = grow(def.cameras, def.n_cameras);
    *c = (ty_camera_def){.eye = ty_varying_vector(3, 1.5, 3), .target = ty_varying_vector(1, 0, 0)};
    ty_source_def* s = grow(def.sources, def.n_sources);
    *s = ty_source_default(TY_SHAPE_BOX);
    set3(s->shape.max, 0.1, 0.1, 0.1);
    ty_warnings found = check(&def, 0.05);
    if (found.list.n > 0) fail_msg("%s", found.list.at[0].message);
    ty_warnings_free(&found);
    ty_world_def_free(&def);
}

static void no_liquid_is_told(void** state)
{
    (void)state;
    ty_world_def def = tank();
    ty_warnings found = check(&def, 0.05);
    assert_non_null(find(&found, TY_WARN_NO_LIQUID));
    ty_warnings_free(&found);
    ty_world_def_free(&def);

    def = pool();    // drowned in an obstacle
    add_box(&def, ty_vec(-1, -1, -1), ty_vec(3, 0.5, 3));
    found = check(&def, 0.05);
    assert_non_null(find(&found, TY_WARN_NO_LIQUID));
    ty_warnings_free(&found);
    ty_world_def_free(&def);
}

static void liquid_in_an_obstacle_is_told_with_its_share(void** state)
{
    (void)state;
    ty_world_def def = pool();
    add_box(&def, ty_vec(0.5, -0.2, 0), ty_vec(1.0, 0.2, 1));    // an eighth of the liquid
    ty_warnings found = check(&def, 0.05);
    const ty_warning* w = find(&found, TY_WARN_LIQUID_IN_OBSTACLE);
    assert_non_null(w);
    assert_near(w->amount, 0.125, 0.01);
    assert_true(w->at[0] > 0.5 && w->at[0] < 1.0 && w->at[1] < 0.2);
    assert_non_null(strstr(w->message, "12.5 %"));
    ty_warnings_free(&found);
    ty_world_def_free(&def);
}

static void what_lies_outside_the_domain_is_told(void** state)
{
    (void)state;
    ty_world_def def = pool();
    set3(def.liquids[0].shape.max, 2, 0.4, 2);
    ty_source_def* s = grow(def.sources, def.n_sources);
    *s = ty_source_default(TY_SHAPE_SPHERE);
    set3(s->shape.center, 1, 0.8, 0.5);
    s->shape.radius = 0.1;
    *grow(s->shape.keys, s->shape.n_keys) = ty_pose_key_default();
    *grow(s->shape.keys, s->shape.n_keys) = (ty_pose_key){
        .time = 2, .move = {0, 0.2, 0}, .axis = {0, 1, 0}, .scale = 1};
    ty_warnings found = check(&def, 0.05);
    const ty_warning* w = find(&found, TY_WARN_LIQUID_OUTSIDE);
    assert_non_null(w);
    assert_near(w->amount, 0.5, 0.02);
    w = find(&found, TY_WARN_SOURCE_OUTSIDE);    // half of it, at the end of its way
    assert_non_null(w);
    assert_near(w->amount, 0.5, 0.03);
    assert_non_null(strstr(w->message, "t = 2"));
    ty_warnings_free(&found);
    ty_world_def_free(&def);
}

// A box 0.5 wide minus one that leaves walls of 0.03, turned by 30 degrees.
static void thin_walls_are_told_with_their_thickness(void** state)
{
    (void)state;
    ty_world_def def = pool();
    ty_obstacle_def* o = grow(def.obstacles, def.n_obstacles);
    *o = ty_obstacle_default(TY_SHAPE_DIFFERENCE);
    o->shape.n_children = 2;
    o->shape.children = ty_alloc(2, sizeof *o->shape.children);
    for (int k = 0; k < 2; ++k) {
        ty_shape_def* b = &o->shape.children[k];
        *b = ty_shape_default(TY_SHAPE_BOX);
        set3(b->min, 0.7 + 0.03 * k, 0.45 + 0.06 * k, 0.2 + 0.03 * k);
        set3(b->max, 1.2 - 0.03 * k, 0.9, 0.7 - 0.03 * k);
    }
    *grow(o->shape.keys, o->shape.n_keys) = (ty_pose_key){
        .axis = {0, 1, 0}, .degrees = 30, .about = {1, 0, 0.5}, .scale = 1};
    ty_warnings found = check(&def, 0.05);
    const ty_warning* w = find(&found, TY_WARN_THIN_WALL);
    assert_non_null(w);
    assert_near(w->amount, 0.03, 1e-4);
    ty_warnings_free(&found);
    found = check(&def, 0.029);
    assert_null(find(&found, TY_WARN_THIN_WALL));
    ty_warnings_free(&found);
    ty_world_def_free(&def);
}

// Balls and corners are no thin walls, however short the way through them near their edge.
static void round_and_pointed_obstacles_are_no_thin_walls(void** state)
{
    (void)state;
    ty_world_def def = pool();
    ty_obstacle_def* ball = grow(def.obstacles, def.n_obstacles);
    *ball = ty_obstacle_default(TY_SHAPE_SPHERE);
    set3(ball->shape.center, 1, 0.7, 0.5);
    ball->shape.radius = 0.2;
    ty_obstacle_def* block = add_box(&def, ty_vec(0.2, 0.5, 0.2), ty_vec(0.5, 0.8, 0.5));
    *grow(block->shape.keys, block->shape.n_keys) = (ty_pose_key){
        .axis = {1, 2, 3}, .degrees = 40, .about = {0.35, 0.65, 0.35}, .scale = 1};
    ty_warnings found = check(&def, 0.05);
    assert_null(find(&found, TY_WARN_THIN_WALL));
    ty_warnings_free(&found);
    ty_world_def_free(&def);
}

// A closed tetrahedron (4 triangles), or with its last face left out; and a second one that cuts
// through it.
static void write_tets(const char* path, bool open, bool crossing)
{
    ty_file_writer w;
    assert_ok(ty_file_begin(&w, path));
    for (int k = 0; k <= crossing; ++k)
        ty_file_print(&w, "v %g 0.5 0.2\nv %g 0.5 0.2\nv %g 0.5 0.7\nv %g 0.9 0.3\n", 0.5 + 0.1 * k,
                      1.0 + 0.1 * k, 0.5 + 0.1 * k, 0.6 + 0.1 * k);
    for (int k = 0; k <= crossing; ++k) {
        int v = 1 + 4 * k;
        ty_file_print(&w, "f %d %d %d\nf %d %d %d\nf %d %d %d\n", v, v + 1, v + 2, v, v + 3, v + 1,
                      v, v + 2, v + 3);
        if (!open) ty_file_print(&w, "f %d %d %d\n", v + 1, v + 3, v + 2);
    }
    assert_ok(ty_file_commit(&w));
}

static void faults_of_meshes_are_told_with_counts_and_places(void** state)
{
    ty_world_def def = pool();
    ty_obstacle_def* o = grow(def.obstacles, def.n_obstacles);
    *o = ty_obstacle_default(TY_SHAPE_MESH);
    o->shape.file = ty_strdup(test_path(*state, "tet.obj"));
    write_tets(o->shape.file, false, false);
    ty_warnings found = check(&def, 0.01);
    assert_null(find(&found, TY_WARN_MESH_HOLES));
    assert_null(find(&found, TY_WARN_MESH_CROSSINGS));
    ty_warnings_free(&found);

    write_tets(o->shape.file, true, false);
    found = check(&def, 0.01);
    const ty_warning* w = find(&found, TY_WARN_MESH_HOLES);
    assert_non_null(w);
    assert_int_equal(w->count, 3);
    assert_near(w->amount, sqrt(0.5) + sqrt(0.33) + sqrt(0.33), 1e-6);
    ty_warnings_free(&found);

    write_tets(o->shape.file, false, true);
    found = check(&def, 0.01);
    w = find(&found, TY_WARN_MESH_CROSSINGS);
    assert_non_null(w);
    assert_true(w->count >= 3);
    assert_true(w->at[0] >= 0.6 && w->at[0] <= 1.0 && w->at[1] >= 0.5 && w->at[1] <= 0.9);
    ty_warnings_free(&found);
    ty_world_def_free(&def);
}

static void cameras_inside_something_are_told(void** state)
{
    (void)state;
    ty_world_def def = pool();
    add_box(&def, ty_vec(0.8, 0.6, 0.3), ty_vec(1.1, 0.9, 0.6));
    const double eyes[3][3] = {{1, 0.2, 0.5}, {1, 0.8, 0.5}, {0.3, 0.8, 0.5}};
    const char* where[3] = {"the liquid", "an obstacle", "the tank"};
    for (int k = 0; k < 3; ++k) {
        ty_camera_def* c = grow(def.cameras, def.n_cameras);
        *c = (ty_camera_def){.name = ty_strdup("main"),
                             .eye = ty_varying_vector(eyes[k][0], eyes[k][1], eyes[k][2])};
    }
    ty_warnings found = check(&def, 0.05);
    int seen = 0;
    for (int64_t i = 0; i < found.list.n; ++i) {
        const ty_warning* w = &found.list.at[i];
        if (w->kind != TY_WARN_CAMERA_INSIDE) continue;
        assert_non_null(strstr(w->message, where[w->index]));
        ++seen;
    }
    assert_int_equal(seen, 3);
    ty_warnings_free(&found);
    ty_world_def_free(&def);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_scene_gives_no_warning),
        cmocka_unit_test(no_liquid_is_told),
        cmocka_unit_test(liquid_in_an_obstacle_is_told_with_its_share),
        cmocka_unit_test(what_lies_outside_the_domain_is_told),
        cmocka_unit_test(thin_walls_are_told_with_their_thickness),
        cmocka_unit_test(round_and_pointed_obstacles_are_no_thin_walls),
        cmocka_unit_test(faults_of_meshes_are_told_with_counts_and_places),
        cmocka_unit_test(cameras_inside_something_are_told),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
