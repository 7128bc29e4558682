# SPDX-License-Identifier: Apache-2.0
"""D6: surge front of Koshizuka and Oka's column, until it reaches the far wall."""
import math
from harness import interpolate, reference

L, G = 0.146, 9.81


def run(case):
    n = 10 if case.quick else 20
    h = L / n
    r = case.run(f"l-over-{n}", "column.yaml", {"cell": h, "domain.size": [4 * L, 2.5 * L, 2 * h]}, h,
                 free_area=lambda i, s: max(s["area"][i] - s["volume"][i] / h, 2 * L * 2 * h) / 2)
    T = [t * math.sqrt(2 * G / L) for t in r.probes["time"]]
    Z = [x / L for x in r.probes["front"]]
    ref = reference("koshizuka_oka_front")
    errors = {}
    for shift in [0.005 * k for k in range(36)]:
        e = [abs(interpolate(T, Z, t - shift) / z - 1) for t, z in zip(ref["T"], ref["Z"])]
        errors[shift] = (sum(e) / len(e), max(e))
    best = min(errors, key=lambda s: errors[s][0])
    case.measure("front, mean error with the best T shift", errors[best][0], 0.04, 0.10, "%")
    case.measure("front, largest error with that shift", errors[best][1], None, None, "%")
    case.measure("that shift, at most 0.175", best, None, None)
    case.measure("front, mean error without shift", errors[0.0][0], None, None, "%")
    case.measure("front, largest error without shift", errors[0.0][1], None, None, "%")
    plot = case.plot("front", "Surge front (Koshizuka and Oka)", "T = t sqrt(2 g / L)", "Z = x / L")
    plot.line(f"{case.solver}, L/{n}", T, Z)
    plot.dots("experiment", ref["T"], ref["Z"])
