// SPDX-License-Identifier: Apache-2.0
#include "core/archive.h"

#include <string.h>

#include "core/hash.h"

typedef struct header {
    char magic[8];
    uint32_t version, kind;
    uint64_t body, hash;
} header;

static const char magic[8] = {'T', 'E', 'T', 'H', 'Y', 'S', 'A', 'R'};

ty_archive ty_archive_save_begin(const char* file) { return (ty_archive){.file = file}; }

static bool append(ty_archive* ar, const void* bytes, size_t n)
{
    if (!ty_array_reserve(&ar->bytes, ar->bytes.n + (int64_t)n)) return false;
    if (n) memcpy(ar->bytes.at + ar->bytes.n, bytes, n);
    ar->bytes.n += (int64_t)n;
    return true;
}

// The body's hash covers version and kind too, so that no bit of the header can change unseen.
static uint64_t body_hash(const header* h, const unsigned char* body)
{
    ty_hash state = ty_hash_begin();
    ty_hash_add(&state, h, offsetof(header, hash));
    ty_hash_add(&state, body, h->body);
    return ty_hash_end(&state);
}

ty_status ty_archive_save_finish(ty_archive* ar)
{
    int64_t body = ar->bytes.n;
    if (!ty_array_resize(&ar->bytes, body + (int64_t)sizeof(header)))
        return ty_no_memory("a checkpoint");
    memmove(ar->bytes.at + sizeof(header), ar->bytes.at, (size_t)body);
    header h = {.version = TY_ARCHIVE_VERSION, .body = (uint64_t)body};
    memcpy(h.magic, magic, sizeof magic);
    h.hash = body_hash(&h, ar->bytes.at + sizeof h);
    memcpy(ar->bytes.at, &h, sizeof h);
    return ty_ok();
}

ty_status ty_archive_load_begin(ty_archive* ar, const char* file, const void* bytes, int64_t n)
{
    *ar = (ty_archive){.loading = true, .file = file, .at = sizeof(header)};
    header h;
    if (n < (int64_t)sizeof h)
        return ty_fail_at(TY_DAMAGED, file, 0, 0, "too short for a checkpoint (%lld bytes)",
                          (long long)n);
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0)
        return ty_fail_at(TY_DAMAGED, file, 0, 0,
                          "not a Tethys checkpoint, or damaged at its start");
    if (h.version != TY_ARCHIVE_VERSION)
        return ty_fail_at(TY_DAMAGED, file, 0, 0,
                          "checkpoint version %u; this program reads version %d", h.version,
                          TY_ARCHIVE_VERSION);
    if (h.kind != 0 || h.body != (uint64_t)n - sizeof h)
        return ty_fail_at(TY_DAMAGED, file, 0, 0, "damaged: %lld bytes, the header says %llu",
                          (long long)n, (unsigned long long)h.body + sizeof h);
    if (body_hash(&h, (const unsigned char*)bytes + sizeof h) != h.hash)
        return ty_fail_at(TY_DAMAGED, file, 0, 0, "damaged: its hash does not fit its contents");
    if (!append(ar, bytes, (size_t)n)) return ty_no_memory("a checkpoint");
    return ty_ok();
}

ty_status ty_archive_load_finish(const ty_archive* ar)
{
    if (ar->at == ar->bytes.n) return ty_ok();
    return ty_fail_at(TY_DAMAGED, ar->file, 0, 0, "%lld bytes more than expected",
                      (long long)(ar->bytes.n - ar->at));
}

void ty_archive_free(ty_archive* ar) { ty_array_free(&ar->bytes); }

static ty_status save_record(ty_archive* ar, const char* name, const void* values, int64_t n,
                             size_t size)
{
    unsigned char length = (unsigned char)strlen(name);
    uint32_t element = (uint32_t)size;
    uint64_t count = (uint64_t)n;
    bool ok = append(ar, &length, 1) && append(ar, name, length) && append(ar, &element, 4) &&
              append(ar, &count, 8) && append(ar, values, (size_t)n * size);
    return ok ? ty_ok() : ty_no_memory("a checkpoint");
}

// The head of the next record, which must be `name` with elements of `size` bytes; leaves ar->at at
// its values.
static ty_status load_head(ty_archive* ar, const char* name, size_t size, int64_t* n)
{
    size_t length = strlen(name);
    int64_t left = ar->bytes.n - ar->at;
    const unsigned char* p = ar->bytes.at + ar->at;
    if (left < (int64_t)length + 13 || p[0] != length || memcmp(p + 1, name, length) != 0)
        return ty_fail_at(TY_DAMAGED, ar->file, 0, 0, "'%s' is not where it is expected", name);
    uint32_t element;
    uint64_t count;
    memcpy(&element, p + 1 + length, 4);
    memcpy(&count, p + 5 + length, 8);
    left -= (int64_t)length + 13;
    if (element != size || count > (uint64_t)left / size)
        return ty_fail_at(TY_DAMAGED, ar->file, 0, 0, "'%s' has a size that does not fit", name);
    ar->at += (int64_t)length + 13;
    *n = (int64_t)count;
    return ty_ok();
}

ty_status ty_archive_fixed(ty_archive* ar, const char* name, void* values, int64_t n, size_t size)
{
    if (!ar->loading) return save_record(ar, name, values, n, size);
    int64_t stored = 0;
    TY_TRY(load_head(ar, name, size, &stored));
    if (stored != n)
        return ty_fail_at(TY_DAMAGED, ar->file, 0, 0, "'%s' has %lld values, expected %lld", name,
                          (long long)stored, (long long)n);
    if (n) memcpy(values, ar->bytes.at + ar->at, (size_t)n * size);
    ar->at += n * (int64_t)size;
    return ty_ok();
}

ty_status ty_archive_array(ty_archive* ar, const char* name, void** values, int64_t* n, size_t size)
{
    int64_t capacity = *n;
    return ty_archive_growing_(ar, name, values, n, &capacity, size);
}

ty_status ty_archive_growing_(ty_archive* ar, const char* name, void** at, int64_t* n,
                              int64_t* capacity, size_t size)
{
    if (!ar->loading) return save_record(ar, name, *at, *n, size);
    int64_t stored = 0;
    TY_TRY(load_head(ar, name, size, &stored));
    void* fresh = ty_alloc((size_t)stored, size);
    if (!fresh) return ty_no_memory(name);
    if (stored) memcpy(fresh, ar->bytes.at + ar->at, (size_t)stored * size);
    ar->at += stored * (int64_t)size;
    ty_free(*at);
    *at = fresh;
    *n = *capacity = stored;
    return ty_ok();
}
