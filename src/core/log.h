// SPDX-License-Identifier: Apache-2.0
// What the library has to say beside results. Nothing is printed unless the application asks for it.
#ifndef TY_CORE_LOG_H
#define TY_CORE_LOG_H

#include "tethys/log.h"

void ty_log(ty_log_level level, const char* format, ...) __attribute__((format(printf, 2, 3)));

#endif
