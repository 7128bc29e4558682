// SPDX-License-Identifier: Apache-2.0
// OpenVDB takes 30 MB of memory by being loaded, whatever is asked of it: so the one file that needs it,
// vdb_shim.cpp, is a module. Its bytes are part of the library, and it is loaded when the first volume is
// written.
#ifndef TY_FORMAT_VDB_MODULE_H
#define TY_FORMAT_VDB_MODULE_H

#include "format/vdb.h"

typedef ty_status ty_vdb_writer(int n_grids, const ty_vdb_grid* grids, int n_notes,
                                const ty_vdb_note* notes, ty_vdb_compression compression,
                                ty_status (*put_bytes)(void* self, char* bytes, int64_t n),
                                void* self);

// ty_vdb_shim_write. From any thread. Fails with TY_IO when OpenVDB cannot be loaded.
ty_status ty_vdb_module_load(ty_vdb_writer** write);

#endif
