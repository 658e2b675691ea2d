"""What all pictures share: colours, markers, and charts that several benchmarks have.

A panel is a function that draws on axes, or None where there is nothing to draw. The script saddle-bench-plot and the pages
take their panels from here and from panels.py.
"""
import math
import os
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
except ImportError as missing:
    DEBIAN = "/usr/bin/python3"  # has Debian's matplotlib, even where another python3 comes first on the PATH
    if os.path.exists(DEBIAN) and os.path.realpath(DEBIAN) != os.path.realpath(sys.executable):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    matplotlib = None  # measuring goes on without; drawing says what to install
    LACKING = f"{missing}: install matplotlib (Debian: apt-get install python3-matplotlib; elsewhere: pip install matplotlib)"

# Distinguishable by colour-blind readers (Okabe and Ito), and two more.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#222222", "#999999", "#7a4419", "#6a3d9a"]
MARKERS = "osD^vP*X<>"
SETTINGS = {"axes.axisbelow": True, "axes.grid": True, "axes.titlesize": 13, "axes.labelsize": 11.5, "font.size": 11,
            "grid.color": "#dddddd", "grid.linewidth": 0.6, "legend.fontsize": 10, "legend.frameon": False,
            "lines.linewidth": 1.6, "lines.markersize": 4.5, "svg.fonttype": "none"}


def lacking():
    """What to install before anything can be drawn; "" where all is there."""
    return "" if matplotlib else LACKING


def label(ax, title, across, up):
    """The legend goes next to the axes, where it covers no curve."""
    ax.set(title=title, xlabel=across, ylabel=up)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0)


def name_matrices(ax, names):
    ax.grid(False, axis="x")
    ax.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")


def round_ticks(axis, limits):
    """Ticks of a logarithmic axis: powers of ten, and 2 and 5 times those if there are few."""
    def text(v, _):
        power = math.floor(math.log10(v) + 1e-9)
        head = round(v / 10.0**power)
        return f"{v:,g}" if 1e-3 <= v < 1e5 else (f"${head} \\cdot " if head > 1 else "$") + f"10^{{{power}}}$"
    if limits[1] / limits[0] < 500:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(NullFormatter())


def curves(title, across, up, series, log="", line=None):
    """Lines of series [(name, [(x, y)])], on the axes that `log` names logarithmic; `line` is a height to compare with."""
    series = [(name, sorted(p for p in points if p[1] is not None)) for name, points in series]
    series = [(name, points) for name, points in series if points]

    def draw(ax):
        few = max(len(points) for _, points in series) <= 40
        for k, (name, points) in enumerate(series):
            ax.plot(*zip(*points), color=COLOURS[k % 10], marker=MARKERS[k % 10] if few else None, label=name)
        if "x" in log:
            ax.set_xscale("log")
            round_ticks(ax.xaxis, ax.get_xlim())
        else:
            ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        if "y" in log:
            ax.set_yscale("log")
            round_ticks(ax.yaxis, ax.get_ylim())
        else:
            ax.set_ylim(bottom=0)
        if line:
            ax.axhline(line, color="#222222", linestyle="--", linewidth=1)
        label(ax, title, across, up)
    return draw if series else None


def bars(title, up, names, series):
    """Bars of series [(name, colour, [value of a matrix])] on a logarithmic scale. A value of 0 is written at the foot, one
    that is not known is left out."""
    known = [v for _, _, values in series for v in values if v]

    def draw(ax):
        width = 0.84 / len(series)
        for k, (name, colour, values) in enumerate(series):
            at = [i + (k + 0.5) * width - 0.42 for i in range(len(values))]
            ax.bar(at, [v or 0 for v in values], 0.94 * width, color=colour, label=name)
            for x in (x for x, v in zip(at, values) if v == 0):
                ax.annotate("0", (x, 0), (0, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
                            ha="center", color=colour, fontsize=9)
        ax.set_yscale("log")
        ax.set_ylim(min(known) / 4, max(known) * 3)
        round_ticks(ax.yaxis, ax.get_ylim())
        name_matrices(ax, names)
        label(ax, title, "", up)
    return draw if known else None


def shades(colour, count):
    """A colour and lighter ones."""
    rgb = matplotlib.colors.to_rgb(colour)
    return [tuple(1 - (1 - c) * (1 - 0.75 * k / count) for c in rgb) for k in range(count)]


def shaded(words, of, methods=("jacobi", "ldlt")):
    """Series with one colour per method and one shade per word."""
    return [(f"{method}, {word}", colour, of(method, k)) for method, hue in zip(methods, COLOURS)
            for k, (word, colour) in enumerate(zip(words, shades(hue, len(words))))]


def steps(title, up, names, series, line=None):
    """Bars of series [(name, [value])] side by side, from 0."""
    def draw(ax):
        width = 0.84 / len(series)
        for k, (name, values) in enumerate(series):
            ax.bar([i + (k + 0.5) * width - 0.42 for i in range(len(values))], values, 0.94 * width, color=COLOURS[k % 10],
                   label=name)
        if line:
            ax.axhline(line, color="#222222", linestyle="--", linewidth=1)
        name_matrices(ax, names)
        label(ax, title, "", up)
    return draw if any(v for _, values in series for v in values) else None


def ranked(title, up, series, log="y", line=None):
    """Curves of series [(name, [value])] over matrices, in the order that the values have."""
    return curves(title, "matrices", up, [(name, list(enumerate(values, 1))) for name, values in series], log, line)


def figure(width, height):
    """An empty figure of this size in inches, in the style that all have."""
    from matplotlib.figure import Figure
    matplotlib.rcParams.update(SETTINGS)
    made = Figure(figsize=(width, height), layout="constrained")
    made.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
    return made


def on_figure(*panels, across=1):
    """A function that draws panels on a figure, as model.Picture wants it; those that are None are left out."""
    panels = [p for p in panels if p]

    def draw(empty):
        down = (len(panels) + across - 1) // across
        axes = empty.subplots(down, across, squeeze=False)
        for ax in axes.flat[len(panels):]:
            ax.set_axis_off()
        for panel, ax in zip(panels, axes.flat):
            panel(ax)
    return draw if panels else None
