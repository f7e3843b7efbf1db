"""Running heads and feet that the layout left among the lines."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set

from rapidfuzz import fuzz

from build_dataset.pipeline.parse import heads
from build_dataset.pipeline.parse.fields import opens_explanation, opens_field
from build_dataset.pipeline.parse.folding import fold, letters_alone, spaceless, width, without_digits
from build_dataset.pipeline.parse.heads import NumberStyle
from build_dataset.pipeline.parse.labels import opens_option
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import Line, LineKind
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
TITLE = _P.title

CLEAR = 0.6  # the weight from which on a number that is not 1 opens the questions of an excerpt
RUNNING_PAGES = 3  # least number of pages that a page-counting line must open or close to be a running head
STAMPED = 4  # the lines from the top or the bottom of a page within which a stamp may stand
REPEATED = 3  # the least number of times that a refrain comes, word for word
OF_PAGES, OF_ITEMS = 0.5, 0.1
"""Least share of pages, and of numbered lines, with which it must come. It comes with every page or item, while
heads of parts (【问题1】) and of tables came on a quarter of the pages of real papers at most."""
MISREAD = 85  # likeness of a line to a running line, in per cent, from which on it is one: a character was misread
MOSTLY = 0.8  # share of its places in which a line must look like a refrain; beside broken items site text does not
_REFRAIN = 4  # least length of a refrain in characters; shorter lines (上一节) count only beside one
SCATTERED = 5  # times that a running line comes in a text without pages, at least, in places of three kinds
_LONG = 8  # characters of such a line, at least; an option that is another option's last line is shorter


def without_running(lines: list[Line]) -> list[Line]:
    """The lines without running heads and feet: numbers of pages, titles said again, lines that count the pages.

    Titles before the first question are kept: they name the exam.
    """
    first = 0  # the line with which the questions begin at the latest: by its number, or past the first page
    while first < len(lines) and lines[first].page == lines[0].page:
        line = lines[first]
        mark = heads.number_candidate(0, fold(line.text)) if line.kind is LineKind.TEXT else None
        if mark and (mark.value == 1 or (mark.style is not NumberStyle.BARE and mark.weight >= CLEAR)):
            break
        first += 1
    at_edges = Counter(without_digits(line.text) for line in _edges(lines).values() if _titles(line))
    titles = {without_digits(line.text) for line in lines[:first] if _titles(line)}
    titles |= {title for title, times in at_edges.items() if times > 1}
    kept = []
    for index, line in enumerate(lines):
        code = _P.code_line.fullmatch(unicodedata.normalize("NFKC", line.text))  # 代號：2101 may be read as 2¹0¹
        again = index >= first and _titles(line) and (code or without_digits(line.text) in titles)
        if line.kind is not LineKind.TEXT or not (again or _P.page_line.fullmatch(fold(line.text))):
            kept.append(line)
    kept = _without_refrains(_without_scattered(_without_stamps(kept)))
    return _without_misread(kept, lines, {_place(line) for line in lines[:first] if _titles(line)})


def _without_misread(kept: list[Line], lines: Sequence[Line], opening: Set[tuple[int, int]]) -> list[Line]:
    """The lines without those at edges of pages that are running lines but for a character: 型2017年下半年…第 5 页.

    So are titles at edges of two pages that differ so little, not in what parts tests (试卷一; 上午). Those at
    ``opening`` places stay.
    """
    known = {*map(_place, kept)}
    edges = _edges(kept).values()
    running = {(0, letters_alone(line.text)) for line in lines if _place(line) not in known}
    running |= {(line.page, letters_alone(line.text)) for line in edges if _titles(line)}
    running = {(page, words) for page, words in running if len(words) >= _LONG}
    misread = set()
    for line in edges if running else ():
        own = letters_alone(line.text)
        others = [words for page, words in running if page != line.page and fuzz.ratio(own, words) >= MISREAD]
        if any(_P.ordinal.findall(own) == _P.ordinal.findall(words) for words in others):
            misread.add(_place(line))
    return [line for line in kept if _place(line) in opening or _place(line) not in misread]


def _without_stamps(lines: list[Line]) -> list[Line]:
    """The lines without what a site stamps on pages: its address, or its name beside the first or last lines."""
    # A stamp at the end of a line is cut off where its name stood alone on several pages: ends of stems repeat too.
    addresses = {line.page for line in lines if _P.address.fullmatch(_last_cell(line))}
    edges = (line for page in _pages(lines) for line in (*page[:STAMPED], *page[-STAMPED:]))
    cells = [(_last_cell(line), line) for line in edges if line.confidence is not None and "\t" in line.text]
    bare = ((cell, line) for cell, line in cells if _P.stamp.fullmatch(fold(cell)) and not _opens(fold(cell)))
    names = group_values((cell, line.page) for cell, line in bare)
    stamps = {name for name, pages in names.items() if len({*pages}) >= RUNNING_PAGES}
    kept: list[Line] = []
    for line in lines:
        cell = _last_cell(line)
        stamped = cell in stamps or (len(addresses) >= RUNNING_PAGES and _P.address.fullmatch(cell))
        rest = line.text.rstrip().removesuffix(cell).rstrip() if stamped else line.text
        if rest or not stamped:
            kept.append(line.model_copy(update={"text": rest}) if stamped else line)
    return kept


def _without_refrains(lines: list[Line]) -> list[Line]:
    """The lines without what a site prints after every item: 版权方授权…, 上一节 本书简介 下一节, its name."""
    # Phrases of questions repeat too: before options, as the rest of a full line (综合征), behind the same line.
    texts = [_spaceless(line) for line in lines]
    places = group_values((text, index) for index, text in enumerate(texts) if text)
    pages = len({line.page for line in lines})
    numbered = sum(heads.number_candidate(0, fold(line.text)) is not None for line in lines)
    least = max(REPEATED, OF_PAGES * pages, OF_ITEMS * numbered)
    often = {text: indices for text, indices in places.items() if len(indices) >= least}
    if not often:
        return lines
    others = [at for at, text in enumerate(texts) if text not in often]
    texts_of = [line for line in lines if line.kind is LineKind.TEXT]
    ends = group_values((line.column, line.box.x1 if line.box else width(line.text)) for line in texts_of)
    edges = {column: max(0.0, *rights) for column, rights in ends.items()}  # of the longest line of every column
    refrains = set()
    for text, indices in often.items():
        on = [lines[index].page for index in indices]
        # Once on nearly every page, wherever; but what mostly stands before first options asks: 最可能的诊断是.
        once_a_page = pages >= 2 * REPEATED and len(on) == len(set(on)) >= 0.9 * pages
        asks = 2 * sum(_before_options(index, lines, others) == "first" for index in indices) > len(indices)
        if len(text) >= _REFRAIN and (
            (once_a_page and not asks) or _apart(indices, lines, others, edges) >= MOSTLY * len(indices)
        ):
            refrains.add(text)
    refrains |= _beside(refrains, often, texts)
    return [line for line, text in zip(lines, texts, strict=True) if text not in refrains]


def _without_scattered(lines: list[Line]) -> list[Line]:
    """The lines without those that stand anywhere, as running heads do where a text has lost its pages."""
    # Such a line, digits and signs aside, comes before lines of all kinds; it is cut off where it is glued, too.
    texts = ((index, line.text) for index, line in enumerate(lines) if line.kind is LineKind.TEXT)
    places = group_values((letters_alone(text), index) for index, text in texts if _LONG <= len(text) <= 80)
    often = [(words, at) for words, at in places.items() if len(at) >= SCATTERED and len(words) >= _LONG]
    running = {words for words, at in often if _is_scattered(at, lines)}
    if not running:
        return lines
    forms = (r"[\W\d_]{0,4}".join(map(re.escape, words)) for words in sorted(running))
    glued = re.compile("|".join(rf"^{form}(?=.)|(?<=.){form}$" for form in forms))
    kept = [line for line in lines if line.kind is not LineKind.TEXT or letters_alone(line.text) not in running]
    rest = [(line, glued.sub("", line.text)) for line in kept]
    kept = [line if text == line.text else line.model_copy(update={"text": text}) for line, text in rest]
    return _without_scattered(kept)  # without the second line of a foot the first stands anywhere too


def _is_scattered(indices: Sequence[int], lines: Sequence[Line]) -> bool:
    """Return whether a line stands before lines of three kinds, each twice or more, and often after a short one.

    The end of an option or of a stem goes on from a full line.
    """
    following = Counter(_place_kind(lines[index + 1].text) for index in indices if index + 1 < len(lines))
    if sum(times > 1 for times in following.values()) < 3:
        return False
    edge = max(width(line.text) for line in lines[: 40 * SCATTERED])  # the first lines tell the width
    short = sum(width(lines[index - 1].text) < 0.6 * edge for index in indices if index)
    return short >= 0.25 * len(indices)


def _place_kind(text: str) -> str:
    """Return the kind of a line: of an option, an answer, a question's number, or other text."""
    folded = fold(text)
    if opens_option(folded):
        return "first" if folded.lstrip("(（【[ ")[:1] in "Aa" else "later"
    if _P.field.match(folded) or opens_explanation(folded):
        return "answer"
    return "number" if heads.number_candidate(0, folded) else "text"


