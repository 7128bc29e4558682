# SPDX-License-Identifier: Apache-2.0
"""F7: frequency of a drop that swings in mode 2 in zero gravity."""
import math
from harness import period

SOLVERS = ("tet",)
SIGMA, RADIUS, SHAPE = 1.0, 0.5, 0.03


def run(case):
    exact = 2.22144 * RADIUS ** 1.5    # reference/drop_oscillation.csv, 3D, mode 2, sigma = rho = 1
    plot = case.plot("axes", "Drop in zero gravity, mode 2", "time, s", "(long - short half-axis) / its first value")
    sizes = ((13, "levelset"),) if case.quick else ((26, "levelset"), (13, "levelset"), (13, "contour"))
    for n, tracker in sizes:
        h = 2 * RADIUS / n
        r = case.run(f"{tracker}, {n} cells across", "drop.yaml", {"cell": h, "surface.tracker": tracker}, h,
                     free_area=lambda i, s: s["area"][i], surface_energy=lambda i, r: SIGMA * r.stats["area"][i])
        t = r.probes["time"]
        swing = [b - a for a, b in zip(r.probes["a"], r.probes["b"])]
        plot.line(f"{case.solver}, {tracker}, {n} cells across", t, [s / swing[0] for s in swing])
        case.measure(f"{tracker}, {n} cells across: frequency", exact / period(t, swing) - 1,
                     0.005 if n == 26 else None, 0.03, "%")
        case.measure(f"{tracker}, {n} cells across: swing lost in half a period", 1 - max(-s for s in swing) / swing[0],
                     None, None, "%")
    plot.line("theory", t, [math.cos(2 * math.pi * s / exact) for s in t], dashed=True)
