// SPDX-License-Identifier: Apache-2.0
// Text that users write: numbers whatever the locale, and the name they probably meant.
#ifndef TY_CORE_TEXT_H
#define TY_CORE_TEXT_H

#include <stddef.h>

// Reads a decimal number ("-1.5e3") at `s`, never past `end`. Returns the first byte after it, or
// NULL when there is no number, it has more than 120 characters or it is too large for a double.
// Correctly rounded; "nan" and "inf" are not numbers; the decimal sign is always the point.
const char* ty_read_double(const char* s, const char* end, double* value);

// The one of `names` (n strings) that `name` is most likely a misspelling of; NULL when none is
// near.
const char* ty_nearest_name(const char* name, int n, const char* const* names);

#endif
