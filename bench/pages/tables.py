"""Cells of tables as text, for HTML and Markdown alike."""
import math


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def number(value, form=None):
    """With a format, or as it is read best: 12,345; 0.0123; 1.2e-09."""
    if isinstance(value, float) and not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if form:
        return format(value, form)
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    if size == 0 or 1e-3 <= size < 1e5:
        return f"{value:,.0f}" if size >= 1000 else f"{value:.3g}"
    return f"{value:.2e}"


def text(value, form=None):
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value, form) if is_number(value) else str(value)


def numeric(table):
    """Which columns are numbers, as far as they have values."""
    cells = list(zip(*table.rows)) or [()] * len(table.columns)
    return [any(map(is_number, column)) and all(v is None or is_number(v) for v in column) for column in cells]


def forms(table):
    return tuple(table.formats) + (None,) * (len(table.columns) - len(table.formats))
