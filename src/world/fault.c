// SPDX-License-Identifier: Apache-2.0
#include "world/fault.h"

#include <string.h>

void ty_fault_init(ty_fault* f)
{
    pthread_mutex_init(&f->lock, NULL);
    f->status = ty_ok();
}

void ty_fault_destroy(ty_fault* f) { pthread_mutex_destroy(&f->lock); }

static int compare(const ty_status* a, const ty_status* b)
{
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    if (a->column != b->column) return a->column < b->column ? -1 : 1;
    return strcmp(a->message, b->message);
}

void ty_fault_note(ty_fault* f, const ty_status* s)
{
    pthread_mutex_lock(&f->lock);
    if (f->status.code == TY_OK || compare(s, &f->status) < 0) f->status = *s;
    pthread_mutex_unlock(&f->lock);
}

ty_status ty_fault_get(ty_fault* f)
{
    pthread_mutex_lock(&f->lock);
    ty_status s = f->status;
    pthread_mutex_unlock(&f->lock);
    return s;
}
