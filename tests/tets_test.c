// SPDX-License-Identifier: Apache-2.0
// `output: {tets: vtu}`: what a run writes is a mesh of tetrahedra that fills the pool, with what
// they hold.
#include "core/memory.h"
#include "core/vec.h"
#include "format/file.h"
#include "program.h"
#include "vtu.h"

// Water 0.43 m deep in a tank with a floor of 1 x 0.5 m.
static const char POOL[] =
    "name: pool\ndomain: {min: [0, 0, 0], size: [1, 0.75, 0.5]}\ncell: 0.0625\n"
    "frames: {count: 2, rate: 24}\nsolver: {kind: tet}\nsurface: {tracker: levelset}\n"
    "liquid:\n  - plane: {point: [0, 0.43, 0], normal: [0, 1, 0]}\n"
    "output: {surface: none, volume: none, tets: vtu}\n";

typedef struct tets {
    unsigned char* bytes;
    int64_t n_points, n_cells;
    double (*point)[3], (*velocity)[3], *pressure, *open;
    int (*vert)[4];
    int64_t* end;
    unsigned char* type;
} tets;

static void* read_array(const tets* f, const char* name, int64_t bytes)
{
    int64_t n;
    void* at = vtu_array(f->bytes, name, &n);
    assert_int_equal(n, bytes);
    return at;
}

static tets read_tets(const char* path)
{
    tets f = {0};
    int64_t n;
    assert_ok(ty_file_read(path, INT64_C(1) << 28, &f.bytes, &n));
    const char* text = (const char*)f.bytes;
    assert_non_null(strstr(text, "<VTKFile type=\"UnstructuredGrid\""));
    f.n_points = vtu_number(text, "NumberOfPoints");
    f.n_cells = vtu_number(text, "NumberOfCells");
    f.point = read_array(&f, "Points", 24 * f.n_points);
    f.vert = read_array(&f, "connectivity", 16 * f.n_cells);
    f.end = read_array(&f, "offsets", 8 * f.n_cells);
    f.type = read_array(&f, "types", f.n_cells);
    f.velocity = read_array(&f, "velocity", 24 * f.n_cells);
    f.pressure = read_array(&f, "pressure", 8 * f.n_cells);
    f.open = read_array(&f, "open", 8 * f.n_cells);
    assert_int_equal(vtu_number(vtu_tag(text, "velocity"), "NumberOfComponents"), 3);
    assert_int_equal(vtu_number(vtu_tag(text, "pressure"), "NumberOfComponents"), 1);
    return f;
}

static void free_tets(tets* f)
{
    free(f->point), free(f->vert), free(f->end), free(f->type), free(f->velocity),
        free(f->pressure), free(f->open);
    ty_free(f->bytes);
}

static ty_vec3 corner(const tets* f, int64_t t, int i)
{
    assert_true(f->vert[t][i] >= 0 && f->vert[t][i] < f->n_points);
    return ty_load3(f->point[f->vert[t][i]]);
}

static void a_pool_is_filled_with_tetrahedra(void** unused)
{
    (void)unused;
    const char* folder = test_folder("tets");
    char path[1000];
    write_text(folder, "pool.yaml", POOL);
    assert_program(folder, "run pool.yaml -o out --threads 1 -q", 0, NULL);
    snprintf(path, sizeof path, "%s/out/tets/tets.0002.vtu", folder);
    tets f = read_tets(path);
    double open = 0.0;
    assert_true(f.n_cells > 1000);
    for (int64_t t = 0; t < f.n_cells; ++t) {
        ty_vec3 a = corner(&f, t, 0), b = corner(&f, t, 1), c = corner(&f, t, 2),
                d = corner(&f, t, 3);
        double volume = ty_dot(b - a, ty_cross(c - a, d - a)) / 6.0,
               y = 0.25 * (a[1] + b[1] + c[1] + d[1]);
        assert_int_equal(f.type[t], 10);    // VTK_TETRA
        assert_int_equal(f.end[t], 4 * (t + 1));
        assert_true(volume > 0.0);
        assert_in_range((int)(f.open[t] * 1e6), 0, 1000000);
        open += f.open[t] * volume;
        if (f.open[t] < 1.0) continue;
        assert_near(f.pressure[t], 9810.0 * (0.43 - y), 0.1);
        assert_true(ty_norm(ty_load3(f.velocity[t])) < 1e-6);
    }
    assert_near(open, 0.43 * 0.5, 1e-6);
    free_tets(&f);
}

static void grid_has_no_tetrahedra(void** unused)
{
    (void)unused;
    const char* folder = test_folder("no-tets");
    write_text(folder, "pool.yaml", POOL);
    assert_program(folder, "run pool.yaml -o out --threads 1 -q --set solver.kind=grid", 0,
                   "'tets' are not written");
    assert_false(file_exists(folder, "out/tets"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_is_filled_with_tetrahedra),
        cmocka_unit_test(grid_has_no_tetrahedra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
