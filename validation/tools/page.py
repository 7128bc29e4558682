# SPDX-License-Identifier: Apache-2.0
"""Pages and summary, from what Case.save wrote for each solver."""
import json
import os

from harness import VALIDATION, grade, overall, show, show_bar
from svg import Plot

BEGIN, END = "<!-- result -->\n", "<!-- end of result -->\n"
SOLVERS = ("grid", "tet")


def load(name):
    """{solver: what it measured}, in the order of SOLVERS."""
    found = {}
    for solver in SOLVERS:
        path = os.path.join(VALIDATION, name, solver + ".json")
        if os.path.exists(path):
            with open(path) as f:
                found[solver] = json.load(f)
    return found


def _replace(path, text):
    with open(path) as f:
        head, rest = f.read().split(BEGIN)
    with open(path, "w") as f:
        f.write(head + BEGIN + text + END + rest.split(END)[1])


def _value(m):
    if m is None:
        return ""
    bars = m[2] is not None or m[3] is not None
    return show(m[1], m[4]) + (f" ({grade(m)})" if bars else "")


def _table(found):
    names = list(dict.fromkeys(m[0] for r in found.values() for m in r["measures"]))
    lines = ["| measured | " + " | ".join(found) + " | very good | passable |", "|---" * (len(found) + 3) + "|"]
    for name in names:
        rows = [next((m for m in r["measures"] if m[0] == name), None) for r in found.values()]
        bars = next(m for m in rows if m)
        lines.append(f"| {name} | " + " | ".join(map(_value, rows)) +
                     f" | {show_bar(bars[2], bars[4])} | {show_bar(bars[3], bars[4])} |")
    return lines


def _laws(found):
    lines = ["", "| run | volume off by | corrected per second | energy rise | |", "|---|---|---|---|---|"]
    for solver, r in found.items():
        for name, laws, b in r["runs"]:
            lines.append(f"| {solver}: {name} | {b['volume']:.1e} | {b['correction']:.1e} | {b['energy']:.1e} | "
                         f"{'; '.join(laws) or 'kept'} |")
    return lines


def _plots(name, found):
    plots = {}
    for r in found.values():
        for file, (title, xlabel, ylabel, logx, logy, series) in r["plots"].items():
            plot = plots.setdefault(file, Plot(title, xlabel, ylabel, logx, logy))
            have = {s[0] for s in plot.series}
            plot.series += [s for s in series if s[0] not in have]
    for file, plot in plots.items():
        plot.save(os.path.join(VALIDATION, name, file + ".svg"))


def write(name):
    """Replaces what stands between the marks in the case's README.md, and its plots."""
    found = load(name)
    if not found:
        return
    meets = ", ".join(f"{solver} {overall(r['measures'])}" for solver, r in found.items())
    notes = [f"\n{solver}: {note}" for solver, r in found.items() for note in r["notes"]]
    lines = [f"\n**Meets: {meets}.**\n"] + _table(found) + _laws(found) + notes
    _replace(os.path.join(VALIDATION, name, "README.md"), "\n".join(lines) + "\n\n")
    _plots(name, found)


def _row(name, solver, r):
    first = r["measures"][0]
    laws = "; ".join(dict.fromkeys(law for _, broken, _ in r["runs"] for law in broken)) or "kept"
    return (f"| [{name}]({name}/README.md) | {solver} | {overall(r['measures'])} | {first[0]}: "
            f"{show(first[1], first[4])} | {laws} |")


def write_summary(cases):
    lines = ["| case | solver | meets | first of its numbers | volume, correction, energy |", "|---|---|---|---|---|"]
    lines += [_row(name, solver, r) for name in cases for solver, r in load(name).items()]
    _replace(os.path.join(VALIDATION, "README.md"), "\n".join(lines) + "\n")
