// SPDX-License-Identifier: Apache-2.0
// The input once as a whole archive, and once as the body of one whose header and hash fit: the
// hash would otherwise keep every change away from the code behind it.
#include "core/archive.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void load(const void* bytes, int64_t n)
{
    ty_archive ar;
    double time;
    int ids[2];
    void* values = NULL;
    int64_t n_values = 0;
    TY_ARRAY(int) grown = {0};
    ty_status s = ty_archive_load_begin(&ar, "fuzz.tyc", bytes, n);
    if (s.code == TY_OK) s = ty_archive_f64(&ar, "time", &time, 1);
    if (s.code == TY_OK) s = ty_archive_array(&ar, "phi", &values, &n_values, 8);
    if (s.code == TY_OK) s = ty_archive_i32(&ar, "ids", ids, 2);
    if (s.code == TY_OK) s = ty_archive_growing(&ar, "grown", &grown);
    if (s.code == TY_OK) s = ty_archive_load_finish(&ar);
    if (s.code != TY_OK && !s.message[0]) abort();
    ty_free(values);
    ty_array_free(&grown);
    ty_archive_free(&ar);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n)
{
    load(bytes, (int64_t)n);
    ty_archive ar = ty_archive_save_begin("fuzz.tyc");
    if (ty_array_resize(&ar.bytes, (int64_t)n)) {
        if (n) memcpy(ar.bytes.at, bytes, n);
        if (ty_archive_save_finish(&ar).code == TY_OK) load(ar.bytes.at, ar.bytes.n);
    }
    ty_archive_free(&ar);
    return 0;
}
