// SPDX-License-Identifier: Apache-2.0
// The layout follows OpenVDB 10's Archive.cc, GridDescriptor.cc and Compression.h, file versions
// 222 to 224.
#include "format/vdb_bytes.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#include "core/config.h"
#if TETHYS_HAVE_VDB
#include <blosc.h>
#endif

enum { OLDEST = 222, NEWEST = 224 };    // node mask compression came with 222 (OpenVDB 3.0, 2014)
enum { COMPRESS_ZIP = 1, COMPRESS_MASK = 2, COMPRESS_BLOSC = 4 };

ty_status vdb_damaged(const vdb_bytes* b, const char* what)
{
    return ty_fail_at(TY_BAD_INPUT, b->file, 0, 0,
                      "%s at byte %lld; the VDB file is damaged or cut off: copy or write it again",
                      what, (long long)(b->at - b->begin));
}

const unsigned char* vdb_take(vdb_bytes* b, int64_t n)
{
    if (n < 0 || n > vdb_left(b)) return NULL;
    const unsigned char* at = b->at;
    b->at += n;
    return at;
}

static ty_status take_number(vdb_bytes* b, void* value, int n)
{
    const unsigned char* at = vdb_take(b, n);
    if (!at) return vdb_damaged(b, "the file ends too early");
    memcpy(value, at, (size_t)n);    // the library runs on little-endian machines only
    return ty_ok();
}

ty_status vdb_u32(vdb_bytes* b, uint32_t* value) { return take_number(b, value, 4); }
ty_status vdb_i64(vdb_bytes* b, int64_t* value) { return take_number(b, value, 8); }
ty_status vdb_doubles(vdb_bytes* b, double* values, int n) { return take_number(b, values, 8 * n); }

ty_status vdb_string(vdb_bytes* b, vdb_text* text)
{
    *text = (vdb_text){"", 0};
    TY_TRY(vdb_u32(b, &text->n));
    text->at = (const char*)vdb_take(b, text->n);
    return text->at ? ty_ok() : vdb_damaged(b, "a text is longer than the file");
}

bool vdb_text_is(vdb_text text, const char* s)
{
    return text.n == strlen(s) && memcmp(text.at, s, text.n) == 0;
}

void vdb_text_copy(vdb_text text, char* to, int size)
{
    int n = text.n < (uint32_t)size - 1 ? (int)text.n : size - 1;
    for (int i = 0; i < n; ++i) to[i] = (unsigned char)text.at[i] >= 32 ? text.at[i] : ' ';
    to[n] = 0;
}

ty_status vdb_meta_next(vdb_bytes* b, vdb_meta* meta)
{
    TY_TRY(vdb_string(b, &meta->key));
    TY_TRY(vdb_string(b, &meta->type));
    return vdb_string(b, &meta->value);
}

ty_status vdb_header(vdb_bytes* b)
{
    static const unsigned char magic[8] = {0x20, 0x42, 0x44, 0x56};    // " BDV"
    const unsigned char* at = vdb_take(b, 8);
    uint32_t version = 0;
    if (!at || memcmp(at, magic, 8) != 0)
        return ty_fail_at(TY_BAD_INPUT, b->file, 0, 0, "this is not an OpenVDB file");
    TY_TRY(vdb_u32(b, &version));
    if (version < OLDEST || version > NEWEST)
        return ty_fail_at(
            TY_BAD_INPUT, b->file, 0, 0,
            "file version %u of OpenVDB; %d to %d can be read: write it again with OpenVDB 3 to 11",
            version, OLDEST, NEWEST);
    at = vdb_take(b, 8 + 1 + 36);    // library version, "has offsets", id
    if (!at) return vdb_damaged(b, "the header ends too early");
    if (at[8] == 1) return ty_ok();
    return ty_fail_at(TY_BAD_INPUT, b->file, 0, 0,
                      "written as a stream, which cannot be read; write it as a file");
}

static bool ends_with(vdb_text* text, const char* suffix)
{
    size_t n = strlen(suffix);
    if (text->n < n || memcmp(text->at + text->n - n, suffix, n) != 0) return false;
    text->n -= (uint32_t)n;
    return true;
}

