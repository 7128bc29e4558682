// SPDX-License-Identifier: Apache-2.0
// Workers sleep on a condition variable; a loop wakes them, and all take blocks from one counter.
#include "core/parallel.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

enum {
    MAX_THREADS = 256,
    SUM_CHUNK = 512    // partial sums kept on the stack at a time
};

typedef struct job {
    void (*body)(void* ctx, ty_range);
    void* ctx;
    int64_t n, block, n_blocks;
    atomic_int_fast64_t next;
} job;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    pthread_t thread[MAX_THREADS];
    int n_started;          // helper threads running, beside the caller
    int wanted;             // threads asked for, caller included; 0 = not set yet
    int n_busy;             // helpers still in the current job
    uint64_t generation;    // counts jobs, so that a helper takes each once
    bool stopping;
    job* current;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static _Thread_local bool inside;    // this thread runs a loop's body
static _Thread_local int
    own_worker;    // as which worker: inner loops keep it, so scratch is not shared
static pthread_mutex_t one_loop =
    PTHREAD_MUTEX_INITIALIZER;    // loops of several callers take turns

static void work(job* j, int worker)
{
    inside = true;
    own_worker = worker;
    for (;;) {
        int64_t b = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
        if (b >= j->n_blocks) break;
        int64_t begin = b * j->block, end = begin + j->block;
        j->body(j->ctx, (ty_range){begin, end < j->n ? end : j->n, b, worker});
    }
    inside = false;
}

static void* helper_main(void* arg)
{
    int worker = (int)(intptr_t)arg;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (!pool.stopping && (pool.generation == seen || !pool.current))
            pthread_cond_wait(&pool.wake, &pool.lock);
        if (pool.stopping) break;
        seen = pool.generation;
        job* j = pool.current;
        pthread_mutex_unlock(&pool.lock);
        work(j, worker);
        pthread_mutex_lock(&pool.lock);
        if (--pool.n_busy == 0) pthread_cond_signal(&pool.done);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

static int clamp_threads(int n)
{
    if (n <= 0) n = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
}

int ty_threads(void)
{
    if (!pool.wanted) pool.wanted = clamp_threads(0);
    return pool.wanted;
}

void ty_threads_stop(void)
{
    pthread_mutex_lock(&one_loop);
    pthread_mutex_lock(&pool.lock);
    pool.stopping = true;
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < pool.n_started; ++i) pthread_join(pool.thread[i], NULL);
    pool.n_started = 0;
    pool.stopping = false;
    pthread_mutex_unlock(&one_loop);
}

void ty_threads_set(int n)
{
    n = clamp_threads(n);
    if (n == pool.wanted) return;
    ty_threads_stop();
    pool.wanted = n;
}

static void start_helpers(void)
{
    int wanted = ty_threads() - 1;
    while (pool.n_started < wanted) {
        void* worker = (void*)(intptr_t)(pool.n_started + 1);
        if (pthread_create(&pool.thread[pool.n_started], NULL, helper_main, worker) != 0) break;
        ++pool.n_started;
    }
}

void ty_parallel_for(int64_t n, int64_t block, void (*body)(void* ctx, ty_range), void* ctx)
{
    if (n <= 0) return;
    if (block < 1) block = 1;
    job j = {.body = body, .ctx = ctx, .n = n, .block = block, .n_blocks = (n + block - 1) / block};
    if (inside || j.n_blocks == 1 || ty_threads() == 1) {
        bool outer = inside;
        work(&j, outer ? own_worker : 0);
        inside = outer;
        return;
    }
    pthread_mutex_lock(&one_loop);
    start_helpers();
    pthread_mutex_lock(&pool.lock);
    pool.current = &j;
    pool.n_busy = pool.n_started;
    ++pool.generation;
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
    work(&j, 0);
    pthread_mutex_lock(&pool.lock);
    while (pool.n_busy > 0) pthread_cond_wait(&pool.done, &pool.lock);
    pool.current = NULL;
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&one_loop);
}

typedef struct reduction {
    double (*body)(void* ctx, ty_range);
    void* ctx;
    int64_t offset;    // items before this chunk
    int64_t block;
    double* partial;
} reduction;

static void reduce_block(void* ctx, ty_range r)
{
    reduction* s = ctx;
    ty_range whole = {r.begin + s->offset, r.end + s->offset, r.block + s->offset / s->block,
                      r.worker};
    s->partial[r.block] = s->body(s->ctx, whole);
}

// Chunks of SUM_CHUNK blocks, so that no memory is needed; the order of additions is that of the
// blocks.
static double reduce(int64_t n, int64_t block, double (*body)(void*, ty_range), void* ctx,
                     bool largest)
{
    double partial[SUM_CHUNK], total = largest ? -INFINITY : 0.0;
    if (block < 1) block = 1;
    for (int64_t offset = 0; offset < n; offset += SUM_CHUNK * block) {
        int64_t count = n - offset < SUM_CHUNK * block ? n - offset : SUM_CHUNK * block;
        reduction s = {body, ctx, offset, block, partial};
        ty_parallel_for(count, block, reduce_block, &s);
        for (int64_t b = 0; b < (count + block - 1) / block; ++b)
            total = largest ? fmax(total, partial[b]) : total + partial[b];
    }
    return total;
}

double ty_parallel_sum(int64_t n, int64_t block, double (*body)(void*, ty_range), void* ctx)
{
    return reduce(n, block, body, ctx, false);
}

double ty_parallel_max(int64_t n, int64_t block, double (*body)(void*, ty_range), void* ctx)
{
    return reduce(n, block, body, ctx, true);
}

int64_t ty_prefix_sum(int64_t n, const int* in, int64_t* out)
{
    // Integers: any order gives the same sums, and one pass at memory speed is enough for our
    // sizes.
    int64_t total = 0;
    for (int64_t i = 0; i < n; ++i) {
        int64_t value = in[i];
        out[i] = total;
        total += value;
    }
    return total;
}
