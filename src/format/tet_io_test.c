// SPDX-License-Identifier: Apache-2.0
#include "format/tet_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/file.h"
#include "mesh/stuff.h"
#include "vtu.h"

static void sphere_eval(const void* self, int n, const double (*x)[3], double* out)
{
    (void)self;
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i])) - 0.7;
}

static void make_mesh(ty_tet_mesh* m)
{
    ty_sampler phi = {NULL, 1, INFINITY, sphere_eval};
    ty_stuff s = {0};
    ty_stuff_def def = ty_stuff_default();
    def.cell = 0.05;
    def.box = (ty_box){{-1, -1, -1}, {1, 1, 1}};
    assert_ok(ty_stuff_mesh(&s, &phi, &def, m));
    ty_stuff_free(&s);
}

static void read_back(const char* path, unsigned char** bytes, int64_t* n)
{
    assert_ok(ty_file_read(path, INT64_C(1) << 30, bytes, n));
    unlink(path);
}

static void folder_path(char* path, size_t size, const char* name)
{
    const char* folder = getenv("TMPDIR");
    snprintf(path, size, "%s/tethys_tet_io_%d_%s", folder ? folder : "/tmp", (int)getpid(), name);
}

static void vtu_holds_the_mesh_to_the_bit(void** state)
{
    (void)state;
    ty_tet_mesh m = {0};
    make_mesh(&m);
    assert_true(m.n_tets * 16 > 1 << 18);    // more than one block
    char path[512];
    folder_path(path, sizeof path, "a.vtu");
    assert_ok(ty_tet_write(&m, path));
    int64_t n, size;
    unsigned char* bytes = NULL;
    read_back(path, &bytes, &n);
    unsigned char* points = vtu_array(bytes, "Points", &size);
    assert_int_equal(size, 24 * (int64_t)m.n_verts);
    assert_memory_equal(points, m.vert, (size_t)size);
    unsigned char* tets = vtu_array(bytes, "connectivity", &size);
    assert_int_equal(size, 16 * (int64_t)m.n_tets);
    assert_memory_equal(tets, m.tet, (size_t)size);
    unsigned char* ends = vtu_array(bytes, "offsets", &size);
    int64_t last;
    assert_int_equal(size, 8 * (int64_t)m.n_tets);
    memcpy(&last, ends + size - 8, 8);
    assert_int_equal(last, 4 * (int64_t)m.n_tets);
    free(points);
    free(tets);
    free(ends);
    ty_free(bytes);
    ty_tet_mesh_free(&m);
}

static void text_formats_hold_every_vertex_and_tet(void** state)
{
    (void)state;
    ty_tet_mesh m = {0};
    make_mesh(&m);
    char path[512];
    int64_t n;
    folder_path(path, sizeof path, "a.mesh");
    assert_ok(ty_tet_write(&m, path));
    unsigned char* bytes = NULL;
    read_back(path, &bytes, &n);
    char* at = strstr((char*)bytes, "Vertices\n") + 9;
    assert_int_equal(strtol(at, &at, 10), m.n_verts);
    for (int v = 0; v < m.n_verts; ++v) {
        for (int axis = 0; axis < 3; ++axis) assert_true(strtod(at, &at) == m.vert[v][axis]);
        assert_int_equal(strtol(at, &at, 10), v >= m.n_inner);
    }
    at = strstr(at, "Tetrahedra\n") + 11;
    assert_int_equal(strtol(at, &at, 10), m.n_tets);
    for (int t = 0; t < m.n_tets; ++t) {
        for (int i = 0; i < 4; ++i) assert_int_equal(strtol(at, &at, 10), m.tet[t][i] + 1);
        strtol(at, &at, 10);
    }
    ty_free(bytes);
    folder_path(path, sizeof path, "a.ele");
    assert_ok(ty_tet_write(&m, path));
    read_back(path, &bytes, &n);
    assert_int_equal(strtol((char*)bytes, NULL, 10), m.n_tets);
    ty_free(bytes);
    folder_path(path, sizeof path, "a.node");
    read_back(path, &bytes, &n);
    assert_int_equal(strtol((char*)bytes, NULL, 10), m.n_verts);
    ty_free(bytes);
    ty_tet_mesh_free(&m);
}

static void other_extensions_are_refused_with_a_remedy(void** state)
{
    (void)state;
    ty_tet_mesh m = {0};
    const char* remedy;
    assert_false(ty_tet_can_write("a.stl", &remedy));
    assert_non_null(strstr(remedy, ".vtu"));
    assert_code(ty_tet_write(&m, "a.stl"), TY_BAD_INPUT);
    assert_code(ty_tet_write(&m, "/nowhere/at/all/a.vtu"), TY_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vtu_holds_the_mesh_to_the_bit),
        cmocka_unit_test(text_formats_hold_every_vertex_and_tet),
        cmocka_unit_test(other_extensions_are_refused_with_a_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
