# SPDX-License-Identifier: Apache-2.0
"""F12: the surface of rigidly rotating water is a paraboloid and stays one."""
import math

SOLVERS = ("grid", "tet")
G, OMEGA, RADIUS, CENTRE = 9.81, 10.0, 0.1, 0.1245158
GAUGES = (("r0", 0.0), ("r2", 0.02), ("r4", 0.04), ("r6", 0.06), ("r8", 0.08), ("d8", 0.08))
TURNING = {"solver.viscosity": 0.1, "obstacles.0.slip": 0, "obstacles.0.velocity": '["10*z", 0, "-10*x"]',
           "walls.bottom.velocity": '["10*z", 0, "-10*x"]', "walls.bottom.slip": 0}


def exact(r):
    return CENTRE + OMEGA ** 2 * r * r / (2 * G)


def run(case):
    cell = 0.015 if case.quick else 0.0075 if case.solver == "grid" else 0.0125
    span = exact(RADIUS) - exact(0.0)
    plot = case.plot("levels", "Rotating bucket: level at gauges", "time, s", "deviation / range of the surface")
    shape = case.plot("shape", "Rotating bucket after two turns", "radius, m", "level, m")
    radii = [0.002 * k for k in range(51)]
    shape.line("paraboloid", radii, [exact(r) for r in radii], dashed=True)
    for name, extra, gate in (("frictionless", {}, 0.03), ("sticking-wall", TURNING, 0.03)):
        r = case.run(name, "bucket.yaml", {"cell": cell, **extra}, cell,
                     free_area=lambda i, s: math.pi * RADIUS ** 2, work=None if not extra else (lambda i, s: 1e9 * s["time"][i]))
        off = 0.0
        for gauge, radius in GAUGES:
            deviation = [(v - exact(radius)) / span for v in r.probes[gauge]]
            off = max(off, max(map(abs, deviation)))
            if name == "frictionless" and gauge != "d8":
                plot.line(f"{case.solver}, r = {radius:.2f} m", r.probes["time"], deviation)
        shape.dots(f"{case.solver}, {name}", [radius for _, radius in GAUGES], [r.probes[g][-1] for g, _ in GAUGES])
        case.measure(f"{name}: largest deviation of the surface / its range", off, 0.005, gate, "%")
        ke = r.stats["kinetic_energy"]
        case.measure(f"{name}: kinetic energy kept", ke[-1] / ke[0], None, None, "%")
