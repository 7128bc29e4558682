// SPDX-License-Identifier: Apache-2.0
#include "format/mesh_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n)
{
    fuzz_mesh(ty_obj_read_bytes, bytes, n);
    return 0;
}
