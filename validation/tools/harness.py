# SPDX-License-Identifier: Apache-2.0
"""What the drivers of the validation cases share: running tethys, reading what it wrote, grading, writing pages."""
import csv
import json
import math
import os
import shutil
import subprocess
import time

from svg import Plot

VALIDATION = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(VALIDATION)
VERY_GOOD, PASSABLE, MISSED = "very good", "passable", "missed"

# What every run must keep (README.md): of the volume, of the volume per second, of the starting energy.
VOLUME_LIMIT, CORRECTION_LIMIT, ENERGY_LIMIT, OFFSET_LIMIT = 1e-3, 0.01, 1e-3, 0.02


class RunFailed(Exception):
    pass


class Table:
    """Columns of a CSV file by name: table['time']. Lines that start with # are skipped."""

    def __init__(self, path, numbers=True):
        with open(path) as f:
            rows = list(csv.reader(line for line in f if line.strip() and not line.startswith("#")))
        self.names, self.rows = rows[0], rows[1:]
        self.columns = {}
        for i, name in enumerate(self.names):
            values = [row[i] if i < len(row) else "" for row in self.rows]
            self.columns[name] = [_number(v) for v in values] if numbers else values

    def __getitem__(self, name):
        return self.columns[name]

    def __len__(self):
        return len(self.rows)


def _number(text):
    try:
        return float(text)
    except ValueError:
        return text


def reference(name):
    return Table(os.path.join(VALIDATION, "reference", name + ".csv"))


class Result:
    """A finished run: stats and probes as tables."""

    def __init__(self, name, folder, cell, seconds):
        self.name, self.folder, self.cell, self.seconds = name, folder, cell, seconds
        self.stats = Table(os.path.join(folder, "stats.csv"))
        probes = os.path.join(folder, "probes.csv")
        self.probes = Table(probes) if os.path.exists(probes) else None

    def frame_path(self, kind, frame):
        ending = {"surface": "ply", "volume": "vdb"}[kind]
        return os.path.join(self.folder, kind, f"{kind}.{frame:04d}.{ending}")


class Case:
    """One case with one solver while it runs: its folder, where results go, what was measured and drawn."""

    def __init__(self, name, solver="grid", quick=False, program=None, out=None, reuse=False, extra=None):
        self.name, self.solver, self.quick, self.reuse, self.extra = name, solver, quick, reuse, extra or {}
        self.folder = os.path.join(VALIDATION, name)
        self.program = program or os.environ.get("TETHYS") or os.path.join(ROOT, "build", "tethys")
        self.out = os.path.join(out or os.path.join(ROOT, "out", "validation"), name, solver)
        self.measures, self.runs, self.notes, self.plots = [], [], [], {}

    def run(self, name, scene, settings, cell, free_area=None, work=None, threads=None, judged=True,
            surface_energy=None, floor=0.0):
        """Runs scene (a file of the case's folder) with overrides. cell: its size, for the ledger's offset.
        free_area: m2 of free surface per frame (function of the stats row), when it is not about half of the area.
        work: J done by walls and sources since the start, per frame; with it absent the energy may only fall.
        surface_energy: J of surface tension, per frame and result; counts as potential energy.
        floor: J/m3, the potential energy of the lowest place that liquid comes to: energies count from there, not from
        wherever heights do.
        judged: held to the laws; false for runs that show a flaw."""
        target = os.path.join(self.out, name)
        os.makedirs(self.out, exist_ok=True)
        settings = {"solver.kind": self.solver, **settings, **self.extra}
        command = [self.program, "run", os.path.join(self.folder, scene), "-o", target, "-q", "--overwrite"]
        if threads:
            command += ["--threads", str(threads)]
        for key, value in settings.items():
            command += ["--set", f"{key}={_yaml(value)}"]
        if self.reuse and _finished(target):
            result = Result(name, target, cell, 0.0)
            return self._keep(result, free_area, work, settings, surface_energy, floor) if judged else result
        shutil.rmtree(target, ignore_errors=True)
        begin = time.time()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RunFailed(f"{self.name}/{name}: exit {done.returncode}: {done.stdout.strip()}\n  {' '.join(command)}")
        result = Result(name, target, cell, time.time() - begin)
        print(f"    {self.solver}, {name}: {result.seconds:.1f} s", flush=True)
        return self._keep(result, free_area, work, settings, surface_energy, floor) if judged else result

    def _keep(self, result, free_area, work, settings, surface_energy, floor):
        laws, numbers = balance(result, free_area, work, settings, surface_energy, floor)
        self.runs.append((result.name, laws, numbers))
        return result

    def measure(self, what, value, very_good, passable, unit="", counts=True):
        """A number to be small in size, with its two bars (None: no bar)."""
        self.measures.append((what, value, very_good, passable, unit, counts))

    def within(self, what, value, very_good, passable, unit=""):
        """A number that should lie in a range (low, high)."""
        self.measures.append((what, value, very_good, passable, unit, True))

    def note(self, text):
        self.notes.append(text)

    def plot(self, file, title, xlabel, ylabel, logx=False, logy=False):
        """A plot of the page, file.svg. What the solvers share (theory, experiments) has the same name with each."""
        return self.plots.setdefault(file, Plot(title, xlabel, ylabel, logx, logy))

    def bar(self):
        return overall(self.measures)

    def broken_laws(self):
        return [law for _, laws, _ in self.runs for law in laws]

    def save(self):
        """What the page is made of, as SOLVER.json in the case's folder."""
        plots = {file: [p.title, p.xlabel, p.ylabel, p.logx, p.logy, [_short(s) for s in p.series]]
                 for file, p in self.plots.items()}
        with open(os.path.join(self.folder, self.solver + ".json"), "w") as f:
            f.write(json.dumps({"measures": self.measures, "runs": self.runs, "notes": self.notes, "plots": plots}) + "\n")


