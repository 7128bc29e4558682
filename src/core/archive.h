// SPDX-License-Identifier: Apache-2.0
// Saves and loads a state as one flat run of bytes: header, named arrays, hash of the whole. One
// function of a module serves both directions:
//
//   TY_TRY(ty_archive_f64(ar, "time", &self->time, 1));
//   TY_TRY(ty_archive_array(ar, "phi", (void**)&self->phi, &self->n_phi, sizeof *self->phi));
//
// Layout, little endian:
//   magic "TETHYSAR" | version u32 | kind u32 | bytes of the body u64 | hash of the body u64
//   body: records  [name length u8, name][element size u32][count u64][count x size bytes]
// A file with any byte changed, cut off or added is refused before anything is read from it.
#ifndef TY_CORE_ARCHIVE_H
#define TY_CORE_ARCHIVE_H

#include "core/memory.h"

typedef struct ty_archive {
    bool loading;
    TY_ARRAY(unsigned char) bytes;    // saving: the body so far; loading: header and body
    int64_t at;                       // loading: where the next record starts
    const char* file;                 // for messages
} ty_archive;

enum { TY_ARCHIVE_VERSION = 1 };

// Saving: begin, the fields, finish (adds the header; then write bytes.at[0..bytes.n)), free.
ty_archive ty_archive_save_begin(const char* file);
ty_status ty_archive_save_finish(ty_archive* ar);
// Loading: takes over a copy of the bytes, checks header and hash. TY_DAMAGED when they do not fit.
ty_status ty_archive_load_begin(ty_archive* ar, const char* file, const void* bytes, int64_t n);
// Everything was read: nothing may be left.
ty_status ty_archive_load_finish(const ty_archive* ar);
void ty_archive_free(ty_archive* ar);

// A fixed number of values; a stored count that differs is TY_DAMAGED.
ty_status ty_archive_fixed(ty_archive* ar, const char* name, void* values, int64_t n, size_t size);
static inline ty_status ty_archive_f64(ty_archive* ar, const char* name, double* values, int64_t n)
{
    return ty_archive_fixed(ar, name, values, n, sizeof *values);
}
static inline ty_status ty_archive_i32(ty_archive* ar, const char* name, int* values, int64_t n)
{
    return ty_archive_fixed(ar, name, values, n, sizeof *values);
}
static inline ty_status ty_archive_i64(ty_archive* ar, const char* name, int64_t* values, int64_t n)
{
    return ty_archive_fixed(ar, name, values, n, sizeof *values);
}

// An array whose length is part of the state: on loading, *values (from ty_alloc) is freed and made
// anew with exactly *n elements.
ty_status ty_archive_array(ty_archive* ar, const char* name, void** values, int64_t* n,
                           size_t size);
// A growing array of core/memory.h.
#define ty_archive_growing(ar, name, array)                                                        \
    ty_archive_growing_(ar, name, (void**)&(array)->at, &(array)->n, &(array)->capacity,           \
                        sizeof *(array)->at)
ty_status ty_archive_growing_(ty_archive* ar, const char* name, void** at, int64_t* n,
                              int64_t* capacity, size_t size);

#endif
