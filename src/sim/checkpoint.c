// SPDX-License-Identifier: Apache-2.0
#include "sim/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/config.h"
#include "core/hash.h"
#include "format/file.h"

static const int64_t MAX_CHECKPOINT = (int64_t)1 << 40;

const char* ty_checkpoint_path(const char* dir, int number, char* out, int size)
{
    if (number == TY_CHECKPOINT_STOPPED)
        snprintf(out, (size_t)size, "%s/checkpoint/stopped.tyc", dir);
    else snprintf(out, (size_t)size, "%s/checkpoint/frame.%04d.tyc", dir, number);
    return out;
}

static ty_status archive_head(ty_checkpoint_head* head, ty_archive* ar)
{
    TY_TRY(ty_archive_fixed(ar, "version", head->version, sizeof head->version, 1));
    TY_TRY(ty_archive_fixed(ar, "name", head->name, sizeof head->name, 1));
    TY_TRY(ty_archive_fixed(ar, "tracker", head->tracker, sizeof head->tracker, 1));
    TY_TRY(ty_archive_fixed(ar, "solver", head->solver, sizeof head->solver, 1));
    TY_TRY(ty_archive_fixed(ar, "scene_hash", &head->scene_hash, 1, sizeof head->scene_hash));
    TY_TRY(ty_archive_f64(ar, "head_time", &head->time, 1));
    TY_TRY(ty_archive_i32(ar, "head_frame", &head->frame, 1));
    return ty_archive_i64(ar, "head_step", &head->step, 1);
}

static ty_checkpoint_head make_head(const ty_sim* sim)
{
    const ty_sim_def* def = sim->def;
    ty_checkpoint_head head = {.scene_hash = def->scene_hash,
                               .time = sim->time,
                               .frame = def->frame_start + sim->frame,
                               .step = sim->step,
                               .version = TY_VERSION};
    strncpy(head.name, def->name ? def->name : "", sizeof head.name - 1);
    strncpy(head.tracker, sim->tracker_kind ? sim->tracker_kind->name : "",
            sizeof head.tracker - 1);
    strncpy(head.solver, sim->solver_kind->name, sizeof head.solver - 1);
    return head;
}

// One hash over the contents of the input files, in the scene's order.
static uint64_t inputs_hash(const ty_sim_def* def)
{
    ty_hash h = ty_hash_begin();
    for (int i = 0; i < def->n_inputs; ++i)
        ty_hash_add(&h, &def->inputs[i].hash, sizeof def->inputs[i].hash);
    return ty_hash_end(&h);
}

ty_status ty_checkpoint_save(const char* dir, int number, ty_sim* sim, ty_checkpoint_extra extra)
{
    char path[4096];
    ty_checkpoint_path(dir, number, path, sizeof path);
    ty_checkpoint_head head = make_head(sim);
    uint64_t inputs = inputs_hash(sim->def);
    ty_archive ar = ty_archive_save_begin(path);
    ty_status status;
    TY_TRY_GOTO(status, archive_head(&head, &ar), done);
    TY_TRY_GOTO(status, ty_archive_fixed(&ar, "inputs", &inputs, 1, sizeof inputs), done);
    TY_TRY_GOTO(status, ty_archive_i64(&ar, "text_lengths", &extra.stats_length, 2), done);
    TY_TRY_GOTO(status, ty_sim_archive(sim, &ar), done);
    TY_TRY_GOTO(status, ty_archive_save_finish(&ar), done);
    status = ty_file_write(path, ar.bytes.at, ar.bytes.n);
done:
    ty_archive_free(&ar);
    return status;
}

static ty_status open_archive(const char* path, ty_archive* ar)
{
    unsigned char* bytes = NULL;
    int64_t n = 0;
    TY_TRY(ty_file_read(path, MAX_CHECKPOINT, &bytes, &n));
    ty_status status = ty_archive_load_begin(ar, path, bytes, n);
    ty_free(bytes);
    return status;
}

ty_status ty_checkpoint_read_head(const char* path, ty_checkpoint_head* head)
{
    ty_archive ar = {0};
    ty_status status = open_archive(path, &ar);
    if (status.code == TY_OK) status = archive_head(head, &ar);
    ty_archive_free(&ar);
    head->name[sizeof head->name - 1] = head->tracker[sizeof head->tracker - 1] = 0;
    head->solver[sizeof head->solver - 1] = head->version[sizeof head->version - 1] = 0;
    return status;
}

