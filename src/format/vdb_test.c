// SPDX-License-Identifier: Apache-2.0
#include "format/vdb.h"

#include <math.h>
#include <string.h>

#include "core/config.h"
#include "core/hash.h"
#include "core/memory.h"
#include "format/file.h"
#include "format/test_files.h"
#include "format/volume.h"
#include "test.h"

enum { NX = 37, NY = 20, NZ = 29 };
static const double origin[3] = {-1.0, 0.25, 3.0};
static const double cell = 0.05;

static float sphere(int i, int j, int k)
{
    double x = 0.5 + i - 0.5 * NX, y = 0.5 + j - 0.5 * NY, z = 0.5 + k - 0.5 * NZ;
    return (float)(cell * (sqrt(x * x + y * y + z * z) - 9.0));
}

// A level set with solid interior, a fog with holes, and a velocity, as a run would write them.
static void fill(float* surface, float* density, float* velocity)
{
    for (int k = 0; k < NZ; ++k)
        for (int j = 0; j < NY; ++j)
            for (int i = 0; i < NX; ++i) {
                int at = (k * NY + j) * NX + i;
                surface[at] = sphere(i, j, k);
                density[at] = surface[at] < 0.0f ? (float)ty_unit(ty_mix((uint64_t)at)) : 0.0f;
                for (int c = 0; c < 3; ++c)
                    velocity[3 * at + c] = surface[at] < 0.1f ? (float)(i - c * j) : 0.0f;
            }
}

static float surface_values[NX * NY * NZ], density_values[NX * NY * NZ],
    velocity_values[NX * NY * NZ * 3];

static ty_status write_three(const char* path, ty_vdb_compression compression, bool half)
{
    fill(surface_values, density_values, velocity_values);
    ty_vdb_grid g = ty_vdb_grid_default(), grids[3];
    memcpy(g.n, (int[3]){NX, NY, NZ}, sizeof g.n);
    memcpy(g.origin, origin, sizeof origin);
    g.cell = cell;
    g.half = half;
    for (int i = 0; i < 3; ++i) grids[i] = g;
    grids[0].name = "surface";
    grids[0].class_ = TY_VDB_LEVEL_SET;
    grids[0].background = (float)(3 * cell);
    grids[0].values = surface_values;
    grids[1].values = density_values;
    grids[2].name = "velocity";
    grids[2].class_ = TY_VDB_PLAIN;
    grids[2].width = 3;
    grids[2].values = velocity_values;
    const ty_vdb_note notes[] = {{"program", "tethys 0.1", 0},
                                 {"frame", NULL, 12},
                                 {"time", NULL, 0.5},
                                 {"scene_hash", "0123abcd", 0}};
    return ty_vdb_write(path, 3, grids, 4, notes, compression);
}

static void check_three(const char* path, double tolerance)
{
    ty_volume v = {0};
    assert_ok(ty_volume_read(&v, path, "surface"));
    assert_true(v.level_set && v.width == 1);
    assert_near(v.cell, cell, 1e-12);
    for (int axis = 0; axis < 3; ++axis)
        assert_near(v.origin[axis], origin[axis] + 0.5 * cell, 1e-12);
    float band = (float)(3 * cell);
    assert_near(ty_volume_background(&v)[0], band, band * tolerance);
    for (int i = -9; i < NX + 9; ++i)
        for (int j = -9; j < NY + 9; ++j)
            for (int k = -9; k < NZ + 9; ++k) {
                bool inside = i >= 0 && j >= 0 && k >= 0 && i < NX && j < NY && k < NZ;
                float wanted = inside ? fmaxf(-band, fminf(band, sphere(i, j, k))) : band;
                assert_near(ty_volume_at(&v, i, j, k)[0], wanted, band * tolerance);
            }
    assert_ok(ty_volume_read(&v, path, "density"));
    assert_false(v.level_set);
    for (int at = 0; at < NX * NY * NZ; ++at)
        assert_near(*ty_volume_at(&v, at % NX, at / NX % NY, at / NX / NY), density_values[at],
                    tolerance);
    assert_ok(ty_volume_read(&v, path, "velocity"));
    assert_int_equal(v.width, 3);
    for (int at = 0; at < NX * NY * NZ; ++at)
        for (int c = 0; c < 3; ++c)
            assert_near(ty_volume_at(&v, at % NX, at / NX % NY, at / NX / NY)[c],
                        velocity_values[3 * at + c], 100 * tolerance);
    ty_volume_free(&v);
}

