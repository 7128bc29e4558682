# SPDX-License-Identifier: Apache-2.0
"""P2: kinetic energy of the inviscid three-dimensional Taylor-Green flow to t = 3."""
import math


def run(case):
    sizes = (8, 16) if case.quick else (8, 16, 32)
    plot = case.plot("energy", "Taylor-Green flow in three dimensions", "time, s", "kinetic energy per mass")
    for n in sizes:
        r = case.run(f"{2 * n}-cells-per-period", "vortices.yaml", {"resolution": n}, math.pi / n)
        energy = [k / math.pi ** 3 for k in r.stats["kinetic_energy"]]
        plot.line(f"{case.solver}, {2 * n} cells per period", r.stats["time"], energy)
    plot.line("exact", [0, 3], [0.125, 0.125], dashed=True)
    case.measure(f"energy at t = 3, {2 * n} cells per period", energy[-1] / 0.125 - 1, 0.01 if n == 32 else None, 0.15 if n == 32 else 0.4, "%")
    case.measure("energy at the start against 1/8", energy[0] / 0.125 - 1, None, 0.01, "%")
