// SPDX-License-Identifier: Apache-2.0
// What the fuzzers of the mesh readers share: bytes give a mesh whose indices and places are good,
// or a message and an empty mesh.
#ifndef TY_FORMAT_MESH_FUZZ_H
#define TY_FORMAT_MESH_FUZZ_H

#include <stdlib.h>

#include "format/mesh_io.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static inline void fuzz_mesh(ty_status (*read)(ty_tri_mesh*, const void*, int64_t, const char*),
                             const uint8_t* bytes, size_t n)
{
    ty_tri_mesh m = {0};
    ty_tri_mesh_report report;
    ty_status s = read(&m, bytes, (int64_t)n, "fuzz");
    if (s.code == TY_OK) {
        s = ty_tri_mesh_inspect(&m, &report);
        if (s.code == TY_OK && (report.bad_index || report.not_finite)) abort();
    } else if (!s.message[0] || m.n_verts || m.n_tris) {
        abort();
    }
    ty_tri_mesh_free(&m);
}

#endif
