// SPDX-License-Identifier: Apache-2.0
#include "render/image.h"

#include <spng.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/memory.h"
#include "format/file.h"

static const int64_t MAX_PNG_BYTES = (int64_t)1 << 31;
static const char KEY_WORD[] = "tethys";

ty_status ty_image_resize(ty_image* image, int width, int height)
{
    ty_image_free(image);
    if (width < 1 || height < 1 || width > TY_MAX_PICTURE_SIDE || height > TY_MAX_PICTURE_SIDE)
        return ty_fail(TY_BAD_INPUT, "a picture of %d x %d pixels; a side has 1 to %d", width,
                       height, TY_MAX_PICTURE_SIDE);
    image->rgb = ty_alloc_zero((size_t)width * (size_t)height, 3);
    if (!image->rgb) return ty_no_memory("a picture");
    image->width = width;
    image->height = height;
    return ty_ok();
}

void ty_image_free(ty_image* image)
{
    ty_free(image->rgb);
    *image = (ty_image){0};
}

static ty_status encode(spng_ctx* ctx, const ty_image* image, const char* key)
{
    struct spng_ihdr head = {.width = (uint32_t)image->width,
                             .height = (uint32_t)image->height,
                             .bit_depth = 8,
                             .color_type = SPNG_COLOR_TYPE_TRUECOLOR};
    struct spng_text text = {.type = SPNG_TEXT, .text = (char*)key, .length = strlen(key)};
    memcpy(text.keyword, KEY_WORD, sizeof KEY_WORD);
    int failed = spng_set_option(ctx, SPNG_ENCODE_TO_BUFFER, 1);
    if (!failed) failed = spng_set_ihdr(ctx, &head);
    if (!failed) failed = spng_set_srgb(ctx, 0);
    if (!failed && key[0]) failed = spng_set_text(ctx, &text, 1);
    size_t bytes = (size_t)image->width * (size_t)image->height * 3;
    if (!failed)
        failed = spng_encode_image(ctx, image->rgb, bytes, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    return failed ? ty_fail(TY_IO, "cannot encode a PNG: %s", spng_strerror(failed)) : ty_ok();
}

ty_status ty_png_write(const ty_image* image, const char* path, const char* key)
{
    spng_ctx* ctx = spng_ctx_new(SPNG_CTX_ENCODER);
    if (!ctx) return ty_no_memory("a PNG encoder");
    ty_status status = encode(ctx, image, key);
    if (status.code == TY_OK) {
        size_t n = 0;
        int failed = 0;
        void* bytes = spng_get_png_buffer(ctx, &n, &failed);
        status = bytes ? ty_file_write(path, bytes, (int64_t)n) : ty_no_memory("a PNG");
        free(bytes);
    }
    spng_ctx_free(ctx);
    return status;
}

static spng_ctx* open_png(const unsigned char* bytes, int64_t n, struct spng_ihdr* head)
{
    spng_ctx* ctx = spng_ctx_new(0);
    if (!ctx) return NULL;
    spng_set_image_limits(ctx, TY_MAX_PICTURE_SIDE, TY_MAX_PICTURE_SIDE);
    if (!spng_set_png_buffer(ctx, bytes, (size_t)n) && !spng_get_ihdr(ctx, head)) return ctx;
    spng_ctx_free(ctx);
    return NULL;
}

ty_status ty_png_read(ty_image* image, const char* path)
{
    unsigned char* bytes = NULL;
    int64_t n = 0;
    struct spng_ihdr head;
    TY_TRY(ty_file_read(path, MAX_PNG_BYTES, &bytes, &n));
    spng_ctx* ctx = open_png(bytes, n, &head);
    ty_status status = ctx ? ty_image_resize(image, (int)head.width, (int)head.height)
                           : ty_fail_at(TY_BAD_INPUT, path, 0, 0, "not a PNG picture");
    if (status.code == TY_OK) {
        size_t size = (size_t)image->width * (size_t)image->height * 3;
        int failed = spng_decode_image(ctx, image->rgb, size, SPNG_FMT_RGB8, 0);
        if (failed)
            status = ty_fail_at(TY_BAD_INPUT, path, 0, 0, "a damaged PNG: %s",
                                spng_strerror(failed));
    }
    if (ctx) spng_ctx_free(ctx);
    ty_free(bytes);
    if (status.code != TY_OK) ty_image_free(image);
    return status;
}

bool ty_png_has_key(const char* path, const char* key)
{
    unsigned char* bytes = NULL;
    int64_t n = 0;
    struct spng_ihdr head;
    struct stat there;
    if (stat(path, &there) != 0 || ty_file_read(path, MAX_PNG_BYTES, &bytes, &n).code != TY_OK)
        return false;
    spng_ctx* ctx = open_png(bytes, n, &head);
    struct spng_text text[8];
    uint32_t n_texts = 8;
    bool found = false;
    if (ctx && !spng_get_text(ctx, text, &n_texts))
        for (uint32_t i = 0; i < n_texts && i < 8; ++i)
            found |= strcmp(text[i].keyword, KEY_WORD) == 0 && strlen(key) == text[i].length &&
                     memcmp(text[i].text, key, text[i].length) == 0;
    if (ctx) spng_ctx_free(ctx);
    ty_free(bytes);
    return found;
}