static void classify(vdb_descriptor* d)
{
    static const struct {
        const char* type;
        int width, scalar;
    } kinds[] = {{"Tree_float_5_4_3", 1, 4},
                 {"Tree_double_5_4_3", 1, 8},
                 {"Tree_vec3s_5_4_3", 3, 4},
                 {"Tree_vec3d_5_4_3", 3, 8}};
    d->half = ends_with(&d->type, "_HalfFloat");
    for (int i = 0; i < 4; ++i)
        if (vdb_text_is(d->type, kinds[i].type))
            d->width = kinds[i].width, d->scalar = kinds[i].scalar;
}

ty_status vdb_descriptor_next(vdb_bytes* b, vdb_descriptor* d)
{
    vdb_text parent;
    int64_t buffers_at = 0;
    *d = (vdb_descriptor){0};
    TY_TRY(vdb_string(b, &d->name));
    TY_TRY(vdb_string(b, &d->type));
    TY_TRY(vdb_string(b, &parent));
    d->instance = parent.n > 0;
    TY_TRY(vdb_i64(b, &d->grid_at));
    TY_TRY(vdb_i64(b, &buffers_at));
    TY_TRY(vdb_i64(b, &d->end_at));
    int64_t here = b->at - b->begin, size = b->end - b->begin;
    if (d->grid_at < here || d->end_at < d->grid_at || d->end_at > size)
        return vdb_damaged(b, "a grid lies outside the file");
    const char* mark = d->name.n ? memchr(d->name.at, 0x1e, d->name.n) : NULL;
    if (mark) d->name.n = (uint32_t)(mark - d->name.at);
    classify(d);
    return ty_ok();
}

static float half_to_float(uint16_t h)
{
    int exponent = h >> 10 & 31;
    double fraction = h & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (double)NAN    // infinity too: neither is wanted
                                    : ldexp(fraction + 1024.0, exponent - 25);
    return (float)(h & 0x8000 ? -value : value);
}

static float load_scalar(const unsigned char* at, int size)
{
    uint16_t half;
    float single;
    double wide;
    if (size == 2) return memcpy(&half, at, sizeof half), half_to_float(half);
    if (size == 4) return memcpy(&single, at, sizeof single), single;
    return memcpy(&wide, at, sizeof wide), (float)wide;
}

static bool load_scalars(const unsigned char* at, int n, int size, float* out)
{
    bool finite = true;
    for (int i = 0; i < n; ++i) {
        out[i] = load_scalar(at + (int64_t)i * size, size);
        finite = finite && isfinite(out[i]);
    }
    return finite;
}

ty_status vdb_value(vdb_bytes* b, const vdb_layout* l, float* out)
{
    const unsigned char* at = vdb_take(b, (int64_t)l->width * l->scalar);
    if (!at) return vdb_damaged(b, "the file ends too early");
    return load_scalars(at, l->width, l->scalar, out)
               ? ty_ok()
               : vdb_damaged(b, "a value is not a finite number");
}

static ty_status unpack_blosc(vdb_bytes* b, const unsigned char* packed, int64_t n_packed,
                              const vdb_layout* l, int64_t n)
{
#if TETHYS_HAVE_VDB
    size_t unpacked = 0;
    bool ok = blosc_cbuffer_validate(packed, (size_t)n_packed, &unpacked) == 0 &&
              (int64_t)unpacked >= n && unpacked <= VDB_MAX_VALUES * 24;
    ok = ok && blosc_decompress_ctx(packed, l->scratch, unpacked, 1) == (int)unpacked;
    return ok ? ty_ok() : vdb_damaged(b, "compressed values cannot be unpacked");
#else
    (void)packed, (void)n_packed, (void)l, (void)n;
    return ty_fail_at(TY_NOT_YET, b->file, 0, 0,
                      "compressed with Blosc, which this build lacks; install libopenvdb-dev");
#endif
}

