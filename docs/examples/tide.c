// SPDX-License-Identifier: Apache-2.0
// A force of one's own: a tide that swings along `vector`, `speed` times a second, and fades with
// depth below `center` over `scale` metres.
//
//   cc tide.c $(pkg-config --cflags --libs tethys) -lm -o tide && ./tide scene.yaml
//
//   forces:
//     - gravity: [0, -9.81, 0]
//     - custom: {kind: tide, vector: [1, 0, 0], strength: 4, center: [0, 0.5, 0], scale: 0.2, speed: 2}
#include <math.h>
#include <stdio.h>
#include <tethys/force.h>
#include <tethys/tethys.h>

static void tide(void* self, const ty_force_query* q, double (*acceleration)[3])
{
    (void)self;
    double swing = cos(2.0 * 3.14159265358979 * q->speed * q->time);
    for (int i = 0; i < q->n; ++i) {
        double depth = q->center[1] - q->x[i][1];
        double a = q->strength[i] * swing * exp(-(depth > 0.0 ? depth : 0.0) / q->scale);
        for (int axis = 0; axis < 3; ++axis) acceleration[i][axis] += a * q->vector[i][axis];
    }
}

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

// How far the liquid's surface leans to +x: the mean x of its vertices.
static double middle(const ty_surface* s)
{
    double sum = 0.0;
    for (int i = 0; i < s->n_verts; ++i) sum += s->vert[i][0];
    return s->n_verts ? sum / s->n_verts : 0.0;
}

int main(int argc, char** argv)
{
    if (argc != 2) return fprintf(stderr, "usage: tide SCENE\n"), 2;
    ty_status status = ty_add_force("tide", tide, NULL);
    if (status.code != TY_OK) return fail(status);

    ty_scene* scene = NULL;
    status = ty_scene_open(&scene, argv[1], 0, NULL, print_message, NULL);
    if (status.code != TY_OK) return fail(status);
    ty_simulation* simulation = NULL;
    status = ty_simulation_create(&simulation, scene);
    for (int frame = 1; status.code == TY_OK && frame <= 5; ++frame) {
        ty_surface surface;
        status = ty_simulation_surface(simulation, &surface);
        if (status.code != TY_OK) break;
        printf("frame %d: the surface's middle is at x = %.4f m\n", frame, middle(&surface));
        status = ty_simulation_advance(simulation);
    }
    ty_simulation_destroy(simulation);
    ty_scene_close(scene);
    return status.code == TY_OK ? 0 : fail(status);
}