static ty_status check_scene(const ty_sim* sim, const char* path, const ty_checkpoint_head* head,
                             uint64_t inputs, bool force)
{
    ty_checkpoint_head own = make_head(sim);
    if (strcmp(head->tracker, own.tracker) != 0 || strcmp(head->solver, own.solver) != 0)
        return ty_fail_at(
            TY_BAD_INPUT, path, 0, 0,
            "made with tracker '%s' and solver '%s', the scene now asks for '%s' and '%s'; start "
            "anew with --overwrite or in another folder",
            head->tracker, head->solver, own.tracker, own.solver);
    if (force) return ty_ok();
    if (head->scene_hash != own.scene_hash)
        return ty_fail_at(
            TY_BAD_INPUT, path, 0, 0,
            "the scene has changed since this checkpoint; resume with --force to go on with the "
            "changed scene, or start anew with --overwrite");
    if (inputs != inputs_hash(sim->def))
        return ty_fail_at(
            TY_BAD_INPUT, path, 0, 0,
            "a file that the scene reads has changed since this checkpoint; resume with --force to "
            "go on with the changed file, or start anew with --overwrite");
    return ty_ok();
}

static ty_status load_state(ty_sim* sim, ty_archive* ar)
{
    TY_TRY(ty_sim_archive(sim, ar));
    return ty_archive_load_finish(ar);
}

// The hash did fit, so what does not is no damage, and older checkpoints will not fit either.
static ty_status check_layout(const char* path, ty_status found)
{
    if (found.code != TY_DAMAGED) return found;
    return ty_fail_at(TY_BAD_INPUT, path, 0, 0,
                      "written by another version of the program (%s); resume with that one, or "
                      "start anew with --overwrite",
                      found.message);
}

ty_status ty_checkpoint_load(const char* dir, int number, bool force, ty_sim* sim,
                             ty_checkpoint_extra* extra)
{
    char path[4096];
    ty_checkpoint_path(dir, number, path, sizeof path);
    ty_archive ar = {0};
    ty_checkpoint_head head = {0};
    uint64_t inputs = 0;
    ty_status status;
    TY_TRY_GOTO(status, open_archive(path, &ar), done);
    TY_TRY_GOTO(status, archive_head(&head, &ar), done);
    TY_TRY_GOTO(status, ty_archive_fixed(&ar, "inputs", &inputs, 1, sizeof inputs), done);
    TY_TRY_GOTO(status, check_scene(sim, path, &head, inputs, force), done);
    TY_TRY_GOTO(status, ty_archive_i64(&ar, "text_lengths", &extra->stats_length, 2), done);
    status = check_layout(path, load_state(sim, &ar));
done:
    ty_archive_free(&ar);
    return status;
}

static int compare_ints(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

ty_status ty_checkpoint_list(const char* dir, int** numbers, int* n)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/checkpoint", dir);
    *numbers = NULL;
    *n = 0;
    DIR* folder = opendir(path);
    if (!folder) return errno == ENOENT ? ty_ok() : ty_io_error("open folder", path);
    TY_ARRAY(int) list = {0};
    bool ok = true;
    for (struct dirent* entry; ok && (entry = readdir(folder));) {
        int number, end = 0;
        if (sscanf(entry->d_name, "frame.%d.tyc%n", &number, &end) == 1 && end &&
            !entry->d_name[end])
            ok = ty_array_push(&list, number);
    }
    closedir(folder);
    if (!ok) {
        ty_array_free(&list);
        return ty_no_memory("a list of checkpoints");
    }
    if (list.n) qsort(list.at, (size_t)list.n, sizeof *list.at, compare_ints);
    *numbers = list.at;
    *n = (int)list.n;
    return ty_ok();
}

void ty_checkpoint_prune(const char* dir, int keep)
{
    char path[4096];
    unlink(ty_checkpoint_path(dir, TY_CHECKPOINT_STOPPED, path, sizeof path));
    int *numbers, n;
    if (keep <= 0 || ty_checkpoint_list(dir, &numbers, &n).code != TY_OK) return;
    for (int i = 0; i < n - keep; ++i)
        unlink(ty_checkpoint_path(dir, numbers[i], path, sizeof path));
    ty_free(numbers);
}
