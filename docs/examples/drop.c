// SPDX-License-Identifier: Apache-2.0
// A program that simulates a scene frame by frame and looks at the liquid in memory.
//
//   cc drop.c $(pkg-config --cflags --libs tethys) -o drop && ./drop scene.yaml
#include <stdio.h>
#include <tethys/tethys.h>

static void print_message(void* self, int is_error, const char* text, const char* excerpt)
{
    (void)self;
    (void)is_error;
    fprintf(stderr, "%s\n%s\n", text, excerpt);
}

static int fail(ty_status status)
{
    fprintf(stderr, "%s\n", status.message);
    return 1;
}

int main(int argc, char** argv)
{
    if (argc != 2) return fprintf(stderr, "usage: drop SCENE\n"), 2;
    ty_scene* scene = NULL;
    ty_status status = ty_scene_open(&scene, argv[1], 0, NULL, print_message, NULL);
    if (status.code != TY_OK) return fail(status);

    ty_simulation* simulation = NULL;
    status = ty_simulation_create(&simulation, scene);
    for (int frame = 1; status.code == TY_OK && frame <= 3; ++frame) {
        ty_surface surface;
        status = ty_simulation_surface(simulation, &surface);
        if (status.code != TY_OK) break;
        printf("frame %d, t = %.4f s: %d triangles\n", frame, ty_simulation_time(simulation),
               surface.n_tris);
        status = ty_simulation_advance(simulation);
    }
    ty_simulation_destroy(simulation);
    ty_scene_close(scene);
    return status.code == TY_OK ? 0 : fail(status);
}