def _short(series):
    name, x, y, kind = series
    return [name, [float(f"{v:.5g}") for v in x], [float(f"{v:.5g}") for v in y], kind]


def overall(measures):
    # A number with one bar only has no better one to miss.
    grades = [VERY_GOOD if grade(m) == PASSABLE and m[2] is None else grade(m)
              for m in measures if m[5] and (m[2] is not None or m[3] is not None)]
    for bar in (MISSED, PASSABLE):
        if bar in grades:
            return bar
    return VERY_GOOD


def _finished(folder):
    try:
        with open(os.path.join(folder, "run.json")) as f:
            return '"done"' in f.read()
    except OSError:
        return False


def _yaml(value):
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_yaml(v) for v in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    return str(value)


def grade(m):
    value, very_good, passable = m[1:4]
    if not math.isfinite(value):
        return MISSED
    for bar, limit in ((VERY_GOOD, very_good), (PASSABLE, passable)):
        if limit is None:
            continue
        low, high = limit if isinstance(limit, (tuple, list)) else (-limit, limit)
        if low <= value <= high:
            return bar
    return MISSED


def show(value, unit=""):
    if unit == "%":
        return f"{100 * value:.2f} %"
    return f"{value:.3g} {unit}".strip()


def show_bar(limit, unit):
    if limit is None:
        return ""
    if isinstance(limit, (tuple, list)):
        return f"{show(limit[0], unit)} to {show(limit[1], unit)}"
    return show(limit, unit)


