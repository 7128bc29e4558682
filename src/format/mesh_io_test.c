// SPDX-License-Identifier: Apache-2.0
#include "format/mesh_io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "format/file.h"
#include "format/test_files.h"
#include "test.h"

static ty_tri_mesh tetrahedron(void)
{
    static const double vert[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int tri[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    ty_tri_mesh m = {0};
    assert_ok(ty_tri_mesh_resize(&m, 4, 4));
    memcpy(m.vert, vert, sizeof vert);
    memcpy(m.tri, tri, sizeof tri);
    return m;
}

static void assert_tetrahedron(const ty_tri_mesh* m)
{
    assert_int_equal(m->n_verts, 4);
    assert_int_equal(m->n_tris, 4);
    assert_ok(ty_tri_mesh_validate(m));
    assert_near(ty_tri_mesh_volume(m), 1.0 / 6.0, 1e-15);
}

static ty_status read_text(ty_status (*read)(ty_tri_mesh*, const void*, int64_t, const char*),
                           ty_tri_mesh* m, const char* text)
{
    return read(m, text, (int64_t)strlen(text), "test");
}

static void ply_keeps_mesh_and_attributes(void** state)
{
    static const struct {
        const char* name;
        int width;
    } attrs[] = {{"velocity", 3}, {"uv", 2}, {"colour", 3}, {"age", 1}, {"stress", 6}};
    ty_tri_mesh m = tetrahedron(), back = {0};
    for (int a = 0; a < 5; ++a) {
        float* values = ty_tri_mesh_add_attribute(&m, attrs[a].name, attrs[a].width);
        for (int i = 0; i < 4 * attrs[a].width; ++i) values[i] = (float)(0.1 * i + a);
    }
    const char* comments[] = {"made by tethys 0.1", "frame 12", "time 0.5\nelement vertex 9"};
    const char* path = test_path(*state, "a.ply");
    assert_ok(ty_ply_write(&m, path, 3, comments));
    assert_ok(ty_mesh_read(&back, path));
    assert_tetrahedron(&back);
    assert_memory_equal(back.vert, m.vert, sizeof(double[4][3]));
    assert_memory_equal(back.tri, m.tri, sizeof(int[4][3]));
    for (int a = 0; a < 4; ++a) {
        float* values = ty_tri_mesh_attribute(&back, attrs[a].name, attrs[a].width);
        assert_non_null(values);
        assert_memory_equal(values, m.attr[a].values, sizeof(float) * 4 * (size_t)attrs[a].width);
    }
    unsigned char* bytes;
    int64_t n;
    char value[40];
    assert_ok(ty_file_read(path, 10000, &bytes, &n));
    const char* end = "end_header\n";
    int64_t header = (char*)memmem(bytes, (size_t)n, end, strlen(end)) - (char*)bytes +
                     (int64_t)strlen(end);
    assert_int_equal(n - header, 4 * 4 * (3 + 3 + 2 + 3 + 1 + 6) + 4 * 13);
    assert_true(ty_ply_comment(bytes, n, "frame", value, sizeof value));
    assert_string_equal(value, "12");
    assert_false(ty_ply_comment(bytes, n, "rate", value, sizeof value));
    ty_free(bytes);
    ty_tri_mesh_free(&m);
    ty_tri_mesh_free(&back);
}

static void ply_writes_what_is_empty_and_refuses_what_is_not_finite(void** state)
{
    ty_tri_mesh m = {0}, back = {0};
    const char* path = test_path(*state, "empty.ply");
    assert_ok(ty_ply_write(&m, path, 0, NULL));
    assert_ok(ty_mesh_read(&back, path));
    assert_int_equal(back.n_verts + back.n_tris, 0);
    m = tetrahedron();
    m.vert[2][1] = NAN;
    assert_code(ty_ply_write(&m, path, 0, NULL), TY_DIVERGED);
    assert_ok(ty_mesh_read(&back, path));    // the old file is still there
    ty_tri_mesh_free(&m);
    ty_tri_mesh_free(&back);
}

static const char ascii_ply[] =
    "ply\r\nformat ascii 1.0\r\ncomment a b\nobj_info x\nelement material 1\nproperty int id\n"
    "element face 3\nproperty list uchar uchar tags\nproperty list int ushort vertex_index\n"
    "element vertex 4\nproperty double x\nproperty uchar quality\nproperty float y\n"
    "property int z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
    "property list uchar float more\nend_header\n7\n"
    "0 3 0 2 1\n2 1 1 3 0 1 3\n0 4 0 3 2 1\n"
    "0 9 0 0 255 0 0 0\n1 9 0 0 0 51 0 1 5\n0 9 1 0 0 0 0 0\n0 9 0 1 0 0 0 2 1 2";

static void ply_reads_any_order_of_elements_and_types(void** state)
{
    (void)state;
    ty_tri_mesh m = {0};
    assert_ok(read_text(ty_ply_read_bytes, &m, ascii_ply));
    assert_int_equal(m.n_verts, 4);
    assert_int_equal(m.n_tris, 4);    // the last face is a fan of two
    static const int fan[2][3] = {{0, 3, 2}, {0, 2, 1}};
    assert_memory_equal(m.tri[2], fan, sizeof fan);
    float* colour = ty_tri_mesh_attribute(&m, "colour", 3);
    assert_non_null(colour);
    assert_true(colour[0] == 1.0f && colour[4] == 0.2f);
    ty_tri_mesh_free(&m);
}

static void ply_reads_big_endian(void** state)
{
    (void)state;
    static const char header[] =
        "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty short x\nproperty float y\n"
        "property double z\nelement face 1\nproperty list uint int vertex_indices\nend_header\n";
    unsigned char bytes[400], *to = bytes + strlen(header);
    memcpy(bytes, header, strlen(header));
    static const unsigned char vertex[14] = {0xFF, 0xFE, 0x3F, 0x80, 0, 0, 0x40,
                                             0x04, 0,    0,    0,    0, 0, 0};
    for (int v = 0; v < 3; ++v, to += 14) memcpy(to, vertex, 14);
    static const unsigned char face[16] = {0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2};
    memcpy(to, face, 16);
    to += 16;
    ty_tri_mesh m = {0};
    assert_ok(ty_ply_read_bytes(&m, bytes, to - bytes, "test"));
    assert_true(m.vert[2][0] == -2.0 && m.vert[2][1] == 1.0 && m.vert[2][2] == 2.5);
    assert_int_equal(m.tri[0][2], 2);
    assert_code(ty_ply_read_bytes(&m, bytes, to - bytes - 1, "test"), TY_BAD_INPUT);
    assert_int_equal(m.n_verts + m.n_tris, 0);
}

static const char tetrahedron_obj[] =
    "# a comment\nmtllib x.mtl\no thing\nv 0 0 0\nv 1.0 0 0 1\nv 0 1e0 0\nvt 0 0\nvn 0 0 1\n"
    "f 1 3 2\nv 0 0 \\\n 1\nf 1/1 2/1 4/1\r\nf -4//1 -1//1 -2//1\nusemtl m\nf 2/1/1 3/1/1 4/1/1 # "
    "end";

static void obj_reads_all_forms_of_corners(void** state)
{
    (void)state;
    ty_tri_mesh m = {0};
    assert_ok(read_text(ty_obj_read_bytes, &m, tetrahedron_obj));
    assert_tetrahedron(&m);
    assert_ok(read_text(ty_obj_read_bytes, &m,
                        "f 1 2 3 4 5\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0.5 2 0\nv 0 1 0\n"));
    assert_int_equal(m.n_tris, 3);
    assert_near(ty_tri_mesh_area(&m), 1.5, 1e-15);
    ty_tri_mesh_free(&m);
}

static int64_t tetrahedron_stl(unsigned char bytes[400])
{
    ty_tri_mesh m = tetrahedron();
    memset(bytes, 0, 400);
    strcpy((char*)bytes, "solid but binary");
    bytes[80] = 4;
    for (int t = 0; t < 4; ++t)
        for (int k = 0; k < 9; ++k) {
            float x = (float)m.vert[m.tri[t][k / 3]][k % 3];
            if (x == 0.0f && t == 2) x = -0.0f;
            memcpy(bytes + 84 + 50 * t + 12 + 4 * k, &x, 4);
        }
    ty_tri_mesh_free(&m);
    return 84 + 4 * 50;
}

static int tetrahedron_stl_text(char* text)
{
    ty_tri_mesh m = tetrahedron();
    int n = sprintf(text, "solid two words\n");
    for (int t = 0; t < 4; ++t) {
        n += sprintf(text + n, "facet normal nan 0 0\n outer loop\n");
        for (int k = 0; k < 3; ++k) {
            const double* x = m.vert[m.tri[t][k]];
            n += sprintf(text + n, "  vertex %g %e %f\n", x[0], x[1], x[2]);
        }
        n += sprintf(text + n, " endloop\nendfacet\n");
    }
    ty_tri_mesh_free(&m);
    return n + sprintf(text + n, "endsolid two words\n");
}

static void stl_joins_corners(void** state)
{
    (void)state;
    unsigned char bytes[400];
    char text[2000];
    int64_t n = tetrahedron_stl(bytes);
    ty_tri_mesh m = {0};
    assert_ok(ty_stl_read_bytes(&m, bytes, n, "test"));
    assert_tetrahedron(&m);
    assert_code(ty_stl_read_bytes(&m, bytes + 0, n - 1, "test"), TY_BAD_INPUT);
    assert_ok(ty_stl_read_bytes(&m, text, tetrahedron_stl_text(text), "test"));
    assert_tetrahedron(&m);
    ty_tri_mesh_free(&m);
}

static void mistakes_name_file_place_and_remedy(void** state)
{
    (void)state;
#define HEAD                                                                                       \
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float " \
    "z\n"
#define FACE "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
    static const struct {
        ty_status (*read)(ty_tri_mesh*, const void*, int64_t, const char*);
        const char* text;
        int line;
        const char* part;
    } cases[] = {
        {ty_ply_read_bytes, "", 1, "not a PLY file"},
        {ty_ply_read_bytes, "ply\nformat ascii 1.0\n", 3, "no end_header"},
        {ty_ply_read_bytes, "ply\nelement vertex 1\nproperty int x\nend_header\n", 0,
         "lacks the format"},
        {ty_ply_read_bytes, "ply\nformat zip 1.0\n", 2, "'zip'"},
        {ty_ply_read_bytes, "ply\nformat ascii 1.0\nelement vertex -1\n", 3, "'-1' is not a count"},
        {ty_ply_read_bytes, HEAD "property real w\n", 7, "'real' is not a type"},
        {ty_ply_read_bytes, HEAD FACE "0 0 0\n1 0 0\n0 nan 0\n3 0 1 2\n", 12,
         "'nan' is not a finite number"},
        {ty_ply_read_bytes, HEAD FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", 0,
         "names vertex 3, but there are only 3"},
        {ty_ply_read_bytes, HEAD FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", 13,
         "names a vertex that is not there"},
        {ty_ply_read_bytes, HEAD FACE "0 0 0\n1 0 0\n0 1 0\n2 0 1\n", 13, "fewer than three"},
        {ty_ply_read_bytes, HEAD FACE "0 0 0\n1 0 0\n0 1 0\n99 0 1\n", 13, "longer than the file"},
        {ty_ply_read_bytes, HEAD FACE "0 0 0\n1 0 0\n", 0, "announces 3 vertices"},
        {ty_ply_read_bytes,
         "ply\nformat binary_little_endian 1.0\nelement vertex 2000000000000\nproperty uchar x\n"
         "property uchar y\nproperty uchar z\nend_header\n123123",
         0, "announces 2000000000000 vertices, but there are bytes for 2 at most"},
        {ty_ply_read_bytes,
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", 6,
         "lack x, y or z"},
        {ty_obj_read_bytes, "v 0 0 0\nv 1 0\n", 2, "2 coordinates instead of 3"},
        {ty_obj_read_bytes, "v 0 0 0\nv 1 0 inf\n", 2, "'inf' is not a finite number"},
        {ty_obj_read_bytes, "v 0 0 0\nf 1 1 0\n", 2, "'0' is not a corner"},
        {ty_obj_read_bytes, "v 0 0 0\nf 1 1 -2\n", 2,
         "corner '-2' names a vertex that is not there"},
        {ty_obj_read_bytes, "v 0 0 0\nf 1 1 x/1\n", 2, "'x/1' is not a corner"},
        {ty_obj_read_bytes, "v 0 0 0\nf 1 1 2\n", 2, "names vertex 2, but there are only 1"},
        {ty_obj_read_bytes, "v 0 0 0\nf 1 1\n", 2, "a face has 2 corners"},
        {ty_obj_read_bytes, "hello", 0, "no faces"},
        {ty_stl_read_bytes, "", 0, "too few"},
        {ty_stl_read_bytes, "solid\nfacet\nvertex 1 2\n", 3, "2 coordinates"},
        {ty_stl_read_bytes, "solid\nfacet\nvertex 1 2 nan\n", 3, "'nan'"},
        {ty_stl_read_bytes, "solid\nfacet\nvertex 1 2 3\nendfacet\n", 4, "1 corners instead of 3"},
        {ty_stl_read_bytes, "solid\nfacet\nvertex 1 2 3\n", 4, "ends within a facet"},
        {ty_stl_read_bytes, "solid x\nfacet\n\001\377", 3, "?' does not belong"},
        {ty_stl_read_bytes, "solid x\nendsolid\n", 0, "no triangles"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ty_tri_mesh m = tetrahedron();
        ty_status s = read_text(cases[i].read, &m, cases[i].text);
        if (s.code != TY_BAD_INPUT || s.line != cases[i].line || !strstr(s.message, cases[i].part))
            fail_msg("case %d: %s, line %d: %s", (int)i, ty_code_name(s.code), s.line, s.message);
        assert_string_equal(s.file, "test");
        assert_int_equal(m.n_verts + m.n_tris + m.n_attrs, 0);
    }
    unsigned char bytes[400];
    float nan = NAN;
    int64_t n = tetrahedron_stl(bytes);
    memcpy(bytes + 84 + 50 + 12, &nan, sizeof nan);
    ty_tri_mesh m = {0};
    ty_status s = ty_stl_read_bytes(&m, bytes, n, "test");
    assert_non_null(strstr(s.message, "triangle 2 (byte 146)"));
    assert_code(ty_mesh_read(&m, "mesh.fbx"), TY_BAD_INPUT);
    assert_code(ty_mesh_read(&m, "missing.obj"), TY_IO);
}

static void assert_sound(const ty_tri_mesh* m)
{
    ty_tri_mesh_report report;
    assert_ok(ty_tri_mesh_inspect(m, &report));
    assert_int_equal(report.bad_index + report.not_finite, 0);
}

static void mutate_many(ty_status (*read)(ty_tri_mesh*, const void*, int64_t, const char*),
                        const void* valid, int64_t n, int* good)
{
    unsigned char* bytes = ty_alloc((size_t)n, 1);
    ty_tri_mesh m = {0};
    for (uint64_t seed = 0; seed < 5000; ++seed) {
        memcpy(bytes, valid, (size_t)n);
        int64_t length = test_mutate(bytes, n, seed);
        unsigned char* exact = ty_alloc((size_t)length,
                                        1);    // so that the sanitizer sees one byte too far
        memcpy(exact, bytes, (size_t)length);
        ty_status s = read(&m, exact, length, "mutated");
        ty_free(exact);
        if (s.code == TY_OK) assert_sound(&m), ++*good;
        else if (s.code != TY_BAD_INPUT || !s.message[0])
            fail_msg("seed %d: %s: %s", (int)seed, ty_code_name(s.code), s.message);
    }
    ty_tri_mesh_free(&m);
    ty_free(bytes);
}

static void changed_files_are_read_or_refused(void** state)
{
    ty_tri_mesh m = tetrahedron();
    memset(ty_tri_mesh_add_attribute(&m, "velocity", 3), 0, sizeof(float[4][3]));
    const char* path = test_path(*state, "mutate.ply");
    assert_ok(ty_ply_write(&m, path, 0, NULL));
    unsigned char *bytes, stl[400];
    char text[2000];
    int64_t n;
    int good = 0;
    assert_ok(ty_file_read(path, 10000, &bytes, &n));
    mutate_many(ty_ply_read_bytes, bytes, n, &good);
    mutate_many(ty_ply_read_bytes, ascii_ply, (int64_t)strlen(ascii_ply), &good);
    mutate_many(ty_obj_read_bytes, tetrahedron_obj, (int64_t)strlen(tetrahedron_obj), &good);
    mutate_many(ty_stl_read_bytes, stl, tetrahedron_stl(stl), &good);
    mutate_many(ty_stl_read_bytes, text, tetrahedron_stl_text(text), &good);
    assert_in_range(good, 2000, 23000);    // neither all refused nor all let through
    ty_free(bytes);
    ty_tri_mesh_free(&m);
}

static void failing_memory_is_reported(void** state)
{
    (void)state;
    char text[2000];
    int n = tetrahedron_stl_text(text);
    int64_t alive = ty_memory_alive();
    for (int k = 1; k < 12; ++k)
        for (int format = 0; format < 3; ++format) {
            ty_tri_mesh m = {0};
            ty_memory_fail_after(k);
            ty_status s = format == 0   ? read_text(ty_ply_read_bytes, &m, ascii_ply)
                          : format == 1 ? read_text(ty_obj_read_bytes, &m, tetrahedron_obj)
                                        : ty_stl_read_bytes(&m, text, n, "test");
            ty_memory_fail_after(0);
            assert_true(s.code == TY_NO_MEMORY || (s.code == TY_OK && k > 2));
            ty_tri_mesh_free(&m);
            assert_int_equal(ty_memory_alive(), alive);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ply_keeps_mesh_and_attributes),
        cmocka_unit_test(ply_writes_what_is_empty_and_refuses_what_is_not_finite),
        cmocka_unit_test(ply_reads_any_order_of_elements_and_types),
        cmocka_unit_test(ply_reads_big_endian),
        cmocka_unit_test(obj_reads_all_forms_of_corners),
        cmocka_unit_test(stl_joins_corners),
        cmocka_unit_test(mistakes_name_file_place_and_remedy),
        cmocka_unit_test(changed_files_are_read_or_refused),
        cmocka_unit_test(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