def _spaceless(line: Line) -> str:
    """Return the text of a line without spaces; nothing for a line that cannot be a refrain."""
    folded = fold(line.text)
    if line.kind is not LineKind.TEXT or len(folded) > 80 or _P.begins.match(folded) is None:
        return ""
    asks = _P.asks.search(folded) or _P.letters.fullmatch(folded) or heads.number_candidate(0, folded)
    field = _P.field.match(folded) or opens_field(folded)  # Antwort, Gabarito: D
    return "" if asks or field or heads.group_head(folded) or _opens(folded) else spaceless(folded)


def _apart(indices: list[int], lines: list[Line], others: list[int], edges: Mapping[int, float]) -> int:
    """Return in how many places a text neither goes on from a full line nor stands before options."""
    # Of places after the same line, or before the same, the first counts; ``others`` are the lines that come seldom.
    apart = 0
    seen: set[tuple[str, str]] = set()
    for index in indices:
        at = bisect_left(others, index)
        above = [lines[place] for place in others[max(0, at - 1) : at]]
        below = [lines[place] for place in others[at : at + 1]]
        full = any(_is_full(line, edges) for line in (lines[index], *above))
        context = {("above", _P.leading_number.sub("", line.text)) for line in above}
        context |= {("below", _P.leading_number.sub("", line.text)) for line in below}
        apart += not (_before_options(index, lines, others) or full or context & seen)
        seen |= context
    return apart