static void values_come_back_from_every_compression(void** state)
{
    const char* path = test_path(*state, "a.vdb");
    for (int compression = TY_VDB_BLOSC; compression <= TY_VDB_NONE; ++compression)
        for (int half = 0; half < 2; ++half) {
            assert_ok(write_three(path, (ty_vdb_compression)compression, half));
            check_three(path, half ? 0x1p-11 : 0.0);
        }
}

static void same_input_gives_same_bytes(void** state)
{
    unsigned char *a, *b;
    int64_t n, m;
    assert_ok(write_three(test_path(*state, "a.vdb"), TY_VDB_BLOSC, false));
    assert_ok(ty_file_read(test_path(*state, "a.vdb"), 1 << 24, &a, &n));
    assert_ok(write_three(test_path(*state, "b.vdb"), TY_VDB_BLOSC, false));
    assert_ok(ty_file_read(test_path(*state, "b.vdb"), 1 << 24, &b, &m));
    assert_int_equal(n, m);
    assert_memory_equal(a, b, (size_t)n);
    assert_int_equal(a[21 + 8], '-');
    ty_free(a);
    ty_free(b);
}

static const char* text_of(const ty_vdb_text* texts, int n, const char* key)
{
    for (int i = 0; i < n; ++i)
        if (strcmp(texts[i].key, key) == 0) return texts[i].value;
    return "";
}

static void listing_names_grids_and_metadata(void** state)
{
    const char* path = test_path(*state, "a.vdb");
    assert_ok(write_three(path, TY_VDB_ZIP, true));
    ty_vdb_listing l;
    assert_ok(ty_vdb_list(&l, path));
    assert_int_equal(l.n_grids, 3);
    assert_string_equal(l.grids[0].name, "surface");
    assert_string_equal(l.grids[2].name, "velocity");
    assert_int_equal(l.grids[2].width, 3);
    assert_string_equal(text_of(l.texts, l.n_texts, "frame"), "12");
    assert_string_equal(text_of(l.grids[1].texts, l.grids[1].n_texts, "time"), "0.5");
    assert_string_equal(text_of(l.grids[1].texts, l.grids[1].n_texts, "scene_hash"), "0123abcd");
    assert_string_equal(text_of(l.grids[0].texts, l.grids[0].n_texts, "class"), "level set");
    assert_string_equal(text_of(l.grids[2].texts, l.grids[2].n_texts, "is_saved_as_half_float"),
                        "true");
    ty_vdb_listing_free(&l);
}

static void linear_plane(const void* self, int k, float* out)
{
    const int* n = self;
    for (int j = 0; j < n[1]; ++j)
        for (int i = 0; i < n[0]; ++i)
            for (int c = 0; c < 3; ++c) *out++ = (float)(1 + i + 2 * j - 3 * k + c);
}

