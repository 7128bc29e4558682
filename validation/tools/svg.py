# SPDX-License-Identifier: Apache-2.0
"""Line plots as SVG, without anything beside the standard library."""
import math

COLOURS = ["#1f6fb4", "#d1495b", "#2a9d5c", "#c77f1a", "#7b5ea7", "#444444", "#17a2b8", "#8c564b"]
WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 34, 52


def _ticks(lo, hi, n=6):
    raw = (hi - lo) / n
    base = 10.0 ** math.floor(math.log10(raw))
    step = min((m * base for m in (1, 2, 5, 10)), key=lambda s: abs(s - raw))
    first = math.ceil(lo / step - 1e-9)
    return [k * step for k in range(first, int(math.floor(hi / step + 1e-9)) + 1)]


def _escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class Plot:
    """plot = Plot(title, x label, y label); plot.line(...), plot.dots(...); plot.save(path)."""

    def __init__(self, title, xlabel, ylabel, logx=False, logy=False):
        self.title, self.xlabel, self.ylabel = title, xlabel, ylabel
        self.logx, self.logy = logx, logy
        self.series = []

    def line(self, name, x, y, dashed=False):
        self.series.append((name, list(x), list(y), "dash" if dashed else "line"))

    def dots(self, name, x, y):
        self.series.append((name, list(x), list(y), "dots"))

    def _range(self, which, log):
        values = [v for s in self.series for v in s[which] if math.isfinite(v) and (v > 0 or not log)]
        if log:
            values = [math.log10(v) for v in values]
        lo, hi = min(values), max(values)
        pad = 0.04 * (hi - lo) or 0.5 * abs(hi) or 0.5
        return lo - pad, hi + pad

    def save(self, path):
        x0, x1 = self._range(1, self.logx)
        y0, y1 = self._range(2, self.logy)

        def px(v):
            v = math.log10(v) if self.logx else v
            return LEFT + (v - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)

        def py(v):
            v = math.log10(v) if self.logy else v
            return HEIGHT - BOTTOM - (v - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM)

        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
               f'height="{HEIGHT}" font-family="sans-serif" font-size="12">',
               f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
               f'<text x="{LEFT}" y="20" font-size="14">{_escape(self.title)}</text>']
        out += self._axes(px, py, (x0, x1), (y0, y1))
        for i, (name, x, y, kind) in enumerate(self.series):
            out += self._series(i, name, x, y, kind, px, py)
        out.append("</svg>")
        with open(path, "w") as f:
            f.write("\n".join(out) + "\n")

    def _axes(self, px, py, xr, yr):
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        out = []
        for lo_hi, log, along in ((xr, self.logx, "x"), (yr, self.logy, "y")):
            for t in _ticks(*lo_hi):
                value = 10.0 ** t if log else t
                label = f"{value:.3g}"
                if along == "x":
                    p = px(value)
                    out.append(f'<path d="M{p:.1f} {TOP}V{bottom}" stroke="#e4e4e4"/>')
                    out.append(f'<text x="{p:.1f}" y="{bottom + 16}" text-anchor="middle">{label}</text>')
                else:
                    p = py(value)
                    out.append(f'<path d="M{LEFT} {p:.1f}H{right}" stroke="#e4e4e4"/>')
                    out.append(f'<text x="{LEFT - 6}" y="{p + 4:.1f}" text-anchor="end">{label}</text>')
        out.append(f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" fill="none" '
                   'stroke="#444"/>')
        out.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{_escape(self.xlabel)}</text>')
        mid = (TOP + bottom) / 2
        out.append(f'<text x="16" y="{mid}" text-anchor="middle" transform="rotate(-90 16 {mid})">'
                   f'{_escape(self.ylabel)}</text>')
        return out

    def _series(self, i, name, x, y, kind, px, py):
        colour = COLOURS[i % len(COLOURS)]
        points = [(px(a), py(b)) for a, b in zip(x, y)
                  if math.isfinite(a) and math.isfinite(b) and (a > 0 or not self.logx) and (b > 0 or not self.logy)]
        out = []
        if kind == "dots":
            out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="none" stroke="{colour}"/>' for a, b in points]
        elif points:
            dash = ' stroke-dasharray="6 4"' if kind == "dash" else ""
            d = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
            out.append(f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>')
        row = TOP + 16 + 16 * i
        out.append(f'<path d="M{WIDTH - 240} {row - 4}h22" stroke="{colour}" stroke-width="2"'
                   + (' stroke-dasharray="2 4"' if kind == "dots" else ' stroke-dasharray="6 4"' if kind == "dash" else "")
                   + "/>")
        out.append(f'<text x="{WIDTH - 212}" y="{row}">{_escape(name)}</text>')
        return out
