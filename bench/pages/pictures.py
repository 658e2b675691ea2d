"""Pictures of a page: as SVG that stands in the page and takes its colours, and as PNG for documents.

Text stays text, so that it can be read aloud, searched and printed. Black becomes the colour of the page's text and the colours of
series variables of its style sheet, which has them for light and for dark.
"""
import functools
import io
import re

import draw
from draw import COLOURS

# In the page: black, what compares (#222222) and the grid, white, and the series.
PAGE = {"#000000": "currentColor", "#222222": "var(--ink)", "#dddddd": "var(--grid)", "#ffffff": "var(--paper)",
        **{colour: f"var(--s{k})" for k, colour in enumerate(COLOURS)}}

LEAST = 0.54  # of its width: on a narrow screen a picture is moved within its box before its text is too small


@functools.cache
def drawn(picture):
    """Its figure, which the page and the documents share."""
    figure = draw.figure(picture.width, picture.height)
    picture.draw(figure)
    return figure


def svg(figure, prefix, alt):
    """The element, with ids that no other picture has."""
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg"):], flags=re.S)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.S)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    text = re.sub(r"url\(#", f"url(#{prefix}-", text)
    text = re.sub(r": (#[0-9a-f]{6})\b", lambda m: ": " + PAGE.get(m[1], m[1]), text)
    width, height = figure.get_size_inches() * 96
    text = re.sub(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>',
                  lambda m: f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
                  f'viewBox="{m[1]}" width="{width:.0f}" height="{height:.0f}" style="min-width: {LEAST * width:.0f}px" role="img" '
                  f'aria-labelledby="{prefix}-alt"><title id="{prefix}-alt">{alt}</title>', text, count=1)
    return re.sub(r"\n\s*", "\n", text)


def png(figure, path, dots=100):
    """A file of few colours: a fifth of the size, and the eye sees no difference in a chart."""
    from PIL import Image  # comes with matplotlib
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dots, facecolor="white")
    out.seek(0)
    with Image.open(out) as image:
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