// The next n bytes of values, unpacked; valid until the next call.
static ty_status unpack(vdb_bytes* b, const vdb_layout* l, int64_t n, const unsigned char** bytes)
{
    int64_t packed_size = -n;    // negative: stored as it is
    if (l->compression & (COMPRESS_ZIP | COMPRESS_BLOSC)) TY_TRY(vdb_i64(b, &packed_size));
    if (packed_size <= 0) {
        if (packed_size != -n) return vdb_damaged(b, "values of a wrong length");
        *bytes = vdb_take(b, n);
        return *bytes ? ty_ok() : vdb_damaged(b, "the file ends within a node");
    }
    const unsigned char* packed = vdb_take(b, packed_size);
    if (!packed) return vdb_damaged(b, "the file ends within a node");
    *bytes = l->scratch;
    if (l->compression & COMPRESS_BLOSC) return unpack_blosc(b, packed, packed_size, l, n);
    uLongf unpacked = (uLongf)n;
    bool ok = uncompress(l->scratch, &unpacked, packed, (uLong)packed_size) == Z_OK &&
              unpacked == (uLongf)n;
    return ok ? ty_ok() : vdb_damaged(b, "compressed values cannot be unpacked");
}

// How the inactive values of a node are told; the numbers are the file's.
enum {
    ALL_BACKGROUND,
    ALL_MINUS_BACKGROUND,
    ALL_ONE_VALUE,
    SELECT_MINUS_BACKGROUND,
    SELECT_ONE_VALUE,
    SELECT_TWO_VALUES,
    ALL_STORED
};

typedef struct inactive {
    int how;
    float value[2][3];            // selected by `mask`
    const unsigned char* mask;    // NULL: value[0]
} inactive;

static ty_status read_inactive(vdb_bytes* b, const vdb_layout* l, int count, inactive* r)
{
    const unsigned char* how = vdb_take(b, 1);
    if (!how || *how > ALL_STORED) return vdb_damaged(b, "a node of an unknown kind");
    *r = (inactive){.how = *how};
    for (int c = 0; c < l->width; ++c) {
        r->value[0][c] = r->how == ALL_BACKGROUND ? l->background[c] : -l->background[c];
        r->value[1][c] = l->background[c];
    }
    if (r->how == ALL_ONE_VALUE || r->how == SELECT_ONE_VALUE || r->how == SELECT_TWO_VALUES)
        TY_TRY(vdb_value(b, l, r->value[0]));
    if (r->how == SELECT_TWO_VALUES) TY_TRY(vdb_value(b, l, r->value[1]));
    if (r->how < SELECT_MINUS_BACKGROUND || r->how > SELECT_TWO_VALUES) return ty_ok();
    r->mask = vdb_take(b, count / 8);
    return r->mask ? ty_ok() : vdb_damaged(b, "the file ends within a node");
}

static bool bit(const unsigned char* mask, int i) { return mask[i >> 3] >> (i & 7) & 1; }

static int count_bits(const unsigned char* mask, int count)
{
    int n = 0;
    for (int i = 0; i < count / 8; ++i) n += __builtin_popcount(mask[i]);
    return n;
}

ty_status vdb_values(vdb_bytes* b, const vdb_layout* l, const unsigned char* mask, int count,
                     float* out)
{
    inactive rest;
    TY_TRY(read_inactive(b, l, count, &rest));
    bool masked = l->compression & COMPRESS_MASK && rest.how != ALL_STORED;
    int stored = masked ? count_bits(mask, count) : count;
    int size = l->half ? 2 : l->scalar, width = l->width;
    const unsigned char* bytes = b->at;
    if (stored > 0 || !l->half) TY_TRY(unpack(b, l, (int64_t)stored * width * size, &bytes));
    if (!masked || stored == count)
        return load_scalars(bytes, count * width, size, out)
                   ? ty_ok()
                   : vdb_damaged(b, "a value is not a finite number");
    bool finite = true;
    for (int i = 0; i < count; ++i) {
        float* to = out + (int64_t)i * width;
        if (bit(mask, i)) {
            finite = load_scalars(bytes, width, size, to) && finite;
            bytes += width * size;
        } else {
            memcpy(to, rest.value[rest.mask && bit(rest.mask, i)], (size_t)width * sizeof *to);
        }
    }
    return finite ? ty_ok() : vdb_damaged(b, "a value is not a finite number");
}
