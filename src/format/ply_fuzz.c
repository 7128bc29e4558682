// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "format/mesh_io.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n)
{
    ty_tri_mesh m = {0};
    ty_tri_mesh_report report;
    char value[16];
    ty_ply_comment(bytes, (int64_t)n, "frame", value, sizeof value);
    ty_status s = ty_ply_read_bytes(&m, bytes, (int64_t)n, "fuzz.ply");
    if (s.code == TY_OK) {
        s = ty_tri_mesh_inspect(&m, &report);
        if (s.code == TY_OK && (report.bad_index || report.not_finite)) abort();
    } else if (!s.message[0] || m.n_verts || m.n_tris) {
        abort();
    }
    ty_tri_mesh_free(&m);
    return 0;
}
