"""Figures that show Chinese as Chinese: one style, one font, the same bytes for the same data."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, Literal

from build_dataset.schemas.data import shipped_toml

if TYPE_CHECKING:
    from matplotlib.figure import Figure
Format = Literal["svg", "png"]
_STYLE = shipped_toml("build_dataset.pipeline.rendering", "templates/figures.toml")
INK: str = _STYLE["ink"]
COLOURS: tuple[str, ...] = tuple(_STYLE["colours"])


@contextmanager
def figure(width: float = 7.0, height: float = 3.6) -> Iterator[Figure]:
    """A figure of ``width`` × ``height`` inches in the project's style, to be saved within the block."""
    import matplotlib
    from cycler import cycler
    from matplotlib.figure import Figure

    fonts = {"font.family": ["DejaVu Sans", _chinese_font()], "axes.prop_cycle": cycler(color=COLOURS)}
    style: Any = {**_STYLE["settings"], **dict.fromkeys(_STYLE["in_ink"], INK), **fonts}
    with matplotlib.rc_context(style):  # leaves other users' settings alone
        yield Figure(figsize=(width, height), layout="constrained")


def save(drawn: Figure, format: Format = "svg") -> bytes:  # noqa: A002 (matplotlib's name)
    """The bytes of a file of it: SVG with glyphs as outlines, so no reader needs our font, or PNG at 200 dpi."""
    buffer = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}  # same bytes
    drawn.savefig(buffer, format=format, dpi=200, transparent=format == "svg", metadata=metadata)
    return buffer.getvalue()


def both_formats(name: str, drawn: Figure) -> dict[str, bytes]:
    """``figures/<name>.svg`` and ``.png``."""
    return {f"figures/{name}.svg": save(drawn, "svg"), f"figures/{name}.png": save(drawn, "png")}


@cache
def _chinese_font() -> str:
    """The name of a font with Chinese glyphs: Droid Sans Fallback, which travels inside PyMuPDF."""
    import matplotlib
    import pymupdf
    from matplotlib import font_manager

    font = pymupdf.Font("cjk")
    path = Path(matplotlib.get_cachedir()) / "build-dataset-cjk.ttf"  # matplotlib takes fonts from files only
    if not path.is_file() or path.stat().st_size != len(font.buffer):  # of a former PyMuPDF
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:  # another process may be reading the font
            file.write(font.buffer)
        Path(file.name).replace(path)
    font_manager.fontManager.addfont(path)
    return font_manager.FontProperties(fname=str(path)).get_name()
