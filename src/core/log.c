// SPDX-License-Identifier: Apache-2.0
#include "core/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static struct {
    pthread_mutex_t lock;
    ty_log_fn fn, also;
    void *self, *also_self;
    ty_log_level level;
} sink = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ty_log_to(ty_log_fn fn, void* self, ty_log_level level)
{
    pthread_mutex_lock(&sink.lock);
    sink.fn = fn;
    sink.self = self;
    sink.level = level;
    pthread_mutex_unlock(&sink.lock);
}

void ty_log_also_to(ty_log_fn fn, void* self)
{
    pthread_mutex_lock(&sink.lock);
    sink.also = fn;
    sink.also_self = self;
    pthread_mutex_unlock(&sink.lock);
}

void ty_log(ty_log_level level, const char* format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&sink.lock);
    if (sink.fn && level <= sink.level) sink.fn(sink.self, level, text);
    if (sink.also) sink.also(sink.also_self, level, text);
    pthread_mutex_unlock(&sink.lock);
}
