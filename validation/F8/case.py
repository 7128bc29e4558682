# SPDX-License-Identifier: Apache-2.0
"""F8: pressure in a round drop at rest, and the currents around it that should not be."""
import math

SOLVERS = ("tet",)
SIGMA, RADIUS = 1.0, 0.5


def run(case):
    plot = case.plot("currents", "Largest speed in a drop at rest", "time, s", "u sqrt(rho D / sigma)", logy=True)
    diameter = 2 * RADIUS
    runs = ((13, "levelset", 120, 2.0),) if case.quick else (
        (26, "levelset", 12000, 0.5), (13, "levelset", 120, 12.0), (13, "levelset", None, 1.0), (13, "contour", 12000, 1.0))
    for n, tracker, laplace, until in runs:
        h = diameter / n
        kind = f"La = {laplace}" if laplace else "inviscid"
        viscosity = math.sqrt(SIGMA * diameter / laplace) if laplace else 0.0
        frames = round(20 * until) + 1
        r = case.run(f"{tracker}, {n} cells across, {kind}", "drop.yaml",
                     {"cell": h, "surface.tracker": tracker, "solver.viscosity": viscosity, "frames.count": frames}, h,
                     free_area=lambda i, s: s["area"][i], surface_energy=lambda i, r: SIGMA * r.stats["area"][i])
        t, speed = r.stats["time"], [u * math.sqrt(diameter / SIGMA) for u in r.stats["max_speed"]]
        plot.line(f"{tracker}, {n} across, {kind}", t[1:], speed[1:])
        half = len(speed) // 2
        pressure = r.probes["middle"]
        late = pressure[len(pressure) // 2:]
        name = f"{tracker}, {n} cells across, {kind}"
        jump = max((p / (2 * SIGMA / RADIUS) - 1 for p in late), key=abs)
        bars = ((0.001, 0.05), (1e-6, 1e-3)) if laplace else ((None, None), (None, None))
        case.measure(f"{name}: jump, worst of the second half", jump, *bars[0], "%")
        case.measure(f"{name}: largest speed of the second half", max(speed[half:]), *bars[1])
