// SPDX-License-Identifier: Apache-2.0
// The peer: hypre's BoomerAMG as preconditioner of conjugate gradients.
#include "core/config.h"

#if TETHYS_HAVE_HYPRE
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>

#include "cli/bench_amg.h"
#include "core/memory.h"

typedef struct problem {
    HYPRE_IJMatrix a;
    HYPRE_IJVector b, x;
    HYPRE_ParCSRMatrix par_a;
    HYPRE_ParVector par_b, par_x;
} problem;

static HYPRE_IJVector make_vector(int n, const double* values, const int* rows)
{
    HYPRE_IJVector v;
    HYPRE_IJVectorCreate(MPI_COMM_SELF, 0, n - 1, &v);
    HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(v);
    HYPRE_IJVectorSetValues(v, n, rows, values);
    HYPRE_IJVectorAssemble(v);
    return v;
}

static ty_status make_problem(const ty_model* model, problem* p)
{
    int n = model->a.n;
    int *rows = ty_alloc((size_t)n, sizeof *rows), *lengths = ty_alloc((size_t)n, sizeof *lengths);
    double* zero = ty_alloc_zero((size_t)n, sizeof *zero);
    bool ok = rows && lengths && zero;
    for (int i = 0; ok && i < n; ++i) {
        rows[i] = i;
        lengths[i] = model->a.row_start[i + 1] - model->a.row_start[i];
    }
    if (ok) {
        HYPRE_IJMatrixCreate(MPI_COMM_SELF, 0, n - 1, 0, n - 1, &p->a);
        HYPRE_IJMatrixSetObjectType(p->a, HYPRE_PARCSR);
        HYPRE_IJMatrixSetRowSizes(p->a, lengths);
        HYPRE_IJMatrixInitialize(p->a);
        HYPRE_IJMatrixSetValues(p->a, n, lengths, rows, model->a.col, model->a.val);
        HYPRE_IJMatrixAssemble(p->a);
        p->b = make_vector(n, model->rhs, rows);
        p->x = make_vector(n, zero, rows);
        HYPRE_IJMatrixGetObject(p->a, (void**)&p->par_a);
        HYPRE_IJVectorGetObject(p->b, (void**)&p->par_b);
        HYPRE_IJVectorGetObject(p->x, (void**)&p->par_x);
    }
    ty_free(rows);
    ty_free(lengths);
    ty_free(zero);
    return ok ? ty_ok() : ty_no_memory("hypre system");
}

static void make_solvers(double tolerance, HYPRE_Solver* pcg, HYPRE_Solver* amg)
{
    enum { PMIS = 8, EXTENDED_I = 6, SYMMETRIC_GS = 6 };
    HYPRE_ParCSRPCGCreate(MPI_COMM_SELF, pcg);
    HYPRE_PCGSetMaxIter(*pcg, 1000);
    HYPRE_PCGSetTol(*pcg, tolerance);
    HYPRE_PCGSetTwoNorm(*pcg, 1);
    HYPRE_BoomerAMGCreate(amg);
    HYPRE_BoomerAMGSetCoarsenType(*amg, PMIS);
    HYPRE_BoomerAMGSetAggNumLevels(*amg, 1);
    HYPRE_BoomerAMGSetInterpType(*amg, EXTENDED_I);
    HYPRE_BoomerAMGSetPMaxElmts(*amg, 4);
    HYPRE_BoomerAMGSetStrongThreshold(*amg, 0.25);
    HYPRE_BoomerAMGSetRelaxType(*amg, SYMMETRIC_GS);
    HYPRE_BoomerAMGSetNumSweeps(*amg, 1);
    HYPRE_BoomerAMGSetTol(*amg, 0.0);
    HYPRE_BoomerAMGSetMaxIter(*amg, 1);
    HYPRE_PCGSetPrecond(*pcg, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                        (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, *amg);
}

// hypre tells the coarsest level that each unknown is on, but not how many entries the levels have.
static int count_levels(HYPRE_Solver amg, int n)
{
    int levels = 0;
    int* coarsest = ty_alloc_zero((size_t)n, sizeof *coarsest);
    if (coarsest && HYPRE_BoomerAMGGetGridHierarchy(amg, coarsest) == 0)
        for (int i = 0; i < n; ++i)
            if (coarsest[i] + 1 > levels) levels = coarsest[i] + 1;
    ty_free(coarsest);
    return levels;
}

static void solve_once(const problem* p, int n, double tolerance, bool first, bool processor_time,
                       bench_result* out)
{
    HYPRE_Solver pcg, amg;
    double start = bench_now(processor_time);
    make_solvers(tolerance, &pcg, &amg);
    HYPRE_ParVectorSetConstantValues(p->par_x, 0.0);
    HYPRE_ParCSRPCGSetup(pcg, p->par_a, p->par_b, p->par_x);
    double middle = bench_now(processor_time);
    HYPRE_ParCSRPCGSolve(pcg, p->par_a, p->par_b, p->par_x);
    double end = bench_now(processor_time);
    if (first || end - start < out->setup_seconds + out->solve_seconds) {
        out->setup_seconds = middle - start;
        out->solve_seconds = end - middle;
        HYPRE_PCGGetNumIterations(pcg, &out->iterations);
        HYPRE_PCGGetFinalRelativeResidualNorm(pcg, &out->residual);
        if (first)
            out->peak_mib = ty_memory_peak_mib();    // counting levels takes memory of its own
        out->levels = count_levels(amg, n);
    }
    HYPRE_BoomerAMGDestroy(amg);
    HYPRE_ParCSRPCGDestroy(pcg);
}

ty_status bench_hypre(const ty_model* model, double tolerance, int repeat, bool processor_time,
                      bench_result* out)
{
    problem p;
    MPI_Init(NULL, NULL);
    HYPRE_Init();
    TY_TRY(make_problem(model, &p));
    for (int k = 0; k < repeat; ++k)
        solve_once(&p, model->a.n, tolerance, k == 0, processor_time, out);
    HYPRE_IJMatrixDestroy(p.a);
    HYPRE_IJVectorDestroy(p.b);
    HYPRE_IJVectorDestroy(p.x);
    HYPRE_Finalize();
    MPI_Finalize();
    return ty_ok();
}
#endif
