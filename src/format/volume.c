// SPDX-License-Identifier: Apache-2.0
#include "format/volume.h"

#include <string.h>

#include "core/memory.h"
#include "format/file.h"

static const int64_t max_file_bytes = (int64_t)64 << 30;

void ty_volume_free(ty_volume* v)
{
    ty_free(v->block);
    ty_free(v->values);
    ty_free(v->constants);
    *v = (ty_volume){0};
}

ty_status ty_volume_read(ty_volume* v, const char* path, const char* grid)
{
    unsigned char* bytes;
    int64_t n;
    ty_volume_free(v);
    TY_TRY(ty_file_read(path, max_file_bytes, &bytes, &n));
    ty_status status = ty_volume_read_bytes(v, bytes, n, path, grid);
    ty_free(bytes);
    return status;
}

const float* ty_volume_background(const ty_volume* v) { return v->constants; }

// All voxels of the block that holds voxel (i, j, k): 512 different ones, or (*step = 0) one for
// all.
static const float* find_block(const ty_volume* v, const int voxel[3], int* step)
{
    int64_t at = 0;
    *step = 0;
    for (int axis = 0; axis < 3; ++axis) {
        int64_t b = (int64_t)(voxel[axis] >> 3) -
                    v->first[axis];    // arithmetic shift: rounds down
        if (b < 0 || b >= v->n_blocks[axis]) return v->constants;
        at = at * v->n_blocks[axis] + b;
    }
    int entry = v->block[at];
    if (entry < 0) return v->constants + (int64_t)(-1 - entry) * v->width;
    *step = v->width;
    return v->values + (int64_t)entry * TY_VOLUME_BLOCK * v->width;
}

static int offset_in_block(const int voxel[3])
{
    return (voxel[0] & 7) << 6 | (voxel[1] & 7) << 3 | (voxel[2] & 7);
}

const float* ty_volume_at(const ty_volume* v, int i, int j, int k)
{
    int voxel[3] = {i, j, k}, step;
    const float* block = find_block(v, voxel, &step);
    return block + (int64_t)step * offset_in_block(voxel);
}

ty_box ty_volume_bounds(const ty_volume* v)
{
    ty_box box = ty_box_empty();
    for (int axis = 0; axis < 3 && v->n_blocks[axis] > 0; ++axis) {
        box.lo[axis] = v->origin[axis] + v->cell * 8.0 * v->first[axis];
        box.hi[axis] = box.lo[axis] + v->cell * (8.0 * v->n_blocks[axis] - 1.0);
    }
    return box;
}

// The eight voxels around a point, in the order of `corner` bits x, y, z.
static void find_corners(const ty_volume* v, const int base[3], const float* corner[8])
{
    bool inside = (base[0] & 7) < 7 && (base[1] & 7) < 7 && (base[2] & 7) < 7;
    static const int delta[8] = {0, 64, 8, 72, 1, 65, 9, 73};
    if (inside) {
        int step;
        const float* block = find_block(v, base, &step);
        block += (int64_t)step * offset_in_block(base);
        for (int c = 0; c < 8; ++c) corner[c] = block + step * delta[c];
        return;
    }
    for (int c = 0; c < 8; ++c)
        corner[c] = ty_volume_at(v, base[0] + (c & 1), base[1] + (c >> 1 & 1), base[2] + (c >> 2));
}

static void sample_point(const ty_volume* v, const double x[3], double* out)
{
    int base[3];
    double part[3];
    for (int c = 0; c < v->width; ++c) out[c] = v->constants[c];
    for (int axis = 0; axis < 3; ++axis) {
        double at = (x[axis] - v->origin[axis]) / v->cell, low = floor(at);
        if (!(fabs(low) < 0x1p30)) return;    // far away, or not a number
        base[axis] = (int)low;
        part[axis] = at - low;
    }
    const float* corner[8];
    find_corners(v, base, corner);
    for (int c = 0; c < v->width; ++c) {
        double along_x[4], along_y[2];
        for (int k = 0; k < 4; ++k) {
            double a = corner[2 * k][c], b = corner[2 * k + 1][c];
            along_x[k] = a + part[0] * (b - a);
        }
        for (int k = 0; k < 2; ++k)
            along_y[k] = along_x[2 * k] + part[1] * (along_x[2 * k + 1] - along_x[2 * k]);
        out[c] = along_y[0] + part[2] * (along_y[1] - along_y[0]);
    }
}

static void sample(const void* self, int n, const double (*x)[3], double* out)
{
    const ty_volume* v = self;
    for (int i = 0; i < n; ++i) sample_point(v, x[i], out + (int64_t)i * v->width);
}

ty_sampler ty_volume_sampler(const ty_volume* v)
{
    return (ty_sampler){.self = v, .width = v->width, .exact_band = 0.0, .eval = sample};
}
