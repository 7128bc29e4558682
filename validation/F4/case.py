# SPDX-License-Identifier: Apache-2.0
"""F4: the second harmonic of a standing wave."""
import math
from harness import interpolate, reference, rms

SOLVERS = ("grid", "tet")


def run(case):
    n = 32 if case.quick else 64
    h = 2.0 / n
    r = case.run(f"{n}-cells", "wave.yaml", {"cell": h, "domain.size": [2, 1.25, 2 * h]}, h,
                 free_area=lambda i, s: 2 * 2 * h)
    p = r.probes
    t = p["time"]
    a1 = [(h0 - h4) / 4 + (h1 - h3) * math.sqrt(0.5) / 2 for h0, h1, h3, h4 in zip(p["h0"], p["h1"], p["h3"], p["h4"])]
    a2 = [(h0 + h4) / 4 - h2 / 2 for h0, h2, h4 in zip(p["h0"], p["h2"], p["h4"])]
    ref = reference("standing_wave_second_order")
    known = [interpolate(ref["t"], ref["A2"], s) for s in t]
    scale = rms(known)
    # Amplitude by projection on theory: size and sign in one number.
    size = sum(a * b for a, b in zip(a2, known)) / sum(b * b for b in known)
    case.measure("A2: projection on theory less 1", size - 1, 0.10, 0.40, "%")
    case.measure("A2: rms deviation / rms of theory", rms(a - b for a, b in zip(a2, known)) / scale, None, None, "%")
    case.measure("A1: rms deviation / a", rms(v - interpolate(ref["t"], ref["A1"], s) for v, s in zip(a1, t)) / 0.05,
                 None, None, "%")
    plot = case.plot("second", "Second harmonic of a standing wave, k a = 0.157", "time, s", "A2, m")
    plot.line(f"{case.solver}, {n} cells per wavelength", t, a2)
    plot.line("second-order theory", ref["t"], ref["A2"], dashed=True)
    plot = case.plot("antinode", "Antinode of a standing wave, k a = 0.157", "time, s", "elevation, m")
    plot.line(f"{case.solver}, {n} cells per wavelength", t, [v - 1 for v in p["h0"]])
    plot.line("second-order theory", ref["t"], ref["eta_antinode"], dashed=True)
