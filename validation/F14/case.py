# SPDX-License-Identifier: Apache-2.0
"""F14: time to drain through a rounded and through a sharp slot."""
import math
from harness import interpolate

SOLVERS = ("grid", "tet")
G, HALF, SLOT, START = 9.81, 0.5, 0.05, 0.5
# Rounded: the lip is a quarter ring of the floor's thickness. Sharp: a floor that widens downwards, so that the jet leaves at the edge.
ROUNDED = ('[{difference: [{union: [{box: {min: [0.15, -0.1, -1], max: [1, 0, 1]}}, {cylinder: {from: [0.15, -0.1, -1], '
           'to: [0.15, -0.1, 1], radius: 0.1}}]}, {plane: {point: [0, -0.1, 0]}}]}]')
SHARP = '[{difference: [{box: {min: [0.05, -0.06, -1], max: [1, 0, 1]}}, {plane: {point: [0.05, -0.02, 0], normal: [1, 0.7, 0]}}]}]'


def law(contraction, depth):
    """The level against time, by unsteady Bernoulli along the axis: the tank's water has to be set in motion first."""
    r = contraction * SLOT / HALF
    t, h, speed, rows, dt = 0.0, START, 0.0, [(0.0, START)], 1e-4
    while h > 0.1 and t < 5.0:
        head = h + depth
        # d/dt of the momentum: tank (h at speed r v), lip (depth at v), and v^2 (1 - r^2) / 2 of head spent.
        speed += dt * (G * head - 0.5 * speed * speed * (1 - r * r)) / (r * h + max(depth, 0.5 * SLOT))
        h -= dt * r * speed
        t += dt
        rows.append((t, h))
    return zip(*rows)


def time_between(t, h, high, low):
    falling = [-v for v in h]
    return interpolate(falling, t, -low) - interpolate(falling, t, -high)


def run(case):
    cell = 0.0125 if case.quick else 0.01
    plot = case.plot("level", "Draining through a slot of a tenth of the tank", "time, s", "level, m")
    high, low = 0.42, 0.25
    for name, shape, contraction, depth in (("rounded", ROUNDED, 1.0, 0.1), ("sharp", SHARP, math.pi / (math.pi + 2), SLOT)):
        t_law, h_law = map(list, law(contraction, depth))
        exact = time_between(t_law, h_law, high, low)
        plot.line(f"theory, {name}", t_law, h_law, dashed=True)
        for correct in (True, False):
            label = name + ("" if correct else "-uncorrected")
            frames = 33 if name == "rounded" else 46
            r = case.run(label, "tank.yaml", {"cell": cell, "domain.size": [0.5, 0.75, 2 * cell], "obstacles": shape,
                                              "frames.count": frames, "surface.volume.correct": correct}, cell,
                         free_area=lambda i, s: 0.5 * 2 * cell)
            t, level = r.probes["time"], r.probes["level"]
            took = time_between(t, level, high, low)
            plot.line(f"{case.solver}, {label}", t, level)
            if name == "rounded":
                case.measure(f"{label}: time from 0.42 to 0.25 m", took / exact - 1, 0.03, 0.10, "%")
            else:
                case.within(f"{label}: contraction from the time (theory 0.611)", contraction * exact / took,
                            (0.59, 0.66), (0.55, 0.70))
            s = r.stats
            lost = max(abs(v / e - 1) for v, e in zip(s["volume"], s["expected_volume"]))
            case.measure(f"{label}: volume against the ledger", lost, None, 1e-3 if correct else 0.02, "%")
