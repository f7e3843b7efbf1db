"""Formats that learning systems exchange: Moodle XML, QTI 1.2 and 2, GIFT, Aiken; and blocks with the letter first."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from build_dataset.pipeline.ocr.interfaces import TableRow
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.encoding import decode, looks_like_text
from build_dataset.pipeline.ocr.readers.header import row_of
from build_dataset.pipeline.ocr.readers.tabular import is_asked, questions
from build_dataset.pipeline.ocr.readers.webpage import plain_html
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.errors import UnreadableDocument, refused_as
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
_KINDS = {"truefalse": "判断题", "shortanswer": "填空题", "numerical": "填空题", "cloze": "填空题", "essay": "简答题"}
"""Kinds of items without options to choose from, as the parser knows them."""
LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def item_of(stem: str, options: Sequence[str], right: Sequence[bool], **more: str | None) -> dict[str, Any]:
    """Return the fields of an item: its options by letter, and the letters that are right."""
    pairs = dict(zip(LABELS, options, strict=False))
    letters = "".join(label for label, is_right in zip(LABELS, right, strict=False) if is_right)
    found = {"question": stem, "options": pairs or None, "answer": letters or None, **more}
    return {name: value for name, value in found.items() if value}


class XmlReader:
    """Moodle's quizzes, items in IMS QTI, and questions under any names: ``<question><text>``."""

    format = "quiz_xml"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether its root is that of one of them, or it is called XML."""
        text = head[:4000].decode("utf-8", "replace") if looks_like_text(head) else ""
        return bool(text) and (suffix == ".xml" or _P.xml_root.search(text) is not None)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:  # noqa: ARG002
        """Each item; the text of its parts without markup."""
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        with refused_as("broken", "not well-formed XML", (etree.XMLSyntaxError, ValueError)):
            root = etree.fromstring(path.read_bytes(), parser)
        for element in root.iter():  # names without their namespaces
            if isinstance(element.tag, str):
                element.tag = etree.QName(element).localname
        moodle = (_moodle(one) for one in root.iter("question") if one.find("questiontext") is not None)
        found = [*moodle, *map(_qti_1, root.iter("item")), *map(_qti_2, root.iter("assessmentItem"))]
        if not any(found):
            found = [row for row in questions(_object(root)) if is_asked(row)]
        if not any(found):
            raise UnreadableDocument("unknown_format", "the XML holds no list of questions")
        yield from map(row_of, found)


def _object(element: Any) -> Any:
    """Return an element as JSON has it: ``<q no="1"><stem>甲</stem></q>`` is ``{"no": "1", "stem": "甲"}``."""
    if any((one.tail or "").strip() for one in element):  # markup within a text: <stem>Le <em>vin</em> est</stem>
        return _markup(element)
    parts = group_values((one.tag, _object(one)) for one in element if isinstance(one.tag, str))
    text = (element.text or "").strip()
    if not parts and not element.attrib:
        return text
    for values in parts.values():  # <reponse>甲</reponse> beside <reponse correct="1">乙</reponse>
        if any(isinstance(one, dict) for one in values):
            values[:] = [{"text": one} if isinstance(one, str) else one for one in values]
    whole = {name: values[0] if len(values) == 1 else values for name, values in parts.items()}
    if len(parts) == 1 and not (text or element.attrib) and isinstance(listed := next(iter(whole.values())), list):
        return listed  # <answers><answer>甲</answer><answer>乙</answer></answers>
    return {**element.attrib, **({"text": text} if text else {}), **whole}


def _moodle(question: Any) -> dict[str, Any]:
    kind = question.get("type", "")
    answers = question.findall("answer") if kind in ("multichoice", "multichoiceset") else []
    shares = [float(one.get("fraction") or 0) for one in answers]
    single = (question.findtext("single") or "true").strip() in ("true", "1")
    right = [share > 0 and (share == max(shares) or not single) for share in shares]
    stem, why = (_inner(question.find(name)) for name in ("questiontext", "generalfeedback"))
    return item_of(stem, [_inner(one) for one in answers], right, type=_KINDS.get(kind), explanation=why)


def _inner(part: Any) -> str:
    """Return the text of a part of Moodle's: HTML, written out."""
    return "" if part is None else plain_html(part.findtext("text") or part.text or "")


def _markup(part: Any) -> str:
    from lxml import etree

    if part is None:
        return ""
    text = etree.tostring(part, encoding="unicode", with_tail=False)
    return plain_html("".join(part.itertext()) if part.tag == "mattext" else text)


