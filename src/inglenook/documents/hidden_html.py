"""Takes out of an HTML page what a person does not see of it, as far as the markup tells.

Text hidden from people is where pages and documents put instructions for models. Rules of a
stylesheet are not read: what only they hide, stays. Runs only inside a worker.
"""

import re

import turbohtml

_NEVER_SHOWN = (
    "script, style, noscript, template, iframe, frame, noframes, object, embed, applet, svg, "
    "annotation, canvas, audio, video, datalist, dialog:not([open]), "
    "[hidden]:not([hidden=until-found])"
)
_FAR_PX = -900.0
"""Beyond the edge of any screen."""
_TINY_FONT_PX = 2.0
_LIKE_BACKGROUND = 24
"""A text's colour that differs by no more, over red, green and blue, cannot be read."""
_PX = {"": 1.0, "px": 1.0, "em": 16.0, "rem": 16.0, "pt": 1.33, "vw": 10.0, "vh": 10.0, "%": 10.0}

_DECLARATION = re.compile(r"([a-z-]+)\s*:\s*([^;]+)")
_LENGTH = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))(px|rem|em|pt|vw|vh|%|)(?![\w.])")
_CLIPPED = re.compile(
    r"rect\(\s*(?:0|1px)\w*[\s,]+(?:0|1px)|inset\(\s*(?:50|100)%|circle\(\s*0|polygon\(\s*0\w*\s+0\w*\s*\)"
)
_NO_SCALE = re.compile(r"scale(?:x|y|3d)?\(\s*0*\.?0*\s*[,)]")
_TRANSPARENT = re.compile(r"transparent|(?:rgb|hsl)a?\([^)]*[,/]\s*0?\.?0+%?\s*\)")
_HEX = re.compile(r"#(?:([\da-f]{6})|([\da-f]{3}))(?![\da-f])")
_RGB = re.compile(r"rgba?\(\s*(\d+)[,\s]+(\d+)[,\s]+(\d+)")
_NAMED = re.compile(r"\b(white|black|snow|ivory)\b")
_NAMES = {"white": (255,) * 3, "black": (0,) * 3, "snow": (255, 250, 250), "ivory": (255, 255, 240)}

Style = dict[str, str]
Color = tuple[int, ...]


def drop_hidden(document: turbohtml.Document) -> None:
    """Remove what a browser does not show.

    What `<details>` holds is a click away, and `aria-hidden` hides from screen readers only: both
    stay.
    """
    is_plain = document.select_one("style, link[rel~=stylesheet]") is None
    document.remove(_NEVER_SHOWN)
    for element in document.select("[style], font[color]"):
        style = _style_of(element)
        if (
            _is_off(style)
            or _is_off_screen(style)
            or _is_boxed_away(style)
            or _is_like_background(element, style, is_plain)
        ):
            element.decompose()


def _style_of(element: turbohtml.Element) -> Style:
    text = (element.attr("style") or "").lower().replace("!important", "")
    style = {name: value.strip() for name, value in _DECLARATION.findall(text)}
    if element.tag == "font" and (color := element.attr("color")):
        style.setdefault("color", color.lower())
    return style


def _is_off(style: Style) -> bool:
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or style.get("content-visibility") == "hidden"
        or _px(style.get("opacity"), 1.0) <= 0.05
        or _font_px(style.get("font-size")) <= _TINY_FONT_PX
    )


def _is_off_screen(style: Style) -> bool:
    transform = style.get("transform", "")
    moves = [style.get("text-indent"), style.get("margin-left"), style.get("margin-top")]
    if style.get("position") in ("absolute", "fixed"):
        moves += [style.get(side) for side in ("left", "top", "right", "bottom")]
    return (
        any(_px(move, 0.0) <= _FAR_PX for move in moves)
        or _NO_SCALE.search(transform) is not None
        or any(float(n) * _PX[unit] <= _FAR_PX for n, unit in _LENGTH.findall(transform))
    )


def _is_boxed_away(style: Style) -> bool:
    """A box without room for its text, as `sr-only` styles make it."""
    if _CLIPPED.search(style.get("clip", "") + style.get("clip-path", "")):
        return True
    width = min(_px(style.get(name), 99.0) for name in ("width", "max-width"))
    height = min(_px(style.get(name), 99.0) for name in ("height", "max-height"))
    is_cut = "hidden" in style.get("overflow", "") or "clip" in style.get("overflow", "")
    return (width <= 1 and height <= 1) or (is_cut and min(width, height) <= 1)


def _is_like_background(element: turbohtml.Element, style: Style, is_plain: bool) -> bool:
    """The text has the colour of what is behind it; `is_plain`: which is white if nothing else."""
    color = style.get("color", "")
    if _TRANSPARENT.match(color) and not any("background-clip" in name for name in style):
        return True
    front = _color(color)
    if front is None:
        return False
    back = _background(element, style)
    if back is None and is_plain:
        back = _NAMES["white"]
    return back is not None and sum(abs(a - b) for a, b in zip(front, back, strict=True)) <= (
        _LIKE_BACKGROUND
    )


def _background(element: turbohtml.Element, style: Style) -> Color | None:
    """Of the nearest element that names one."""
    around = [
        element,
        *(each for each in element.ancestors if isinstance(each, turbohtml.Element)),
    ]
    for each in around:
        own = style if each is element else _style_of(each)
        named = own.get("background-color") or own.get("background") or each.attr("bgcolor")
        if named and not _TRANSPARENT.match(named):
            return _color(named.lower())
    return None


def _color(value: str) -> Color | None:
    if match := _HEX.search(value):
        digits = match[1] or "".join(2 * digit for digit in match[2])
        return tuple(bytes.fromhex(digits))
    if match := _RGB.search(value):
        return tuple(int(part) for part in match.groups())
    if match := _NAMED.search(value):
        return _NAMES[match[1]]
    return None


def _px(value: str | None, default: float) -> float:
    match = _LENGTH.match(value or "")
    return float(match[1]) * _PX[match[2]] if match else default


def _font_px(value: str | None) -> float:
    if value and value.rstrip().endswith("%"):
        return _px(value, 160.0) * 0.016
    return _px(value, 16.0)
