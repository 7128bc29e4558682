// SPDX-License-Identifier: Apache-2.0
#include "core/text.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_NUMBER = 120, MAX_NAME = 40 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

typedef struct decimal {
    uint64_t digits;    // without sign and point
    int n_digits;       // that went into it, at most 19; more make the fast way impossible
    int exponent;       // of ten
    bool negative, exact;
} decimal;

static const char* scan_digits(const char* s, const char* end, decimal* d, bool fraction, int* n)
{
    for (; s < end && is_digit(*s); ++s, ++*n) {
        if (d->n_digits >= 19) {
            d->exact = d->exact && *s == '0';
            d->exponent += !fraction;
            continue;
        }
        d->digits = d->digits * 10 + (uint64_t)(*s - '0');
        d->n_digits += d->digits != 0;
        d->exponent -= fraction;
    }
    return s;
}

static const char* scan_exponent(const char* s, const char* end, decimal* d)
{
    if (s >= end || (*s != 'e' && *s != 'E')) return s;
    const char* p = s + 1;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    if (p >= end || !is_digit(*p)) return s;    // "2em" is 2, then a name
    int value = 0;
    for (; p < end && is_digit(*p); ++p)
        if (value < 100000) value = value * 10 + (*p - '0');
    d->exponent += negative ? -value : value;
    return p;
}

static const char* scan_decimal(const char* s, const char* end, decimal* d)
{
    int n = 0;
    *d = (decimal){.exact = true};
    if (s < end && (*s == '-' || *s == '+')) d->negative = *s++ == '-';
    s = scan_digits(s, end, d, false, &n);
    if (s < end && *s == '.') s = scan_digits(s + 1, end, d, true, &n);
    return n > 0 ? scan_exponent(s, end, d) : NULL;
}

// Exact when digits and power of ten are both doubles: one correctly rounded operation (Clinger's
// fast path).
static bool convert_fast(const decimal* d, double* value)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!d->exact || d->digits > (uint64_t)1 << 53 || abs(d->exponent) > 22) return false;
    double v = (double)d->digits;
    v = d->exponent < 0 ? v / ten[-d->exponent] : v * ten[d->exponent];
    *value = d->negative ? -v : v;
    return true;
}

const char* ty_read_double(const char* s, const char* end, double* value)
{
    decimal d;
    const char* stop = scan_decimal(s, end, &d);
    if (!stop || stop - s > MAX_NUMBER) return NULL;
    if (convert_fast(&d, value)) return stop;
    char copy[MAX_NUMBER + 1];
    memcpy(copy, s, (size_t)(stop - s));
    copy[stop - s] = 0;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);    // glibc's own static object
    if (!c_locale) return NULL;
    *value = strtod_l(copy, NULL, c_locale);
    freelocale(c_locale);
    return isfinite(*value) ? stop : NULL;
}

// Levenshtein's distance, with a swap of neighbours as one step.
static int edit_distance(const char* a, int n, const char* b, int m)
{
    int d[MAX_NAME + 1][MAX_NAME + 1];
    for (int i = 0; i <= n; ++i)
        for (int j = 0; j <= m; ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

const char* ty_nearest_name(const char* name, int n, const char* const* names)
{
    size_t length = strlen(name);
    if (length > MAX_NAME) return NULL;
    const char* nearest = NULL;
    int best = 1 + (int)length / 3;    // a third of the letters may be wrong
    if (length < 2) best = 0;
    for (int i = 0; i < n; ++i) {
        size_t other = strlen(names[i]);
        if (other > MAX_NAME) continue;
        int d = strcasecmp(name, names[i]) == 0
                    ? 0
                    : edit_distance(name, (int)length, names[i], (int)other);
        if (d < best || (d == best && !nearest)) {
            best = d;
            nearest = names[i];
        }
    }
    return nearest;
}
