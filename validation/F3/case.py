# SPDX-License-Identifier: Apache-2.0
"""F3: period and shape in time of a standing gravity wave at finite depth."""
import math
from harness import period, reference, rms

SOLVERS = ("grid", "tet")
BASILISK = ((16, 0.032), (32, 0.0081), (64, 0.0046))    # published RMS errors of a two-phase standing wave
AMPLITUDE = 0.02 / (2 * math.pi)


def one(case, n, cfl=1.0, frames=97):
    h = 1.0 / n
    r = case.run(f"{n}-cells", "wave.yaml", {"cell": h, "domain.size": [1, 0.625, 2 * h], "frames.count": frames,
                                             "frames.cfl": cfl}, h, free_area=lambda i, s: 2 * h)
    t = r.probes["time"]
    # The cosine's share of the surface by the trapezium rule on half a wavelength: offsets and even harmonics fall out.
    eta = [(p0 - p4) / 4 + (p1 - p3) * math.sqrt(0.5) / 2 for p0, p1, p3, p4 in
           zip(r.probes["h0"], r.probes["h1"], r.probes["h3"], r.probes["h4"])]
    return t, [v / AMPLITUDE for v in eta]


def run(case):
    row = reference("standing_wave_linear")
    omega = next(w for L, h, n, w in zip(row["L"], row["h"], row["n"], row["omega"]) if (L, h, n) == (1, 0.5, 2))
    plot = case.plot("wave", "Standing wave, depth half a wavelength", "time, s", "amplitude / initial amplitude")
    errors = case.plot("errors", "RMS error over three periods", "cells per wavelength", "RMS / amplitude", logx=True, logy=True)
    sizes = (16, 32) if case.quick else (16, 32, 64)
    found = {}
    for n in sizes:
        t, eta = one(case, n)
        found[n] = (period(t, eta) * omega / (2 * math.pi) - 1.0, rms(e - math.cos(omega * s) for s, e in zip(t, eta)))
        if n >= 32:
            plot.line(f"{case.solver}, {n} cells", t, eta)
    plot.line("linear theory", t, [math.cos(omega * s) for s in t], dashed=True)
    errors.line(case.solver, sizes, [found[n][1] for n in sizes])
    errors.dots("Basilisk (published)", [n for n, _ in BASILISK], [e for _, e in BASILISK])
    fine = sizes[-1]
    best = (None, None) if fine < 64 else (0.003, 0.005)
    case.measure(f"period at {fine} cells per wavelength", found[fine][0], best[0], 0.02, "%")
    case.measure(f"RMS at {fine}", found[fine][1], best[1], 0.05, "%")
    if fine == 64:
        case.measure("period at 32", found[32][0], None, 0.02, "%")
        case.measure("RMS at 32 (Basilisk 0.81 %)", found[32][1], None, 0.05, "%")
        case.measure("RMS at 16 (Basilisk 3.2 %)", found[16][1], None, None, "%")
