// SPDX-License-Identifier: Apache-2.0
// What the library has to say beside results. Nothing is printed unless the application asks for
// it.
#ifndef TY_CORE_LOG_H
#define TY_CORE_LOG_H

#include "tethys/log.h"

void ty_log(ty_log_level level, const char* format, ...) __attribute__((format(printf, 2, 3)));

// A second listener that hears everything, for the log file of a run; NULL ends it.
void ty_log_also_to(ty_log_fn fn, void* self);

#endif
