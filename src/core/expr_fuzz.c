// SPDX-License-Identifier: Apache-2.0
#include "core/expr.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n)
{
    char* text = malloc(n + 1);
    memcpy(text, bytes, n);
    text[n] = 0;
    ty_expr* e;
    ty_status s = ty_expr_create(&e, text);
    if (s.code == TY_OK) {
        double x[3][3] = {{0.1, -2.0, 3e9}, {0.0, 0.0, 0.0}, {-1e300, 1e-300, 0.5}}, out[3];
        s = ty_expr_eval_checked(e, 3, x, 0.25, out);
        if (s.code != TY_OK && !s.message[0]) abort();
    } else if (s.column < 1 || s.column > (int)n + 1 || !s.message[0]) {
        abort();
    }
    ty_expr_destroy(e);
    free(text);
    return 0;
}
