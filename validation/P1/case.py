# SPDX-License-Identifier: Apache-2.0
"""P1: Taylor-Green vortices in two dimensions: steady without viscosity, decaying with it."""
import math
from harness import interpolate, reference, rms

PI2 = 2 * math.pi


def exact(x, y):
    return math.sin(PI2 * x) * math.cos(PI2 * y), -math.cos(PI2 * x) * math.sin(PI2 * y)


def probes(n):
    """On face centres, where the solver's own values are read: u on u's, v on v's."""
    h, step = 1.0 / n, max(1, n // 16)
    points = []
    for j in range(0, n, step):
        for i in range(0, n, step):
            points.append((0, i * h, (j + 0.5) * h))
            points.append((1, (i + 0.5) * h, j * h))
    text = ", ".join(f"{{name: p{k}, velocity: [{p[1]}, {p[2]}, {h / 2}]}}" for k, p in enumerate(points))
    return points, "[" + text + "]"


def simulate(case, n, viscosity=0.0):
    points, text = probes(n)
    r = case.run(f"{n}-cells" + ("-viscous" if viscosity else ""), "vortices.yaml",
                 {"cell": 1.0 / n, "domain.size": [1, 1, 2.0 / n], "solver.viscosity": viscosity, "probes": text}, 1.0 / n)
    decay = math.exp(-2 * PI2 ** 2 * viscosity * 2.0)
    off = [(r.probes[f"p{k}.{'xy'[a]}"][-1] - decay * exact(x, y)[a]) for k, (a, x, y) in enumerate(points)]
    ke = r.stats["kinetic_energy"]
    return math.sqrt(2.0) * rms(off), ke[-1] / ke[0] / decay ** 2 - 1, r


def run(case):
    sizes = (16, 32) if case.quick else (16, 32, 64)
    ref = reference("taylor_green_2d")
    found = [simulate(case, n) for n in sizes]
    order = math.log2(found[-2][0] / found[-1][0])
    n = sizes[-1]
    case.measure(f"energy at t = 2, {n} cells", found[-1][1], None, 0.10, "%")
    case.measure(f"rms error at {n} (Basilisk 4.6e-3 at 64)", found[-1][0], 4.6e-3 if n == 64 else None, 0.2)
    case.within(f"order of the rms error, {n // 2} to {n}", order, (2.9, 9.0), (1.7, 9.0))
    viscous = simulate(case, 32, 0.005)
    case.measure("viscous decay at 32: energy against exp(-16 pi^2 nu t)", viscous[1], None, 0.10, "%")
    plot = case.plot("error", "Taylor-Green vortices, error at t = 2", "cells per period", "rms error", logx=True, logy=True)
    plot.line(case.solver, sizes, [f[0] for f in found])
    plot.dots("Basilisk (published)", ref["N"], ref["rms"])