static void samples_of_a_linear_field_are_exact(void** state)
{
    int n[3] = {40, 21, 17};
    ty_vdb_grid g = ty_vdb_grid_default();
    memcpy(g.n, n, sizeof n);
    g.name = "v";
    g.class_ = TY_VDB_PLAIN;
    g.width = 3;
    g.plane = linear_plane;
    g.self = n;
    g.cell = 0.1;
    g.offset = 0.0;
    const char* path = test_path(*state, "linear.vdb");
    assert_ok(ty_vdb_write(path, 1, &g, 0, NULL, TY_VDB_BLOSC));
    ty_volume v = {0};
    assert_ok(ty_volume_read(&v, path, NULL));
    ty_sampler s = ty_volume_sampler(&v);
    for (uint64_t p = 0; p < 3000; ++p) {
        double x[1][3], out[3];
        for (int axis = 0; axis < 3; ++axis)
            x[0][axis] = 0.1 * ty_unit(ty_mix(3 * p + (uint64_t)axis)) * (n[axis] - 1);
        ty_sample(&s, 1, x, out);
        for (int c = 0; c < 3; ++c)
            assert_near(out[c], 1 + 10 * x[0][0] + 20 * x[0][1] - 30 * x[0][2] + c, 1e-11);
    }
    double far[4][3] = {{1e300, 0, 0}, {NAN, 0, 0}, {-5, 0, 0}, {0, 1e9, 0}}, out[4][3];
    ty_sample(&s, 4, far, out[0]);
    for (int i = 0; i < 12; ++i) assert_true(out[i / 3][i % 3] == 0.0);
    ty_box box = ty_volume_bounds(&v);
    assert_true(box.lo[0] <= 0.0 && box.hi[0] >= 3.9);
    ty_volume_free(&v);
}

static void strides_and_empty_grids(void** state)
{
    const char* path = test_path(*state, "strided.vdb");
    float values[3 * 4 * 5];
    for (int i = 0; i < 60; ++i) values[i] = (float)(i + 1);
    ty_vdb_grid g = ty_vdb_grid_default();
    memcpy(g.n, (int[3]){3, 4, 5}, sizeof g.n);
    memcpy(g.stride, (int64_t[3]){20, 5, 1}, sizeof g.stride);    // z fastest
    g.values = values;
    assert_ok(ty_vdb_write(path, 1, &g, 0, NULL, TY_VDB_NONE));
    ty_volume v = {0};
    assert_ok(ty_volume_read(&v, path, "density"));
    for (int i = 0; i < 60; ++i)
        assert_true(*ty_volume_at(&v, i / 20, i / 5 % 4, i % 5) == values[i]);
    memset(g.n, 0, sizeof g.n);
    assert_ok(ty_vdb_write(path, 1, &g, 0, NULL, TY_VDB_BLOSC));
    assert_ok(ty_volume_read(&v, path, "density"));
    assert_true(*ty_volume_at(&v, 0, 0, 0) == 0.0f);
    assert_int_equal(v.n_values, 0);
    ty_volume_free(&v);
}

static void what_cannot_be_read_or_written_says_so(void** state)
{
    const char* path = test_path(*state, "a.vdb");
    assert_ok(write_three(path, TY_VDB_BLOSC, false));
    ty_volume v = {0};
    ty_status s = ty_volume_read(&v, path, "temperature");
    assert_int_equal(s.code, TY_BAD_INPUT);
    assert_non_null(strstr(s.message, "no grid 'temperature'"));
    assert_non_null(strstr(s.message, "'surface', 'density', 'velocity'"));
    assert_code(ty_volume_read_bytes(&v, "PK\3\4", 4, "x.vdb", NULL), TY_BAD_INPUT);
    float bad = NAN;
    ty_vdb_grid g = ty_vdb_grid_default();
    memcpy(g.n, (int[3]){1, 1, 1}, sizeof g.n);
    g.values = &bad;
    assert_code(ty_vdb_write(path, 1, &g, 0, NULL, TY_VDB_BLOSC), TY_DIVERGED);
    assert_ok(ty_volume_read(&v, path, "surface"));    // still there
    g.cell = 0.0;
    assert_code(ty_vdb_write(path, 1, &g, 0, NULL, TY_VDB_BLOSC), TY_BAD_INPUT);
    g = (ty_vdb_grid){.name = "x", .width = 1, .cell = 1};
    assert_code(ty_vdb_write(test_path(*state, "no/folder.vdb"), 1, &g, 0, NULL, TY_VDB_BLOSC),
                TY_IO);
    ty_volume_free(&v);
}

// A grid of nodes that the test places by hand: the kinds a writer of ours never makes.
typedef struct builder {
    unsigned char bytes[70000];
    int64_t n;
} builder;

