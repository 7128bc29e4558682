// SPDX-License-Identifier: Apache-2.0
#include "format/vdb.h"

#include <math.h>
#include <stdlib.h>

#include "format/volume.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n)
{
    ty_vdb_listing list;
    ty_status s = ty_vdb_list_bytes(&list, bytes, (int64_t)n, "fuzz.vdb");
    if (s.code != TY_OK && !s.message[0]) abort();
    ty_vdb_listing_free(&list);
    ty_volume v = {0};
    s = ty_volume_read_bytes(&v, bytes, (int64_t)n, "fuzz.vdb", NULL);
    if (s.code == TY_OK) {
        double x[2][3], out[6] = {0};
        ty_box box = ty_volume_bounds(&v);
        for (int axis = 0; axis < 3; ++axis)
            x[0][axis] = box.lo[axis], x[1][axis] = 0.5 * (box.lo[axis] + box.hi[axis]);
        ty_sampler sampler = ty_volume_sampler(&v);
        ty_sample(&sampler, 2, x, out);
        for (int i = 0; i < 6; ++i)
            if (!isfinite(out[i])) abort();
    } else if (!s.message[0] || v.block) {
        abort();
    }
    ty_volume_free(&v);
    return 0;
}
