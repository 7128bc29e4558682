// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "format/file.h"
#include "format/vdb.h"
#include "format/vdb_bytes.h"

static const int64_t max_file_bytes = (int64_t)64 << 30;

typedef TY_ARRAY(ty_vdb_text) text_array;
typedef TY_ARRAY(ty_vdb_entry) entry_array;

// A number or a vector as text; what is of another kind as its size.
static void print_value(const vdb_meta* meta, char* out, int size)
{
    static const struct {
        const char* type;
        char kind;
        uint32_t n;
    } kinds[] = {{"float", 'f', 1}, {"double", 'd', 1}, {"int32", 'i', 1}, {"int64", 'l', 1},
                 {"bool", 'b', 1},  {"vec3s", 'f', 3},  {"vec3d", 'd', 3}, {"vec3i", 'i', 3}};
    if (vdb_text_is(meta->type, "string")) {
        vdb_text_copy(meta->value, out, size);
        return;
    }
    snprintf(out, (size_t)size, "(%u bytes)", meta->value.n);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        uint32_t each = kinds[i].kind == 'b'                           ? 1
                        : kinds[i].kind == 'd' || kinds[i].kind == 'l' ? 8
                                                                       : 4;
        if (!vdb_text_is(meta->type, kinds[i].type) || meta->value.n != kinds[i].n * each) continue;
        for (uint32_t k = 0, length = 0; k < kinds[i].n; ++k) {
            union {
                float f;
                double d;
                int32_t i;
                int64_t l;
                bool b;
                unsigned char bytes[8];
            } u = {.l = 0};
            memcpy(u.bytes, meta->value.at + k * each, each);
            char* to = out + length;
            size_t left = (size_t)size - length;
            const char* gap = k ? " " : "";
            int n = kinds[i].kind == 'f'   ? snprintf(to, left, "%s%.9g", gap, (double)u.f)
                    : kinds[i].kind == 'd' ? snprintf(to, left, "%s%.17g", gap, u.d)
                    : kinds[i].kind == 'i' ? snprintf(to, left, "%s%d", gap, u.i)
                    : kinds[i].kind == 'l'
                        ? snprintf(to, left, "%lld", (long long)u.l)
                        : snprintf(to, left, "%s", u.bytes[0] ? "true" : "false");
            length += (uint32_t)n;
        }
    }
}

static ty_status read_texts(vdb_bytes* b, text_array* texts)
{
    uint32_t n = 0;
    TY_TRY(vdb_u32(b, &n));
    for (uint32_t i = 0; i < n; ++i) {
        vdb_meta meta;
        ty_vdb_text text;
        TY_TRY(vdb_meta_next(b, &meta));
        vdb_text_copy(meta.key, text.key, sizeof text.key);
        print_value(&meta, text.value, sizeof text.value);
        if (texts->n < 1000 && !ty_array_push(texts, text))
            return ty_no_memory("a volume's metadata");
    }
    return ty_ok();
}

static ty_status read_entry(vdb_bytes* b, entry_array* entries)
{
    vdb_descriptor d;
    uint32_t compression = 0;
    text_array texts = {0};
    TY_TRY(vdb_descriptor_next(b, &d));
    ty_vdb_entry e = {.width = d.instance ? 0 : d.width};
    vdb_text_copy(d.name, e.name, sizeof e.name);
    vdb_text_copy(d.type, e.type, sizeof e.type);
    b->at = b->begin + d.grid_at;
    ty_status status = vdb_u32(b, &compression);
    if (status.code == TY_OK) status = read_texts(b, &texts);
    e.texts = texts.at;
    e.n_texts = (int)texts.n;
    if (status.code == TY_OK && (entries->n >= 10000 || !ty_array_push(entries, e)))
        status = ty_no_memory("a list of grids");
    if (status.code != TY_OK) ty_array_free(&texts);
    b->at = b->begin + d.end_at;
    return status;
}

static ty_status read_all(vdb_bytes* b, text_array* texts, entry_array* entries)
{
    uint32_t n = 0;
    TY_TRY(vdb_header(b));
    TY_TRY(read_texts(b, texts));
    TY_TRY(vdb_u32(b, &n));
    for (uint32_t i = 0; i < n; ++i) TY_TRY(read_entry(b, entries));
    return ty_ok();
}

ty_status ty_vdb_list_bytes(ty_vdb_listing* listing, const void* bytes, int64_t n, const char* name)
{
    vdb_bytes b = {bytes, bytes, (const unsigned char*)bytes + n, name};
    text_array texts = {0};
    entry_array entries = {0};
    ty_status status = read_all(&b, &texts, &entries);
    *listing = (ty_vdb_listing){(int)entries.n, (int)texts.n, entries.at, texts.at};
    if (status.code != TY_OK) ty_vdb_listing_free(listing);
    return status;
}

ty_status ty_vdb_list(ty_vdb_listing* listing, const char* path)
{
    unsigned char* bytes;
    int64_t n;
    *listing = (ty_vdb_listing){0};
    TY_TRY(ty_file_read(path, max_file_bytes, &bytes, &n));
    ty_status status = ty_vdb_list_bytes(listing, bytes, n, path);
    ty_free(bytes);
    return status;
}

void ty_vdb_listing_free(ty_vdb_listing* listing)
{
    for (int i = 0; i < listing->n_grids; ++i) ty_free(listing->grids[i].texts);
    ty_free(listing->grids);
    ty_free(listing->texts);
    *listing = (ty_vdb_listing){0};
}
