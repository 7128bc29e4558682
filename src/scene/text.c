// SPDX-License-Identifier: Apache-2.0
#include "scene/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ty_text_add_bytes(ty_text* text, const char* bytes, int64_t n)
{
    if (text->failed || !ty_array_reserve(&text->chars, text->chars.n + n + 1)) {
        text->failed = true;
        return;
    }
    memcpy(text->chars.at + text->chars.n, bytes, (size_t)n);
    text->chars.n += n;
    text->chars.at[text->chars.n] = 0;
}

void ty_text_add(ty_text* text, const char* format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || text->failed || !ty_array_reserve(&text->chars, text->chars.n + n + 1)) {
        text->failed = true;
    } else {
        vsnprintf(text->chars.at + text->chars.n, (size_t)n + 1, format, again);
        text->chars.n += n;
    }
    va_end(again);
}

void ty_text_add_number(ty_text* text, double value)
{
    if (isinf(value)) {
        ty_text_add(text, "%s", value > 0.0 ? ".inf" : "-.inf");
        return;
    }
    char digits[40];
    for (int precision = 6; precision <= 17; ++precision) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    ty_text_add(text, "%s", digits);
}

char* ty_text_take(ty_text* text)
{
    if (!text->failed && !text->chars.at) ty_text_add_bytes(text, "", 0);
    char* chars = text->failed ? NULL : text->chars.at;
    if (chars) text->chars.at = NULL;
    ty_text_free(text);
    return chars;
}

void ty_text_free(ty_text* text)
{
    ty_array_free(&text->chars);
    text->failed = false;
}
