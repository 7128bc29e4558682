// SPDX-License-Identifier: Apache-2.0
// Where messages go. The library never prints by itself.
#ifndef TETHYS_LOG_H
#define TETHYS_LOG_H

#include "tethys/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ty_log_level { TY_LOG_ERROR, TY_LOG_WARNING, TY_LOG_NOTE, TY_LOG_DETAIL } ty_log_level;

// One message without a newline. May be called from any thread, one at a time.
typedef void (*ty_log_fn)(void* self, ty_log_level level, const char* message);

// Sends messages up to `level` to `fn` from now on; NULL drops them (the default).
TY_API void ty_log_to(ty_log_fn fn, void* self, ty_log_level level);

#ifdef __cplusplus
}
#endif
#endif
