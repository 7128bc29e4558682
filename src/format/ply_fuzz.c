// SPDX-License-Identifier: Apache-2.0
#include "format/mesh_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n)
{
    char value[16];
    ty_ply_comment(bytes, (int64_t)n, "frame", value, sizeof value);
    fuzz_mesh(ty_ply_read_bytes, bytes, n);
    return 0;
}
