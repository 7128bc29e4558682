// SPDX-License-Identifier: Apache-2.0
#include "world/sequence.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool ty_sequence_changes(const ty_sequence* s) { return s->last > s->first; }

void ty_sequence_path(const ty_sequence* s, int frame, char path[TY_PATH_SIZE])
{
    const char* hashes = strrchr(s->pattern, '#');
    if (!hashes) {
        snprintf(path, TY_PATH_SIZE, "%s", s->pattern);
        return;
    }
    const char* begin = hashes;
    while (begin > s->pattern && begin[-1] == '#') --begin;
    snprintf(path, TY_PATH_SIZE, "%.*s%0*d%s", (int)(begin - s->pattern), s->pattern,
             (int)(hashes + 1 - begin), frame, hashes + 1);
}

ty_status ty_sequence_open(ty_sequence* s, const char* pattern, double rate, int first,
                           ty_place place)
{
    *s = (ty_sequence){pattern, rate, first, first, place};
    if (!pattern || strlen(pattern) + 16 > TY_PATH_SIZE)
        return ty_fail_at(TY_BAD_INPUT, place.file, place.line, place.column,
                          "the file's name is missing or too long");
    char path[TY_PATH_SIZE];
    ty_sequence_path(s, first, path);
    if (access(path, R_OK) != 0)
        return ty_fail_at(TY_IO, place.file, place.line, place.column, "cannot read '%s': %s", path,
                          strerror(errno));
    if (!strchr(pattern, '#')) return ty_ok();
    if (!(rate > 0.0))
        return ty_fail_at(TY_BAD_INPUT, place.file, place.line, place.column,
                          "the files' frame rate must be above 0");
    for (;; ++s->last) {
        ty_sequence_path(s, s->last + 1, path);
        if (access(path, R_OK) != 0) return ty_ok();
    }
}

ty_between ty_sequence_at(const ty_sequence* s, double t, bool starting)
{
    double at = s->first + (t > 0.0 ? t : 0.0) * s->rate;
    if (!ty_sequence_changes(s) || at > s->last || (starting && at == s->last))
        return (ty_between){{s->last, s->last}, 0.0};
    int before = (int)floor(at);
    if (!starting && before > s->first && before == at) --before;    // the pair that leads there
    return (ty_between){{before, before + 1}, at - before};
}

ty_status ty_sequence_fail(const ty_sequence* s, const ty_status* reader)
{
    char text[700];
    return ty_fail_at(reader->code, s->place.file, s->place.line, s->place.column, "%s",
                      ty_status_text(reader, text, sizeof text));
}
