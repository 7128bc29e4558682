# SPDX-License-Identifier: Apache-2.0
"""D1: surge front and column height of a collapsing water column, against Martin and Moyce 1952."""
import math
from harness import interpolate, reference

SOLVERS = ("grid", "tet")
A, G, SHIFT = 0.05715, 9.81, 0.175


def simulate(case, n, slip=1.0):
    h = A / n
    depth = 2 * h
    r = case.run(f"a-over-{n}", "column.yaml",
                 {"cell": h, "domain.size": [15 * A, 2.5 * A, depth], "liquid.0.box.max": [A, 2 * A, 1]}, h,
                 # All but the two sides of the slice, the floor and the back wall.
                 free_area=lambda i, s: max(s["area"][i] - 2 * s["volume"][i] / depth, 2 * A * depth) / 2)
    t = r.probes["time"]
    T = [v * math.sqrt(2 * G / A) for v in t]
    tau = [v * math.sqrt(G / A) for v in t]
    return T, [v / A for v in r.probes["front"]], tau, [v / (2 * A) for v in r.probes["height"]]


def front_error(T, Z, data, shift):
    errors = [abs(interpolate(T, Z, t - shift) / z - 1) for t, z in data if t - shift > 0]
    return sum(errors) / len(errors), max(errors)


def run(case):
    ref = reference("martin_moyce_front")
    table = [(t, z) for s, t, z in zip(ref["source"], ref["T"], ref["Z"]) if s == "table2"]
    long_run = [(t, z) for a, s, t, z in zip(ref["a"], ref["source"], ref["T"], ref["Z"])
                if s != "table2" and a == "2.25in"]
    heights = reference("martin_moyce_height")
    n = 10 if case.quick else 20 if case.solver == "grid" else 15
    T, Z, tau, H = simulate(case, n)
    best_mean, best_max, best_shift = min((*front_error(T, Z, table, s), s)
                                          for s in [0.005 * k for k in range(36)])
    raw_mean, raw_max = front_error(T, Z, table, 0.0)
    height = [abs(interpolate(tau, H, t - SHIFT / math.sqrt(2)) - v) for t, v in zip(heights["tau"], heights["H"])]
    height_raw = [abs(interpolate(tau, H, t) - v) for t, v in zip(heights["tau"], heights["H"])]
    case.measure("front, mean error with the best T shift (interFoam 3.0 %, REEF3D 8 %)", best_mean, 0.03, 0.08, "%")
    case.measure("front, largest error with that shift (interFoam 8.1 %, REEF3D 18 %)", best_max, 0.08, 0.20, "%")
    case.measure("that shift, at most 0.175", best_shift, None, None)
    case.measure("front, mean error without shift (interFoam 9.8 %)", raw_mean, None, None, "%")
    case.measure("front, largest error without shift", raw_max, None, None, "%")
    case.measure("column height, mean error / 2a with shift", sum(height) / len(height), 0.03, 0.05)
    case.measure("column height, mean error / 2a without shift", sum(height_raw) / len(height_raw), None, None)
    plot = case.plot("front", "Surge front (Martin and Moyce, n2 = 2)", "T = t sqrt(2 g / a)", "Z = x / a")
    plot.line(f"{case.solver}, a/{n}", T, Z)
    plot.line(f"{case.solver}, shifted by {best_shift:.3f}", [t + best_shift for t in T], Z, dashed=True)
    plot.dots("experiment, table 2", *zip(*table))
    plot.dots("experiment, figure 3", *zip(*long_run))
    plot = case.plot("height", "Column height at the back wall", "tau = t sqrt(g / a)", "h / 2a")
    plot.line(f"{case.solver}, a/{n}", tau, H)
    plot.dots("experiment, table 6", heights["tau"], heights["H"])
