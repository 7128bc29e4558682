// SPDX-License-Identifier: Apache-2.0
#include "scene/buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

void ty_buffer_add_bytes(ty_buffer* buffer, const char* bytes, int64_t n)
{
    if (buffer->failed || !ty_array_reserve(&buffer->chars, buffer->chars.n + n + 1)) {
        buffer->failed = true;
        return;
    }
    memcpy(buffer->chars.at + buffer->chars.n, bytes, (size_t)n);
    buffer->chars.n += n;
    buffer->chars.at[buffer->chars.n] = 0;
}

void ty_buffer_add(ty_buffer* buffer, const char* format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || buffer->failed || !ty_array_reserve(&buffer->chars, buffer->chars.n + n + 1)) {
        buffer->failed = true;
    } else {
        vsnprintf(buffer->chars.at + buffer->chars.n, (size_t)n + 1, format, again);
        buffer->chars.n += n;
    }
    va_end(again);
}

void ty_buffer_add_number(ty_buffer* buffer, double value)
{
    if (isinf(value)) {
        ty_buffer_add(buffer, "%s", value > 0.0 ? ".inf" : "-.inf");
        return;
    }
    char digits[40];
    for (int precision = 6; precision <= 17; ++precision) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        for (char* p = digits; *p; ++p)
            if (*p == ',') *p = '.';    // the locale's decimal sign
        double back;
        if (ty_read_double(digits, digits + strlen(digits), &back) && back == value) break;
    }
    ty_buffer_add(buffer, "%s", digits);
}

char* ty_buffer_take(ty_buffer* buffer)
{
    if (!buffer->failed && !buffer->chars.at) ty_buffer_add_bytes(buffer, "", 0);
    char* chars = buffer->failed ? NULL : buffer->chars.at;
    if (chars) buffer->chars.at = NULL;
    ty_buffer_free(buffer);
    return chars;
}

void ty_buffer_free(ty_buffer* buffer)
{
    ty_array_free(&buffer->chars);
    buffer->failed = false;
}
