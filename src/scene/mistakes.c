// SPDX-License-Identifier: Apache-2.0
#include "scene/mistakes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bytes of the character that starts at p; text was checked to be UTF-8.
static int character_bytes(const char* p)
{
    unsigned char c = (unsigned char)*p;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static const char* find_line(const ty_origin* origin, int line, const char** line_end)
{
    const char *p = origin->text, *end = origin->text + origin->n;
    for (int i = 1; i < line && p < end; ++i) {
        const char* newline = memchr(p, '\n', (size_t)(end - p));
        p = newline ? newline + 1 : end;
    }
    const char* newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    *line_end = newline ? newline : end;
    if (*line_end > p && (*line_end)[-1] == '\r') --*line_end;
    return p;
}

// The line, and a caret below the column. Long lines are shown from near the column.
static void make_excerpt(char* out, size_t size, ty_spot spot)
{
    enum { BEFORE = 60, SHOWN = 100, BYTES = 250 };
    out[0] = 0;
    if (!spot.origin || spot.line < 1 || spot.column < 1) return;
    const char* end;
    const char* p = find_line(spot.origin, spot.line, &end);
    int skipped = 0;
    for (; spot.column - skipped > BEFORE && p < end; ++skipped) p += character_bytes(p);
    char line[BYTES + 1], caret[SHOWN + 2];
    int n = 0, column = 0;
    for (; p < end && column < SHOWN && n + character_bytes(p) <= BYTES; ++column) {
        int bytes = character_bytes(p);
        if (bytes > end - p) break;
        for (int i = 0; i < bytes; ++i) line[n++] = p[i] == '\t' ? ' ' : p[i];
        p += bytes;
    }
    line[n] = 0;
    int blanks = spot.column - skipped - 1;
    if (blanks > column) blanks = column;
    memset(caret, ' ', (size_t)blanks);
    memcpy(caret + blanks, "^", 2);
    snprintf(out, size, "%s\n%s", line, caret);
}

static ty_mistake* add(ty_mistakes* m, ty_spot spot)
{
    if (m->list.n >= TY_MAX_MISTAKES) {
        ++m->n_left_out;
        return NULL;
    }
    if (!ty_array_reserve(&m->list, m->list.n + 1)) {
        m->no_memory = true;
        return NULL;
    }
    ty_mistake* mistake = &m->list.at[m->list.n++];
    memset(mistake, 0, sizeof *mistake);
    mistake->spot = spot;
    make_excerpt(mistake->message.excerpt, sizeof mistake->message.excerpt, spot);
    return mistake;
}

static void fill(ty_mistake* mistake, bool is_error, ty_code code, const char* format, va_list args)
{
    char text[600];
    vsnprintf(text, sizeof text, format, args);
    const ty_origin* origin = mistake->spot.origin;
    mistake->message.is_error = is_error;
    if (!origin) mistake->message.status = ty_fail(code, "%s", text);
    else if (origin->is_file)
        mistake->message.status = ty_fail_at(code, origin->label, mistake->spot.line,
                                             mistake->spot.column, "%s", text);
    else mistake->message.status = ty_fail(code, "%s: %s", origin->label, text);
}

void ty_mistake_add(ty_mistakes* m, ty_code code, ty_spot spot, const char* format, ...)
{
    if (code == TY_NO_MEMORY) m->no_memory = true;
    ++m->n_errors;
    if (code == TY_NOT_YET) ++m->n_not_yet;
    ty_mistake* mistake = add(m, spot);
    if (!mistake) return;
    va_list args;
    va_start(args, format);
    fill(mistake, true, code, format, args);
    va_end(args);
}

void ty_warning_add(ty_mistakes* m, ty_spot spot, const char* format, ...)
{
    ty_mistake* mistake = add(m, spot);
    if (!mistake) return;
    va_list args;
    va_start(args, format);
    fill(mistake, false, TY_OK, format, args);
    va_end(args);
}

static int by_place(const void* a, const void* b)
{
    const ty_spot *p = &((const ty_mistake*)a)->spot, *q = &((const ty_mistake*)b)->spot;
    int order_p = p->origin ? p->origin->order : -1, order_q = q->origin ? q->origin->order : -1;
    if (order_p != order_q) return order_p < order_q ? -1 : 1;
    if (p->line != q->line) return p->line < q->line ? -1 : 1;
    if (p->column != q->column) return p->column < q->column ? -1 : 1;
    return strcmp(((const ty_mistake*)a)->message.status.message,
                  ((const ty_mistake*)b)->message.status.message);
}

static bool same_message(const ty_mistake* a, const ty_mistake* b)
{
    return by_place(a, b) == 0 && a->message.is_error == b->message.is_error;
}

ty_status ty_mistakes_report(ty_mistakes* m, const char* path, ty_scene_report report, void* self)
{
    if (m->list.n > 1) qsort(m->list.at, (size_t)m->list.n, sizeof *m->list.at, by_place);
    for (int64_t i = 0; i < m->list.n; ++i) {
        if (i > 0 && same_message(&m->list.at[i - 1], &m->list.at[i])) {
            if (m->list.at[i].message.is_error) --m->n_errors;
            if (m->list.at[i].message.status.code == TY_NOT_YET) --m->n_not_yet;
            continue;
        }
        if (report) report(self, &m->list.at[i].message);
    }
    if (m->no_memory) return ty_no_memory("the scene");
    if (m->n_errors == 0) return ty_ok();
    ty_code code = m->n_not_yet == m->n_errors ? TY_NOT_YET : TY_BAD_INPUT;
    if (m->n_left_out > 0)
        return ty_fail_at(code, path, 0, 0, "%d mistakes, the first %d are shown", m->n_errors,
                          TY_MAX_MISTAKES);
    return ty_fail_at(code, path, 0, 0, "%d mistake%s", m->n_errors, m->n_errors == 1 ? "" : "s");
}

void ty_mistakes_free(ty_mistakes* m) { ty_array_free(&m->list); }

const char* ty_scene_message_text(const ty_scene_message* message, char* out, int size)
{
    const ty_status* s = &message->status;
    const char* word = message->is_error ? "error" : "warning";
    const char* newline = message->excerpt[0] ? "\n" : "";
    if (s->file[0] && s->line > 0 && s->column > 0)
        snprintf(out, (size_t)size, "%s:%d:%d: %s: %s%s%s", s->file, s->line, s->column, word,
                 s->message, newline, message->excerpt);
    else if (s->file[0] && s->line > 0)
        snprintf(out, (size_t)size, "%s:%d: %s: %s%s%s", s->file, s->line, word, s->message,
                 newline, message->excerpt);
    else if (s->file[0])
        snprintf(out, (size_t)size, "%s: %s: %s%s%s", s->file, word, s->message, newline,
                 message->excerpt);
    else snprintf(out, (size_t)size, "%s: %s%s%s", word, s->message, newline, message->excerpt);
    return out;
}
