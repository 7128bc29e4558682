// SPDX-License-Identifier: Apache-2.0
#include "format/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "format/test_files.h"
#include "test.h"

static void bytes_come_back_and_no_temporary_stays(void** state)
{
    const char* path = test_path(*state, "a/b/c/x.bin");
    char temporary[300];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    assert_ok(ty_make_folders(test_path(*state, "a/b/c/")));
    assert_ok(ty_make_folders(test_path(*state, "a/b")));
    path = test_path(*state, "a/b/c/x.bin");
    for (int64_t n = 0; n < 400000; n = 3 * n + 1) {
        unsigned char *bytes = ty_alloc((size_t)n, 1), *back;
        for (int64_t i = 0; i < n; ++i) bytes[i] = (unsigned char)(i * 7 + n);
        ty_file_writer w;
        assert_ok(ty_file_begin(&w, path));
        for (int64_t i = 0, step = 1; i < n; i += step, step = 3 * step + 1) {
            if (step > n - i) step = n - i;
            ty_file_put(&w, bytes + i, step);
        }
        assert_ok(ty_file_commit(&w));
        int64_t m;
        assert_ok(ty_file_read(path, n, &back, &m));
        assert_int_equal(m, n);
        assert_memory_equal(bytes, back, (size_t)n);
        assert_int_equal(back[n], 0);
        ty_free(bytes);
        ty_free(back);
        if (n > 0) assert_code(ty_file_read(path, n - 1, &back, &m), TY_BAD_INPUT);
        assert_int_not_equal(access(temporary, F_OK), 0);
    }
}

static void aborting_leaves_the_old_file(void** state)
{
    const char* path = test_path(*state, "old.txt");
    unsigned char* bytes;
    int64_t n;
    assert_ok(ty_file_write(path, "old", 3));
    ty_file_writer w;
    assert_ok(ty_file_begin(&w, path));
    ty_file_print(&w, "new %d\n", 5);
    ty_file_abort(&w);
    assert_ok(ty_file_read(path, 100, &bytes, &n));
    assert_string_equal((char*)bytes, "old");
    ty_free(bytes);
    assert_int_not_equal(access(test_path(*state, "old.txt.tmp"), F_OK), 0);
}

static void a_full_disk_is_called_by_its_name(void** state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    ty_status s = ty_file_write("/dev/full", "x", 1);
    assert_int_equal(s.code, TY_IO);
    assert_non_null(strstr(s.message, "'/dev/full'"));
    assert_non_null(strstr(s.message, "the disk is full"));
    struct stat st;
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));    // not replaced by a file
}

static void failures_name_the_path(void** state)
{
    unsigned char* bytes;
    int64_t n;
    ty_status s = ty_file_read(test_path(*state, "missing.ply"), 10, &bytes, &n);
    assert_int_equal(s.code, TY_IO);
    assert_non_null(strstr(s.message, "missing.ply"));
    assert_non_null(strstr(s.message, "No such file"));
    assert_null(bytes);
    assert_code(ty_file_read(test_path(*state, ""), 10, &bytes, &n), TY_BAD_INPUT);
    assert_code(ty_file_read("/dev/zero", 10, &bytes, &n), TY_BAD_INPUT);
    assert_code(ty_file_write(test_path(*state, "no/such/folder"), "x", 1), TY_IO);
    assert_ok(ty_file_write(test_path(*state, "in-the-way"), "x", 1));
    assert_code(ty_make_folders(test_path(*state, "in-the-way")), TY_IO);
    assert_code(ty_make_folders(test_path(*state, "in-the-way/below")), TY_IO);
    assert_int_equal(mkfifo(test_path(*state, "pipe"), 0600), 0);
    assert_code(ty_file_read(test_path(*state, "pipe"), 10, &bytes, &n), TY_BAD_INPUT);
}

static void rows_are_cut_back_and_continued(void** state)
{
    const char* path = test_path(*state, "stats.csv");
    ty_rows rows;
    unsigned char* bytes;
    int64_t n;
    assert_ok(ty_rows_open(&rows, path, 0));
    assert_ok(ty_rows_append(&rows, "frame,time\n", false));
    assert_ok(ty_rows_append(&rows, "1,0\n", true));
    int64_t kept = rows.length;
    assert_ok(ty_rows_append(&rows, "2,0.5\n", true));
    ty_rows_close(&rows);
    assert_ok(ty_rows_open(&rows, path, kept));
    assert_ok(ty_rows_append(&rows, "2,0.25\n", true));
    ty_rows_close(&rows);
    assert_ok(ty_rows_open(&rows, path, -1));
    assert_ok(ty_rows_append(&rows, "3,0.5\n", true));
    ty_rows_close(&rows);
    assert_ok(ty_file_read(path, 1000, &bytes, &n));
    assert_string_equal((char*)bytes, "frame,time\n1,0\n2,0.25\n3,0.5\n");
    ty_free(bytes);
    assert_code(ty_rows_open(&rows, path, 1000), TY_DAMAGED);
}

static void failing_memory_leaves_nothing_behind(void** state)
{
    const char* path = test_path(*state, "memory.bin");
    assert_ok(ty_file_write(path, "abc", 3));
    int64_t alive = ty_memory_alive();
    for (int k = 1; k <= 5; ++k) {
        unsigned char* bytes;
        int64_t n;
        ty_memory_fail_after(k);
        ty_status written = ty_file_write(path, "abc", 3), read = ty_file_read(path, 3, &bytes, &n);
        ty_memory_fail_after(0);
        assert_true(k > 3 || written.code == TY_NO_MEMORY);
        if (read.code == TY_OK) ty_free(bytes);
        assert_int_equal(ty_memory_alive(), alive);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back_and_no_temporary_stays),
        cmocka_unit_test(aborting_leaves_the_old_file),
        cmocka_unit_test(a_full_disk_is_called_by_its_name),
        cmocka_unit_test(failures_name_the_path),
        cmocka_unit_test(rows_are_cut_back_and_continued),
        cmocka_unit_test(failing_memory_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
