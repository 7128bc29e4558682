// SPDX-License-Identifier: Apache-2.0
// What every call that can fail returns. A value: no ownership, no allocation, safe to copy.
#ifndef TETHYS_STATUS_H
#define TETHYS_STATUS_H

#if defined(_WIN32) || !defined(__GNUC__)
#define TY_API
#else
#define TY_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ty_code {
    TY_OK = 0,
    TY_BAD_INPUT,    // the user's scene, file or option is wrong; the message says where and what to do
    TY_NOT_YET,      // the scene asks for something this version does not have
    TY_EXISTS,       // would destroy an existing result
    TY_IO,           // reading or writing failed: missing file, full disk, no permission
    TY_DAMAGED,      // a file that we wrote does not have the bytes we wrote
    TY_NO_MEMORY,    // allocation failed
    TY_EMPTY,        // nothing to do: no liquid, no surface
    TY_DIVERGED,     // the numbers went wrong: not finite, or a solver that did not converge
    TY_STOPPED,      // asked to stop
    TY_N_CODES
} ty_code;

typedef struct ty_status {
    ty_code code;
    int line, column;    // 1-based place in `file`; 0 when there is none
    char file[160];      // the user's file the message is about; "" when there is none
    char message[600];
} ty_status;

// A word for the code, for logs: "bad input", "out of memory", ...
TY_API const char* ty_code_name(ty_code code);

#ifdef __cplusplus
}
#endif
#endif
