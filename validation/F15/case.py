# SPDX-License-Identifier: Apache-2.0
"""F15: what a source brings is there, at all times."""
SOLVERS = ("grid", "tet")
RATE = 0.002
JET = {"sources.0.box.min": [0.15, 0.25, 0.15], "sources.0.box.max": [0.35, 0.3, 0.35], "sources.0.velocity": [0, -0.05, 0]}
DEEP = {"sources.0.box.min": [0.15, 0.0, 0.15], "sources.0.box.max": [0.35, 0.05, 0.35], "sources.0.velocity": [0, 0.05, 0]}
EMPTY = {"liquid": []}


def off_by(r, key="volume"):
    """The largest deviation of the volume from V0 + Q t, relative to what has been injected; the first frames' share is
    taken relative to a twentieth of the whole. V0 is the source's own filling."""
    s = r.stats
    whole = RATE * s["time"][-1]
    return max(abs(v - s["volume"][0] - RATE * t) / max(RATE * t, 0.05 * whole) for t, v in zip(s["time"], s[key]))


def run(case):
    cell = 0.05 if case.quick else 0.025
    count = 49 if case.quick else 241
    plot = case.plot("volume", "Filling a container at 0.002 m3/s", "time, s", "(volume - start - Q t), litres")
    names = (("jet", JET, True), ("jet-uncorrected", JET, False), ("from-below", DEEP, True),
             ("from-below-uncorrected", DEEP, False), ("jet-empty", {**JET, **EMPTY}, True), ("from-below-empty", {**DEEP, **EMPTY}, True))
    for name, where, correct in names:
        r = case.run(name, "fill.yaml", {"cell": cell, "frames.count": count, "surface.volume.correct": correct, **where},
                     cell, free_area=lambda i, s: 0.25, work=lambda i, s: 1e9 * s["time"][i])
        s = r.stats
        plot.line(f"{case.solver}, {name}", s["time"], [1000 * (v - s["volume"][0] - RATE * t) for t, v in zip(s["time"], s["volume"])])
        very_good = 1e-3 if correct else None
        case.measure(f"{name}: volume, share of what was injected", off_by(r), very_good, 0.02, "%")
        lost = max(abs(v / e - 1) for v, e in zip(s["volume"], s["expected_volume"]))
        case.measure(f"{name}: volume against the ledger", lost, None, 1e-3 if correct else 0.02, "%")
        case.measure(f"{name}: the ledger's expected volume", off_by(r, "expected_volume"), 1e-3, 0.02, "%", counts=correct)