def balance(result, free_area=None, work=None, settings=None, surface_energy=None, floor=0.0):
    """(laws broken, numbers) of a run: volume against the ledger, correction, energy."""
    s = result.stats
    volume, expected = s["volume"], s["expected_volume"]
    n = len(s)
    v_err = max((abs(v - e) / e for v, e in zip(volume, expected) if e > 0), default=0.0)
    duration = s["time"][-1] or 1.0
    mean_volume = sum(expected) / n or 1.0
    correction = sum(s["correction"]) / mean_volume / duration
    offset = 0.0
    for i in range(1, n):
        area = free_area(i, s) if free_area else 0.5 * s["area"][i]
        if area > 0 and s["substeps"][i] > 0:
            offset = max(offset, s["correction"][i] / area / s["substeps"][i] / result.cell)
    energy = [k + p - floor * v for k, p, v in zip(s["kinetic_energy"], s["potential_energy"], volume)]
    if surface_energy:
        energy = [e + surface_energy(i, result) for i, e in enumerate(energy)]
    scale = max(abs(energy[0]), max(s["kinetic_energy"])) or 1.0
    rise, lowest, work_at = 0.0, energy[0], 0.0
    for i in range(n):
        w = work(i, s) if work else 0.0
        rise = max(rise, (energy[i] - w - lowest) / scale)
        lowest = min(lowest, energy[i] - w)
    laws = []
    corrected = (settings or {}).get("surface.volume.correct", True)    # without it the volume is a measure, no law
    if corrected and v_err > VOLUME_LIMIT:
        laws.append(f"volume off by {v_err:.2%}")
    if correction > CORRECTION_LIMIT:
        laws.append(f"corrected {correction:.2%} per second")
    if offset > OFFSET_LIMIT:
        laws.append(f"corrected {offset:.3f} cells per step")
    if rise > ENERGY_LIMIT:
        laws.append(f"energy rose by {rise:.2%}")
    return laws, {"volume": v_err, "correction": correction, "offset": offset, "energy": rise}


def interpolate(x, y, at):
    """Linear; ends hold."""
    if at <= x[0]:
        return y[0]
    for i in range(1, len(x)):
        if at <= x[i]:
            w = (at - x[i - 1]) / (x[i] - x[i - 1]) if x[i] > x[i - 1] else 1.0
            return y[i - 1] + w * (y[i] - y[i - 1])
    return y[-1]


def rms(values):
    values = list(values)
    return math.sqrt(sum(v * v for v in values) / len(values))


def period(t, y):
    """Mean period from the zero crossings of y about 0, by straight lines between samples."""
    cross = [t[i - 1] + (t[i] - t[i - 1]) * y[i - 1] / (y[i - 1] - y[i])
             for i in range(1, len(t)) if (y[i - 1] < 0) != (y[i] < 0)]
    if len(cross) < 3:
        return float("nan")
    # Crossings in pairs, so that an offset of the mean falls out.
    last = len(cross) - 1 if (len(cross) - 1) % 2 == 0 else len(cross) - 2
    return (cross[last] - cross[0]) / (last / 2)


def read_ply(path):
    """Vertices (list of tuples, all properties) and triangles of a binary little-endian PLY as tethys writes it."""
    import struct
    kinds = {"float": "f", "double": "d", "int": "i", "uint": "I", "uchar": "B", "char": "b", "short": "h", "ushort": "H",
             "float32": "f", "float64": "d", "int32": "i", "uint32": "I", "uint8": "B"}
    with open(path, "rb") as f:
        names, counts, order, lists = {}, {}, [], {}
        while True:
            words = f.readline().split()
            words = [w.decode() for w in words]
            if words and words[0] == "element":
                order.append(words[1])
                counts[words[1]], names[words[1]] = int(words[2]), []
            elif words and words[0] == "property" and words[1] == "list":
                lists[order[-1]] = (kinds[words[2]], kinds[words[3]])
            elif words and words[0] == "property":
                names[order[-1]].append(kinds[words[1]])
            elif words and words[0] == "end_header":
                break
        record = struct.Struct("<" + "".join(names["vertex"]))
        verts = list(record.iter_unpack(f.read(record.size * counts["vertex"])))
        count, index = lists["face"]
        face = struct.Struct(f"<{count}3{index}" + "".join(names["face"]))
        tris = [r[1:4] for r in face.iter_unpack(f.read(face.size * counts["face"]))]
    return verts, tris


def centroid(verts, tris):
    """Volume and centre of the body inside a closed surface."""
    o = verts[tris[0][0]][:3]
    total, centre = 0.0, [0.0, 0.0, 0.0]
    for t in tris:
        a, b, c = ([verts[i][k] - o[k] for k in range(3)] for i in t)
        v = (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6
        total += v
        for k in range(3):
            centre[k] += v * (a[k] + b[k] + c[k]) / 4
    return total, [o[k] + centre[k] / total for k in range(3)]
