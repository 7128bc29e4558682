// SPDX-License-Identifier: Apache-2.0
// Parallel loops on one pool of threads. Results never depend on the number of threads: the work is
// cut into blocks of a fixed number of items, and sums are taken block by block in order.
//
//   static void scale(void* ctx, ty_range r) { ... for (int64_t i = r.begin; i < r.end; ++i) ... }
//   ty_parallel_for(n, 4096, scale, &args);
//
// A loop started inside a loop runs serially in its caller. The body must not fail: let it write a
// flag.
#ifndef TY_CORE_PARALLEL_H
#define TY_CORE_PARALLEL_H

#include <stdint.h>

typedef struct ty_range {
    int64_t begin, end;
    int64_t block;    // begin / block size
    int worker;       // 0 <= worker < ty_threads(): for scratch memory only, never for results
} ty_range;

// Number of threads of all loops from now on; n <= 0 takes the number of processors. Not from
// inside a loop. Threads that cannot be started are done without.
void ty_threads_set(int n);
int ty_threads(void);
// Ends the pool's threads; the next loop starts them again.
void ty_threads_stop(void);

// body(ctx, range) for every block of `block` items of 0..n. Blocks may run in any order, at the
// same time.
void ty_parallel_for(int64_t n, int64_t block, void (*body)(void* ctx, ty_range), void* ctx);

// The sum (largest) of body's values over all blocks, added in order of the blocks; 0 (-INFINITY)
// when n is 0.
double ty_parallel_sum(int64_t n, int64_t block, double (*body)(void* ctx, ty_range), void* ctx);
double ty_parallel_max(int64_t n, int64_t block, double (*body)(void* ctx, ty_range), void* ctx);

// out[i] = sum of in[0..i), returns the total; out has n entries.
int64_t ty_prefix_sum(int64_t n, const int* in, int64_t* out);

#endif