static void put(builder* b, const void* bytes, int64_t n)
{
    memcpy(b->bytes + b->n, bytes, (size_t)n);
    b->n += n;
}
static void put_i32(builder* b, int32_t v) { put(b, &v, 4); }
static void put_i64(builder* b, int64_t v) { put(b, &v, 8); }
static void put_float(builder* b, float v) { put(b, &v, 4); }
static void put_text(builder* b, const char* s)
{
    put_i32(b, (int32_t)strlen(s));
    put(b, s, (int64_t)strlen(s));
}

// Header, descriptor and transform of an uncompressed float grid, up to the root's children.
static void put_start(builder* b, int n_tiles)
{
    static const unsigned char start[57] = {0x20, 0x42, 0x44, 0x56, 0, 0, 0, 0, 224, 0, 0,
                                            0,    10,   0,    0,    0, 0, 0, 0, 0,   1};
    b->n = 0;
    put(b, start, 57);
    put_i32(b, 0);    // metadata
    put_i32(b, 1);    // grids
    put_text(b, "g");
    put_text(b, "Tree_float_5_4_3");
    put_text(b, "");
    for (int i = 0; i < 3; ++i) put_i64(b, b->n + 8 * (3 - i));    // all right after the descriptor
    put_i32(b, 2);                                                 // compression
    put_i32(b, 0);                                                 // metadata
    put_text(b, "TranslationMap");
    for (int i = 0; i < 3; ++i) put_i64(b, 0);
    put_i32(b, 1);
    put_float(b, 0.5f);    // background
    put_i32(b, n_tiles);
}

static void put_tile(builder* b, int x, int y, int z, float value)
{
    put_i32(b, x);
    put_i32(b, y);
    put_i32(b, z);
    put_float(b, value);
    put(b, "\1", 1);
}

static ty_status read_built(ty_volume* v, const builder* b)
{
    return ty_volume_read_bytes(v, b->bytes, b->n, "hand", NULL);
}

// A child of the root whose tile `at` is 7 and active, all others inactive.
static void put_child(builder* b, int at)
{
    static const unsigned char none[4096];
    for (int i = 0; i < 3; ++i) put_i32(b, -4096);
    put(b, none, 4096);
    put(b, none, 4096);
    b->bytes[b->n - 4096 + at / 8] |= (unsigned char)(1 << at % 8);
    put(b, "\0", 1);    // the inactive ones are background
    put_float(b, 7.0f);
}

static void tiles_are_constant_blocks(void** state)
{
    (void)state;
    static builder b;
    ty_volume v = {0};
    put_start(&b, 0);
    put_i32(&b, 1);
    put_child(&b, 31 << 10 | 30 << 5 | 1);
    assert_ok(read_built(&v, &b));
    assert_true(v.cell == 1.0 && v.n_blocks[0] == 16);
    assert_true(*ty_volume_at(&v, -128, -256, -3968) == 7.0f);
    assert_true(*ty_volume_at(&v, -1, -129, -3841) == 7.0f);
    assert_true(*ty_volume_at(&v, 0, -129, -3841) == 0.5f);
    assert_true(*ty_volume_at(&v, -1, -128, -3841) == 0.5f);
    assert_true(*ty_volume_at(&v, -1, -129, -3840) == 0.5f);
    ty_volume_free(&v);
}

static void impossible_trees_are_refused(void** state)
{
    (void)state;
    static builder b;
    ty_volume v = {0};
    static const struct {
        int y;
        float value;
        const char* part;
    } cases[] = {{0, 7.0f, "too many; clip"},
                 {100, 7.0f, "impossible place"},
                 {0, INFINITY, "not a finite number"}};
    for (int i = 0; i < 3; ++i) {
        put_start(&b, 1);
        put_i32(&b, 0);
        put_tile(&b, 0, cases[i].y, 0, cases[i].value);
        ty_status s = read_built(&v, &b);
        assert_int_equal(s.code, TY_BAD_INPUT);
        assert_non_null(strstr(s.message, cases[i].part));
    }
    put_start(&b, 0);
    put_i32(&b, 2);
    put_child(&b, 5);
    put_child(&b, 5);
    ty_status s = read_built(&v, &b);
    assert_true(s.code == TY_BAD_INPUT && strstr(s.message, "two nodes at one place"));
    for (int64_t n = b.n; n >= 0; n -= 97) {
        b.n = n;
        assert_code(read_built(&v, &b), TY_BAD_INPUT);
    }
}

