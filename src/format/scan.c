// SPDX-License-Identifier: Apache-2.0
#include "format/scan.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/text.h"

ty_scan ty_scan_begin(const void* bytes, int64_t n, const char* file)
{
    return (ty_scan){.at = bytes, .end = (const char*)bytes + n, .file = file, .line = 1};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == 0;
}

// A backslash, then the end of the line: both are blank.
static int joint_length(const ty_scan* s)
{
    int64_t left = s->end - s->at;
    if (left > 1 && s->at[0] == '\\' && s->at[1] == '\n') return 2;
    return left > 2 && s->at[0] == '\\' && s->at[1] == '\r' && s->at[2] == '\n' ? 3 : 0;
}

static void skip_blanks(ty_scan* s)
{
    while (s->at < s->end) {
        int joint = joint_length(s);
        if (!joint && !is_blank(*s->at)) return;
        s->at += joint ? joint : 1;
        s->line += joint && s->line < INT_MAX;
    }
}

bool ty_scan_word(ty_scan* s, ty_word* word)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at == '\n') return false;
    const char* begin = s->at;
    while (s->at < s->end && !is_blank(*s->at) && *s->at != '\n' && s->at - begin < INT_MAX)
        ++s->at;
    *word = (ty_word){begin, (int)(s->at - begin)};
    return true;
}

bool ty_scan_next_line(ty_scan* s)
{
    const char* end = memchr(s->at, '\n', (size_t)(s->end - s->at));
    s->at = end ? end + 1 : s->end;
    s->line += end && s->line < INT_MAX;
    return s->at < s->end;
}

bool ty_scan_any_word(ty_scan* s, ty_word* word)
{
    while (!ty_scan_word(s, word))
        if (!ty_scan_next_line(s)) return false;
    return true;
}

bool ty_word_is(ty_word w, const char* text)
{
    return (size_t)w.n == strlen(text) && memcmp(w.at, text, (size_t)w.n) == 0;
}

bool ty_word_is_any_case(ty_word w, const char* text)
{
    return (size_t)w.n == strlen(text) && strncasecmp(w.at, text, (size_t)w.n) == 0;
}

bool ty_word_integer(ty_word w, int64_t* value)
{
    bool negative = w.n > 0 && w.at[0] == '-';
    int k = negative || (w.n > 0 && w.at[0] == '+');
    if (w.n == k || w.n - k > 18) return false;
    *value = 0;
    for (; k < w.n; ++k) {
        if (w.at[k] < '0' || w.at[k] > '9') return false;
        *value = *value * 10 + (w.at[k] - '0');
    }
    if (negative) *value = -*value;
    return true;
}

bool ty_word_double(ty_word w, double* value)
{
    return ty_read_double(w.at, w.at + w.n, value) == w.at + w.n;
}

ty_status ty_scan_mistake(const ty_scan* s, ty_word w, const char* format)
{
    char shown[44];
    int n = w.n < 40 ? w.n : 40;
    for (int i = 0; i < n; ++i) shown[i] = w.at[i] > 32 && w.at[i] < 127 ? w.at[i] : '?';
    strcpy(shown + n, n < w.n ? "..." : "");
    const char* mark = strstr(format, "%s");
    int before = mark ? (int)(mark - format) : (int)strlen(format);
    return ty_fail_at(TY_BAD_INPUT, s->file, s->line, 0, "%.*s%s%s", before, format,
                      mark ? shown : "", mark ? mark + 2 : "");
}

ty_status ty_scan_point(ty_scan* s, const char* what, double x[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        ty_word w;
        if (!ty_scan_word(s, &w))
            return ty_fail_at(TY_BAD_INPUT, s->file, s->line, 0,
                              "%s has %d coordinates instead of 3; is the file cut off?", what,
                              axis);
        if (!ty_word_double(w, &x[axis]))
            return ty_scan_mistake(
                s, w, "'%s' is not a finite number; repair the mesh or export it again");
    }
    return ty_ok();
}