def _before_options(index: int, lines: Sequence[Line], others: Sequence[int]) -> str:
    """Return ``first`` for a line before the first option, ``later`` before another, nothing elsewhere."""
    at = bisect_left(others, index)
    beside = (others[max(0, at - 1) : at], others[at : at + 1])
    above, below = (any(opens_option(fold(lines[place].text)) for place in part) for part in beside)
    return ("later" if above else "first") if below else ""


def _beside(refrains: Set[str], often: Mapping[str, list[int]], texts: Sequence[str]) -> set[str]:
    """Return the texts that mostly stand right before or after a refrain, or after one that does."""
    grown: set[str] = set()
    near: dict[str, set[int]] = defaultdict(set)
    waiting = list(refrains)
    while waiting:
        for index in often[waiting.pop()]:
            for at in (index - 1, index + 1):
                text = texts[at] if 0 <= at < len(texts) else ""
                if text not in often or text in refrains or text in grown:
                    continue
                near[text].add(at)
                if len(near[text]) >= MOSTLY * len(often[text]):
                    grown.add(text)
                    waiting.append(text)
    return grown


def _is_full(line: Line, edges: Mapping[int, float]) -> bool:
    """Return whether a line runs to the edge of its column, so that its sentence may continue in the next."""
    if line.kind is not LineKind.TEXT:
        return False
    edge = edges[line.column]
    if line.box is None:
        return width(line.text) >= 0.8 * edge  # lines without boxes: a word may not have fitted
    return line.box.x1 > edge - 3 * (line.box.y1 - line.box.y0)  # three heights are three characters


def _last_cell(line: Line) -> str:
    return line.text.rsplit("\t", 1)[-1].strip() if line.kind is LineKind.TEXT else ""


def _titles(line: Line) -> bool:
    return line.kind is LineKind.TEXT and is_title(fold(line.text))


def is_title(text: str) -> bool:
    """Return whether a folded line names an exam and is no question, option or head."""
    title = len(text) <= 60 and TITLE.search(text) and not _P.sentence.search(text)
    return bool(title) and not (heads.number_candidate(0, text) or _opens(text))


def _opens(text: str) -> bool:
    """Return whether a folded line begins an option, an explanation, a section or a key."""
    part = heads.is_section_head(text) or heads.is_likely_key_head(text)
    return part or opens_option(text) or opens_explanation(text)


def _place(line: Line) -> tuple[int, int]:
    return line.page, line.order


def _edges(lines: list[Line]) -> dict[int, Line]:
    """Return the first and the last line of every page, by their identity."""
    return {id(line): line for page in _pages(lines) for line in (page[0], page[-1])}


def _pages(lines: list[Line]) -> list[list[Line]]:
    return list(group_values((line.page, line) for line in lines if line.kind is LineKind.TEXT).values())