def _qti_1(item: Any) -> dict[str, Any]:
    labels = [*item.iter("response_label")]
    stem = "\n".join(_markup(one) for one in item.xpath(".//presentation//mattext[not(ancestor::response_label)]"))
    named = {one.text for one in _scored(item) for one in one.iter("varequal")} if labels else set()
    texts = ["\n".join(map(_markup, label.iter("mattext"))) for label in labels]
    why = "\n".join(_markup(one) for part in item.iter("itemfeedback") for one in part.iter("mattext"))
    return item_of(stem, texts, [label.get("ident") in named for label in labels], explanation=why)


def _scored(item: Any) -> Iterator[Any]:
    """The conditions of an item under which marks are given."""
    for condition in item.iter("respcondition"):
        given = [(one.text or "").strip() for one in condition.iter("setvar")]
        for part in condition.findall("conditionvar") if any(_P.marks.fullmatch(one) for one in given) else ():
            for denied in [*part.iter("not")]:
                denied.getparent().remove(denied)
            yield part


def _qti_2(item: Any) -> dict[str, Any]:
    choices = [*item.iter("simpleChoice")]
    named = {(one.text or "").strip() for part in item.iter("correctResponse") for one in part.iter("value")}
    body = item.find("itemBody")
    texts, right = [*map(_markup, choices)], [one.get("identifier") in named for one in choices]
    for choice in choices:
        choice.getparent().remove(choice)
    return item_of(_markup(body), texts, right, explanation="\n".join(map(_markup, item.iter("modalFeedback"))))


class GiftReader:
    """Moodle's GIFT: ``::title:: stem {=right ~wrong #why}``."""

    format = "gift"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is called so, or is text with two items or more."""
        text = head.decode("utf-8", "replace") if looks_like_text(head) else ""
        return bool(text) and (suffix == ".gift" or (suffix == ".txt" and len(_P.gift.findall(text)) > 1))

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:  # noqa: ARG002
        """Each item; text between items is for the parser to reject."""
        text = re.sub(r"(?m)^\s*(?://|\$CATEGORY:).*$", "", decode(path.read_bytes()))
        for block in filter(str.strip, re.split(r"\n[ \t]*\n|\n(?=[ \t]*::)", text)):
            found = _P.gift_item.fullmatch(block)
            yield row_of(_gift(*found.group("stem", "body", "rest")) if found else {"unparsed": block.strip()})


def _gift(stem: str, body: str, rest: str) -> dict[str, Any]:
    whole = f"{stem.strip()} _____ {rest.strip()}" if rest.strip() else stem  # a word is missing
    body, _, why = body.partition("####")
    marks = [*_P.gift_mark.finditer(body)]
    kind = "判断题" if _P.gift_verdict.match(body) else None if any(one[1] == "~" for one in marks) else "填空题"
    texts, right = list[str](), list[bool]()
    for mark, after in zip_longest(marks, marks[1:]):
        said = body[mark.end() : after.start() if after else len(body)]
        texts.append(_unescaped(re.split(r"(?<!\\)#", said, maxsplit=1)[0]))
        right.append(mark[1][-1] == "=" or float(mark[2] or 0) > 0)
    stem = _P.gift_format.sub("", whole.strip())
    texts, right = ([], []) if kind else (texts, right)
    return item_of(_unescaped(stem), texts, right, type=kind, explanation=_unescaped(why))


def _unescaped(text: str) -> str:
    return plain_html(re.sub(r"\\([~=#{}:\\])", r"\1", text.replace("\\n", "\n"))).strip()


class BlockReader:
    """Aiken (stem, options, ``ANSWER: C``), and blocks that begin with the letter of the key, as LogiQA's."""

    format = "aiken"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is a text of such blocks."""
        text = head.decode("utf-8", "replace") if suffix == ".txt" and looks_like_text(head) else ""
        return bool(text) and (len(_P.aiken.findall(text)) > 1 or len(_P.letter_first.findall(text)) > 1)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:  # noqa: ARG002
        """Each block; one without options or a key is for the parser to reject."""
        text = decode(path.read_bytes()).replace("\r\n", "\n")
        ends = len(_P.aiken_end.findall(text)) > 1
        blocks = _P.aiken_end.sub(r"\n\g<0>\f", text).split("\f") if ends else _P.before_letter.split(text)
        yield from (row_of(_block(block)) for block in blocks if block.strip())


def _block(block: str) -> dict[str, Any]:
    key = _P.aiken_end.search(block) or _P.letter_alone.match(block)
    text = block.replace(key[0], "\n", 1) if key else block
    marks = [*_P.option_line.finditer(text)]
    starts = [at for at, mark in enumerate(marks) if mark[1].upper() == "A"]
    if key is None or not starts:
        return {"unparsed": block.strip()}
    marks = marks[starts[-1] :]  # A company … before them is the stem
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    options = {mark[1].upper(): text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}
    if [*options] != [*LABELS[: len(marks)]]:
        return {"unparsed": block.strip()}
    return {"question": text[: marks[0].start()].strip(), "options": options, "answer": key[1].upper()}