static void changed_files_are_read_or_refused(void** state)
{
    const char* path = test_path(*state, "a.vdb");
    static const char* const grids[] = {"surface", "density", "velocity", NULL};
    int good = 0, refused = 0;
    for (int kind = 0; kind < 3; ++kind) {
        unsigned char *bytes, *copy;
        int64_t n;
        assert_ok(write_three(path, (ty_vdb_compression)kind, kind == 1));
        assert_ok(ty_file_read(path, 1 << 24, &bytes, &n));
        for (uint64_t seed = 0; seed < 1000; ++seed) {
            copy = ty_alloc((size_t)n, 1);
            memcpy(copy, bytes, (size_t)n);
            int64_t length = test_mutate(copy, n, seed);
            copy = ty_realloc(copy, (size_t)length, (size_t)length, 1);
            ty_volume v = {0};
            ty_vdb_listing l;
            ty_status s = ty_volume_read_bytes(&v, copy, length, "mutated", grids[seed % 4]);
            ty_status listed = ty_vdb_list_bytes(&l, copy, length, "mutated");
            good += s.code == TY_OK;
            refused += s.code == TY_BAD_INPUT && s.message[0];
            if (s.code == TY_OK) {
                double x[1][3] = {{0, 0.7, 3.7}}, out[3];
                ty_sampler sampler = ty_volume_sampler(&v);
                ty_sample(&sampler, 1, x, out);
                assert_true(isfinite(out[0]));
            }
            assert_true(listed.code == TY_OK || listed.code == TY_BAD_INPUT);
            ty_volume_free(&v);
            ty_vdb_listing_free(&l);
            ty_free(copy);
        }
        ty_free(bytes);
    }
    assert_int_equal(good + refused, 3000);
    assert_in_range(good, 300, 2700);
}

static void failing_memory_is_reported(void** state)
{
    const char* path = test_path(*state, "a.vdb");
    assert_ok(write_three(path, TY_VDB_BLOSC, false));
    int64_t alive = ty_memory_alive();
    for (int k = 1; k < 30; ++k) {
        ty_volume v = {0};
        ty_vdb_listing l;
        ty_memory_fail_after(k);
        ty_status s = ty_volume_read(&v, path, "surface");
        ty_memory_fail_after(k);
        ty_status listed = ty_vdb_list(&l, path);
        ty_memory_fail_after(0);
        assert_true(s.code == TY_NO_MEMORY || (s.code == TY_OK && k > 5));
        assert_true(listed.code == TY_NO_MEMORY || (listed.code == TY_OK && k > 5));
        ty_volume_free(&v);
        ty_vdb_listing_free(&l);
        assert_int_equal(ty_memory_alive(), alive);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_from_every_compression),
        cmocka_unit_test(same_input_gives_same_bytes),
        cmocka_unit_test(listing_names_grids_and_metadata),
        cmocka_unit_test(samples_of_a_linear_field_are_exact),
        cmocka_unit_test(strides_and_empty_grids),
        cmocka_unit_test(what_cannot_be_read_or_written_says_so),
        cmocka_unit_test(changed_files_are_read_or_refused),
        cmocka_unit_test(failing_memory_is_reported),
    };
    const struct CMUnitTest always[] = {cmocka_unit_test(tiles_are_constant_blocks),
                                        cmocka_unit_test(impossible_trees_are_refused)};
    int failed = cmocka_run_group_tests(always, NULL, NULL);
    if (TETHYS_HAVE_VDB)
        failed += cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
    return failed;
}
