// SPDX-License-Identifier: Apache-2.0
// For tests that read .vtu files back: arrays of the appended data.
#ifndef TY_TESTS_VTU_H
#define TY_TESTS_VTU_H

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "test.h"

// Unpacks the array at `offset` of the appended data; the caller frees it.
static inline unsigned char* vtu_unpack(const unsigned char* data, int64_t offset, int64_t* n)
{
    uint64_t head[3], size;
    memcpy(head, data + offset, sizeof head);
    *n = (int64_t)((head[0] - (head[2] != 0)) * head[1] + head[2]);
    unsigned char* out = malloc((size_t)*n);
    const unsigned char* from = data + offset + 24 + 8 * head[0];
    for (uint64_t b = 0, at = 0; b < head[0]; ++b) {
        memcpy(&size, data + offset + 24 + 8 * b, sizeof size);
        uLongf room = (uLongf)((uint64_t)*n - at);
        assert_int_equal(uncompress(out + at, &room, from, (uLong)size), Z_OK);
        at += room;
        from += size;
    }
    return out;
}

// The tag of the array, from its name on.
static inline const char* vtu_tag(const char* text, const char* name)
{
    char pattern[80];
    snprintf(pattern, sizeof pattern, "Name=\"%s\"", name);
    const char* at = strstr(text, pattern);
    assert_non_null(at);
    return at;
}

// A number of the XML: what follows `word="` after `from`.
static inline int64_t vtu_number(const char* from, const char* word)
{
    char pattern[80];
    snprintf(pattern, sizeof pattern, "%s=\"", word);
    const char* at = strstr(from, pattern);
    assert_non_null(at);
    return strtoll(at + strlen(pattern), NULL, 10);
}

// An array by its name; the file's bytes end with a 0.
static inline void* vtu_array(const unsigned char* bytes, const char* name, int64_t* n)
{
    const unsigned char* data = (const unsigned char*)strstr((const char*)bytes, "\n_") + 2;
    return vtu_unpack(data, vtu_number(vtu_tag((const char*)bytes, name), "offset"), n);
}

#endif
