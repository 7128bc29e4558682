// SPDX-License-Identifier: Apache-2.0
#include "api/text.h"

#include <stdarg.h>
#include <stdio.h>

void ty_text_print(ty_text* text, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (text->failed || !ty_array_reserve(&text->chars, text->chars.n + n + 1)) {
        text->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(text->chars.at + text->chars.n, (size_t)n + 1, format, args);
    va_end(args);
    text->chars.n += n;
}

ty_status ty_text_take(ty_text* text, char** out)
{
    if (!text->failed && text->chars.n == 0) ty_text_print(text, "%s", "");
    *out = text->chars.at;
    bool failed = text->failed;
    if (failed) {
        ty_free(text->chars.at);
        *out = NULL;
    }
    *text = (ty_text){0};
    return failed ? ty_no_memory("a text") : ty_ok();
}
