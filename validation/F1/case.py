# SPDX-License-Identifier: Apache-2.0
"""F1: a pool at rest stays at rest, level or tilted, with and without reduced pressure."""
import math

SOLVERS = ("grid", "tet")
DEPTH, G = 0.513, 9.81


def show_paper(case, cell, tilted, plot):
    """The same pools with `method: paper`: [Chentanez2007] section 4 names the flaw, free surfaces that move."""
    for name, extra in (("level", {}), ("tilted", tilted)):
        r = case.run(f"paper-{name}", "pool.yaml", {"cell": cell, "frames.count": 8, "solver.method": "paper",
                                                    "solver.tolerance": 1e-8, **extra}, cell, judged=False)
        speed = [v / math.sqrt(G * DEPTH) for v in r.stats["max_speed"]]
        plot.line(f"tet, method: paper, {name}", r.stats["time"], [max(v, 1e-18) for v in speed])
        case.measure(f"method: paper, {name}: largest speed / sqrt(g h) in 0.3 s", max(speed), None, None)


def run(case):
    cell = 0.1 if case.quick else 0.05
    frames = 25 if case.quick else 241 if case.solver == "grid" else 51
    tilt = math.radians(20.0)
    down = [-math.sin(tilt), -math.cos(tilt), 0.0]
    tilted = {"liquid.0.plane.point": [0.5, DEPTH, 0.5], "liquid.0.plane.normal": [-v for v in down],
              "forces.0.gravity": [G * v for v in down]}
    plot = case.plot("speed", "Speed in a pool at rest", "time, s", "largest speed / sqrt(g h)", logy=True)
    worst = worst_drift = worst_pressure = 0.0
    for name, extra in (("level", {}), ("tilted", tilted)):
        for reduced in (True, False):
            label = f"{name}-{'reduced' if reduced else 'full'}-pressure"
            count = frames if name == "level" and reduced else min(frames, 101)
            r = case.run(label, "pool.yaml", {"cell": cell, "frames.count": count, "solver.reduced_pressure": reduced,
                                              **extra}, cell)
            speed = [v / math.sqrt(G * DEPTH) for v in r.stats["max_speed"]]
            worst = max(worst, max(speed))
            for h in ("h1", "h2"):
                height = r.probes[h]
                worst_drift = max(worst_drift, max(abs(v - height[0]) for v in height) / cell)
            if name == "level":
                exact = 1000.0 * G * (DEPTH - 0.001)
                worst_pressure = max(worst_pressure, max(abs(p / exact - 1) for p in r.probes["floor"][1:]))
            plot.line(f"{case.solver}, {label}", r.stats["time"], [max(v, 1e-18) for v in speed])
    case.measure("largest speed / sqrt(g h)", worst, 1e-8, 1e-3)
    case.measure("surface moved, cells", worst_drift, 1e-6, 0.05)
    case.measure("pressure at the floor", worst_pressure, 1e-3, 1e-2, "%")
    if case.solver == "tet":
        show_paper(case, cell, tilted, plot)
