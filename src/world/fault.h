// SPDX-License-Identifier: Apache-2.0
// What went wrong inside a sampler, which has no way to fail: it goes on with a harmless value and
// leaves a note here, which ty_world_status hands to whoever runs the step.
#ifndef TY_WORLD_FAULT_H
#define TY_WORLD_FAULT_H

#include <pthread.h>

#include "core/status.h"

// Open. Any number of threads may note at once.
typedef struct ty_fault {
    pthread_mutex_t lock;
    ty_status status;
} ty_fault;

void ty_fault_init(ty_fault* f);
void ty_fault_destroy(ty_fault* f);
// Keeps one failure. Of several the same one whatever the order: the lowest line, column, then
// text.
void ty_fault_note(ty_fault* f, const ty_status* s);
ty_status ty_fault_get(ty_fault* f);

#endif
