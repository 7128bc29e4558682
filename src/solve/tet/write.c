// SPDX-License-Identifier: Apache-2.0
// The tetrahedra of a step as a file, with what they hold.
#include "format/tet_io.h"
#include "solve/tet/motion.h"

enum { BATCH = TY_SAMPLE_BATCH };

ty_status ty_tetflow_write(const ty_tetflow* tf, const char* path)
{
    const ty_tet_motion* m = &tf->motion[tf->now];
    const ty_tet_mesh* mesh = &m->state.mesh;
    int n = mesh->n_tets;
    double(*u)[3] = ty_alloc((size_t)n + 1, sizeof *u),
    *pressure = ty_alloc((size_t)n + 1, sizeof *pressure);
    ty_status status = u && pressure ? ty_ok() : ty_no_memory("the file of tetrahedra");
    ty_flow flow = ty_tetflow_flow(tf);
    for (int at = 0; status.code == TY_OK && at < n; at += BATCH) {
        double x[BATCH][3];
        int count = n - at < BATCH ? n - at : BATCH;
        for (int i = 0; i < count; ++i) {
            ty_store3(x[i], m->centre.at[at + i]);
            ty_store3(u[at + i], m->state.u.at[at + i]);
        }
        ty_sample(&flow.pressure, count, (const double(*)[3])x, pressure + at);
    }
    const ty_vtu_array arrays[] = {{"velocity", TY_VTU_DOUBLE, 3, u},
                                   {"pressure", TY_VTU_DOUBLE, 1, pressure},
                                   {"open", TY_VTU_DOUBLE, 1, m->state.open.at}};
    ty_vtu file = {.n_points = mesh->n_verts,
                   .n_cells = n,
                   .points = (const double(*)[3])mesh->vert,
                   .cell_type = 10,
                   .verts_per_cell = 4,
                   .verts = n ? mesh->tet[0] : NULL,
                   .n_arrays = 3,
                   .arrays = arrays};
    if (status.code == TY_OK) status = ty_vtu_write(&file, path);
    ty_free(u);
    ty_free(pressure);
    return status;
}
