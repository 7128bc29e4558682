// SPDX-License-Identifier: Apache-2.0
#include "format/vdb_module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/status.h"

// TY_VDB_MODULE: the file's name.
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "vdb_module:\n"
        ".incbin \"" TY_VDB_MODULE "\"\n"
        "vdb_module_end:\n"
        ".popsection\n");
extern const char vdb_module[] __attribute__((visibility("hidden"))),
    vdb_module_end[] __attribute__((visibility("hidden")));

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ty_vdb_writer* writer;
static char reason[256];

static bool write_all(int file)
{
    const char* at = vdb_module;
    while (at < vdb_module_end) {
        ssize_t n = write(file, at, (size_t)(vdb_module_end - at));
        if (n <= 0) return false;
        at += n;
    }
    return true;
}

static void load(void)
{
    char path[64];
    void *module = NULL, *found = NULL;
    int file = memfd_create("tethys_vdb", MFD_CLOEXEC);
    bool written = file >= 0 && write_all(file);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (written) module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module) found = dlsym(module, "ty_vdb_shim_write");
    if (!found)
        snprintf(reason, sizeof reason, "%s", written ? dlerror() : "no memory for its module");
    memcpy(&writer, &found, sizeof writer);    // a function's address from an object's
    if (file >= 0) close(file);
}

ty_status ty_vdb_module_load(ty_vdb_writer** write)
{
    pthread_once(&once, load);
    *write = writer;
    return writer ? ty_ok() : ty_fail(TY_IO, "OpenVDB cannot be loaded: %s", reason);
}
