// SPDX-License-Identifier: Apache-2.0
#include "format/vdb.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/config.h"
#include "core/hash.h"
#include "format/file.h"
#include "format/vdb_module.h"

ty_vdb_grid ty_vdb_grid_default(void)
{
    return (ty_vdb_grid){.name = "density", .width = 1, .cell = 1.0, .offset = 0.5};
}

#if TETHYS_HAVE_VDB

// magic i64, file version u32, library version 2 x u32, "has offsets" i8, then the id as 36
// characters
enum { ID_AT = 21, ID_LENGTH = 36 };

static bool is_id(const char* s)
{
    for (int i = 0; i < ID_LENGTH; ++i) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s[i] != '-' : !isxdigit((unsigned char)s[i])) return false;
    }
    return true;
}

static void replace_id(char* bytes, int64_t n)
{
    char* id = bytes + ID_AT;
    memset(id, '0', ID_LENGTH);
    uint64_t a = ty_hash_bytes(bytes, (size_t)n), b = ty_mix2(a, (uint64_t)n);
    char text[ID_LENGTH + 1];
    snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16 & 0xFFFF), (unsigned)(a & 0xFFFF), (unsigned)(b >> 48),
             (unsigned long long)(b & 0xFFFFFFFFFFFF));
    memcpy(id, text, ID_LENGTH);
}

static ty_status put(void* self, char* bytes, int64_t n)
{
    if (n < ID_AT + ID_LENGTH || !is_id(bytes + ID_AT))
        return ty_fail(TY_IO, "this version of OpenVDB writes another header; '%s' is not written",
                       (const char*)self);
    replace_id(bytes, n);
    return ty_file_write(self, bytes, n);
}

static ty_status check(const ty_vdb_grid* g)
{
    bool ok = g->name && (g->width == 1 || g->width == 3) && g->cell > 0.0 && isfinite(g->cell) &&
              isfinite(g->offset);
    for (int axis = 0; axis < 3; ++axis) ok = ok && g->n[axis] >= 0 && isfinite(g->origin[axis]);
    bool level_set = g->class_ == TY_VDB_LEVEL_SET;
    ok = ok && isfinite(g->background) && g->tolerance >= 0.0f;
    ok = ok && (!level_set || (g->width == 1 && g->background > 0.0f));
    ok = ok && (g->values || g->plane || g->n[0] == 0 || g->n[1] == 0 || g->n[2] == 0);
    return ok ? ty_ok()
              : ty_fail(TY_BAD_INPUT, "grid '%s' cannot be written as asked",
                        g->name ? g->name : "?");
}

ty_status ty_vdb_write(const char* path, int n_grids, const ty_vdb_grid* grids, int n_notes,
                       const ty_vdb_note* notes, ty_vdb_compression compression)
{
    for (int i = 0; i < n_grids; ++i) TY_TRY(check(&grids[i]));
    ty_vdb_writer* write;
    TY_TRY(ty_vdb_module_load(&write));
    return write(n_grids, grids, n_notes, notes, compression, put, (void*)path);
}

#else

ty_status ty_vdb_write(const char* path, int n_grids, const ty_vdb_grid* grids, int n_notes,
                       const ty_vdb_note* notes, ty_vdb_compression compression)
{
    (void)n_grids, (void)grids, (void)n_notes, (void)notes, (void)compression;
    return ty_fail(
        TY_NOT_YET,
        "cannot write '%s': this build lacks OpenVDB; install libopenvdb-dev and build again",
        path);
}

#endif
