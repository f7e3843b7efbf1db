"""Rows of tabular sources become questions, by the mapping of their columns."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from build_dataset.pipeline.claims.explanations import GLANCES, contradiction
from build_dataset.pipeline.parse import answer_cells, cells, mapping, row_texts
from build_dataset.pipeline.parse.cells import Fields, Options
from build_dataset.pipeline.parse.columns import Columns, Unclear, options_of
from build_dataset.pipeline.parse.fields import filled_blank, letters_inside
from build_dataset.pipeline.parse.heads import ONE_ANSWER, SET_ASIDE, announcement, question_type
from build_dataset.pipeline.parse.labels import LABEL, cut_stem, run_from_a
from build_dataset.pipeline.parse.nets import Caught, Doubts, Furniture, Reading, cast
from build_dataset.pipeline.stage import Each, Failure, here
from build_dataset.schemas.columns import option_of, plain_header, roles_of, vocabulary
from build_dataset.schemas.dataset import SourceParams
from build_dataset.schemas.documents import Document, SourceRow
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.identity import content_hash, row_id, sha256
from build_dataset.schemas.questions import Question, QuestionType
from build_dataset.schemas.wording import counted

_TYPES = frozenset(QuestionType)
_AT_LINE = re.compile(rf"\n\s*{LABEL}\s*[.．、:：)）]")
_BESIDE = {"explanation", "comment", "shared", "year", "chapter", "exam_subject", "points", "link"}
"""Roles of parts that a row may keep within an object: {"meta": {"year": 2010, "solution": …}}."""
_ON_A_CASE = 8  # questions below a case that is written at its first question alone, at most
_BLOCK = 1000  # rows that a process reads at a time: it takes a fifth of a second


@dataclass(eq=False)
class RowError(Exception):
    """A row is no question: a short code, and one sentence."""

    reason: str
    detail: str


Found = tuple[Question, Doubts] | RowError
Read = tuple[SourceRow, Found]


@dataclass(frozen=True)
class SourceTable:
    """A table of questions as it was read: a file, or a sheet of one."""

    document: Document
    sheet: str | None  # none where it is the only one
    columns: Columns | Unclear  # its mapping, or why it was stopped: then every row has that error
    rows: list[Read]
    own_ids: Mapping[int, str] = field(default_factory=dict)  # the source's, by row, where it stands once
    settings: SourceParams = field(default_factory=SourceParams)
    notes: Sequence[str] = ()  # what was cut off all its questions
    part: str = ""  # behind the document's name where ids count: `#Sheet2`, nothing for its first sheet

    @property
    def name(self) -> str:
        """Its name for people and in the manifest: ``bank.xlsx#Sheet1``."""
        return self.document.document if self.sheet is None else f"{self.document.document}#{self.sheet}"

    def caught(self) -> Caught:
        """Return its questions after the nets, and the doubts about the whole of it."""
        readings = [Reading(*result) for _, result in self.rows if not isinstance(result, RowError)]
        doubted = cast(self.name, readings, self.settings)
        return doubted._replace(notes=[*self.notes, *doubted.notes])

    def notices(self) -> list[str]:
        """Return what people must know: why it was stopped, or that its questions have no key."""
        where = f'under [sources."{self.name}"]'
        if isinstance(self.columns, Unclear):
            reasons = {result.reason for _, result in self.rows if isinstance(result, RowError)}
            if self.columns.reason not in reasons:  # items of another kind, as each row tells
                return []
            return [f"{counted(len(self.rows), 'row')} not read: {self.columns.detail} {where}"]
        questions = [result[0] for _, result in self.rows if not isinstance(result, RowError)]
        if not questions or any(question.answer for question in questions):
            return []
        return [
            f"no column holds the key of {counted(len(questions), 'question')}, and none is released without; if there "
            f'is one, write answer = "…" {where} in dataset.toml'
        ]


@dataclass
class _Raw:
    """A row, and what is read from it once."""

    row: SourceRow
    fields: Fields
    columns: Columns
    own_id: str | None  # the source's, where it stands once

    @cached_property
    def options(self) -> Options:
        """Its options."""
        return options_of(self.fields, self.columns)

    @cached_property
    def stem(self) -> str:
        """Its stem without the options behind it."""
        stem = cells.text_of(self.fields, self.columns.roles.get("stem", ())) or ""
        return cut_stem(stem)[0] if self.columns.options_in_stem else stem


class _Habits:
    """Facts about a table that its rows are read by."""

    def __init__(self, rows: Sequence[_Raw], columns: Columns, space: str, declared: SourceParams) -> None:
        self.columns, self.space = columns, space  # its mapping; the scope of the source's own ids
        self.explained = declared.explanations != "ignore"
        shares = [cells.first(row.fields, columns.roles.get("accuracy", ())) for row in rows]
        # Accuracies are in percent where one is above 1: then 1 means 1 %.
        bare = [cells.number(value) or 0 for value in shares if not cells.has_percent_sign(value)]
        self.percent = max(bare, default=0) > 1
        sample = rows[: mapping.SAMPLE]
        sizes = Counter(len(row.options.pairs) for row in sample)
        self.size = sizes.most_common(1)[0][0] if sizes else 0  # options that most rows have
        self.spaced = 2 * sum(row.options.spaced for row in sample) > len(sample)
        self.numbered = row_texts.numbers_lead([row.stem for row in rows])
        stems = [row_texts.without_head(row.stem, row.row.row, numbered=self.numbered)[0] for row in sample]
        texts = [[text for _, text in row.options.pairs] for row in sample]
        last = [row[-1] for row in texts if row]
        explanations = [cells.text_of(row.fields, columns.roles.get("explanation", ())) or "" for row in sample]
        # Cut off before ids are made of the texts; the nets look at whole questions later.
        self.furniture = Furniture({"stem": stems, "last": last, "explanation": explanations}, declared.furniture)


def read_block(block: tuple[Document, _Habits, Sequence[_Raw]]) -> list[Found]:
    """Read some rows of a table, in any process."""
    document, habits, rows = block
    told = [cells.text_of(row.fields, habits.columns.roles.get("explanation", ())) or "" for row in rows]
    for glance in GLANCES:
        glance.look(told)
    return [_question(row, document, habits) for row in rows]


def sources_of(
    rows: Iterable[SourceRow], document: Document, declared: Mapping[str | None, SourceParams | None], each: Each = here
) -> list[SourceTable]:
    """The tables of a document: its sheets, each with a mapping of its own; declared under None holds for all."""
    sheets = group_values((row.sheet, row) for row in rows)
    said = {sheet: declared.get(sheet, declared.get(None)) for sheet in sheets}
    parts = {sheet: f"#{sheet}" if at else "" for at, sheet in enumerate(sheets)}
    read = [questions_of(own, document, said[sheet], parts[sheet], each) for sheet, own in sheets.items()]
    return read if len(read) > 1 else [replace(table, sheet=None) for table in read]


def questions_of(
    rows: Sequence[SourceRow],
    document: Document,
    declared: SourceParams | None = None,
    part: str = "",
    each: Each = here,
) -> SourceTable:
    """Read each row of a table, in their order: by facts about all of it, and then block by block."""
    declared = declared or SourceParams()
    loaded = {row.row: _loaded(row) for row in rows}
    answer_cells.cut_explanations([fields for fields in loaded.values() if not isinstance(fields, RowError)])
    columns = mapping.find_mapping([fields for fields in loaded.values() if not isinstance(fields, RowError)], declared)
    sheet = rows[0].sheet if rows else None
    if isinstance(columns, Unclear):
        return SourceTable(document, sheet, columns, [(row, _stopped(row, columns)) for row in rows])
    sound = [(row, fields) for row in rows if not isinstance(fields := loaded[row.row], RowError)]
    ids = {row.row: cells.text_of(fields, columns.roles.get("id", ())[:1]) for row, fields in sound}
    times = Counter(ids.values())
    own_ids = {row: identifier for row, identifier in ids.items() if identifier and times[identifier] == 1}
    raw = [_Raw(row, fields, columns, own_ids.get(row.row)) for row, fields in sound]
    habits = _Habits(raw, columns, document.document + part, declared)
    made: dict[int, Found] = {number: fields for number, fields in loaded.items() if isinstance(fields, RowError)}
    parts = (raw[at : at + _BLOCK] for at in range(0, len(raw), _BLOCK))
    for (_, _, block), outcome in each(read_block, ((document, habits, some) for some in parts)):
        if isinstance(outcome, Failure):
            failed = RowError("parser_failed", f"{document.document}: the parser failed: {outcome.detail}")
            outcome = [failed] * len(block)
        made |= zip((row.row.row for row in block), outcome, strict=True)
    read: list[Read] = [(row, made[row.row]) for row in rows]
    _case_written_once(read, columns)
    if columns.options_in_stem:  # alike stems lost nothing: their options, which differ, stand in the same text
        declared = declared.model_copy(update={"accept": [*declared.accept, "stems_alike"]})
    return SourceTable(document, sheet, columns, read, own_ids, declared, habits.furniture.notes, part)


def _case_written_once(read: list[Read], columns: Columns) -> None:
    """Doubt the rows without a case below one whose case no other row has, in place: it may be theirs too."""
    # Not where rows say that they stand alone (A1, 单选题) or belong together, or other cases stand at each question.
    if "shared" not in columns.roles or "group" in columns.roles:
        return
    cases = [None if isinstance(result, RowError) else result[0].shared_stem for _, result in read]
    if any(before is not None and before == after for before, after in pairwise(cases)):
        return
    last: int | None = None
    for at, (_, result) in enumerate(read):
        if cases[at] or isinstance(result, RowError):
            last = at if cases[at] else last
            continue
        on_a_case = "type" not in columns.roles or result[0].question_type is QuestionType.A3_A4
        if last is not None and at - last <= _ON_A_CASE and on_a_case:
            result[1].append(("case_missing", f"the case of row {read[last][0].row} may be its own too"))


def _loaded(row: SourceRow) -> dict[str, Any] | RowError:
    try:
        loaded = json.loads(row.fields)
    except (ValueError, RecursionError):
        return RowError("not_json", f"row {row.row} is no JSON that can be read")
    if not isinstance(loaded, dict):
        return RowError("not_an_object", f"row {row.row} is {type(loaded).__name__}, not an object")
    if "unparsed" in loaded and "why" in loaded:
        return RowError("not_json", f"row {row.row} cannot be read: {loaded['why']}")
    fields = {str(key).strip(): value for key, value in cells.in_one_language(loaded).items()}
    for name, value in list(fields.items()):  # {"question": {"stem": …, "choices": …}, "answerKey": …}
        if isinstance(value, dict) and "stem" in roles_of(name):
            del fields[name]
            fields |= {str(key).strip(): part for key, part in value.items()}
        elif isinstance(value, dict) and not roles_of(name) and not option_of(name):
            # {"other": {"solution": …}}: a part that is known by its own name
            known = {str(key).strip(): part for key, part in value.items() if _BESIDE & {*roles_of(str(key))}}
            rest = {key: part for key, part in value.items() if str(key).strip() not in known}
            fields = {**known, **fields, name: rest} if known else fields
    return fields


def _question(raw: _Raw, document: Document, habits: _Habits) -> Found:
    """The question in a row, and what is doubtful about it; or why it is none. Columns of labels are not read."""
    columns, row, fields, options, stem = habits.columns, raw.row, raw.fields, raw.options, raw.stem
    text = {role: cells.text_of(fields, names) for role, names in columns.roles.items()}
    text["explanation"] = cells.whole_of(fields, columns.roles.get("explanation", ())[:1]) or text.get("explanation")
    stated = cells.first(fields, columns.roles.get("answer", ()))
    doubts: Doubts = []
    named = None
    if stem:
        stem, named = row_texts.without_head(stem, row.row, numbered=habits.numbered)
        stem, note = habits.furniture.cut("stem", stem)
        *before, (label, last) = options.pairs or [("", "")]
        bare, more = habits.furniture.cut("last", last)
        options = options if bare == last else replace(options, pairs=[*before, (label, bare)])
        text["comment"] = text.get("comment") or note or more
        text["explanation"] = habits.furniture.cut("explanation", text["explanation"] or "")[0] or None
        stem = row_texts.bare_stem(stem, row.row, options, doubts)
    kind = announcement(text.get("type") or named or row.sheet or "").kind
    if not stem:
        names = " / ".join(columns.roles.get("stem", ()))
        return RowError("no_stem", f"row {row.row} has no stem in {names}")
    if not options.pairs:
        return _without_options(row, kind, stated)
    options = row_texts.labelled_once(options, doubts)
    answer, accepted = _answers(stated, options, columns.encoding)
    if (fewer := row_texts.without_placeholders(options, answer or ())) is not options:
        options, (answer, accepted) = fewer, _answers(stated, fewer, columns.encoding)
    labels = [label for label, _ in options.pairs]
    blank, filled = filled_blank(stem, labels, anywhere=False)
    if filled and ((answer is None and stated is None) or answer == list(filled)):
        stem, answer = blank, list(filled)
    elif filled or (answer and letters_inside(stem) == "".join(answer)):  # 以（A）为主线 tells the key
        doubts.append(("answer_in_text", f"the stem holds {letters_inside(stem)}, the key is {''.join(answer or [])}"))
    doubts += _doubts(raw, options, answer, stated)
    read = (answer_cells.read_answer(fields.get(name), options, how) for name, how in columns.keys.items())
    if len(said := {"".join(key) for key in read if key}) > 1:
        doubts.append(("answers_disagree", f"two columns of keys say {' and '.join(sorted(said))}"))
    if options.spaced and not habits.spaced:
        doubts.append(("label_inside_text", "its options alone begin with labels, which may be words"))
    keyed = () if accepted else answer or ()
    why = habits.explained and contradiction(text.get("explanation"), stem, dict(options.pairs), keyed)
    doubts += [("explanation_disagrees", why)] if why else []
    doubts += row_texts.unusual_texts(options, habits.size, [stem, *(option for _, option in options.pairs)])
    void = str(cells.first(fields, columns.roles.get("void", ()))).casefold() in vocabulary()["words"]["right"]
    doubts += [("answer_not_read", "a column says that the question was withdrawn")] if void else []
    if answer and len(answer) > 1 and not accepted and kind in ONE_ANSWER:
        doubts.append(("several_answers", f"answer {''.join(answer)} of an item for one answer"))
    shared, group = cells.whole_of(fields, columns.roles.get("shared", ())), text.get("group")
    shared = None if shared in (stem, text.get("stem")) else shared  # a source may repeat the stem as its material
    content = content_hash(stem, (option for _, option in options.pairs), shared)
    letters = "".join(answer[:1] if accepted else answer) if answer else None
    stated = (text.get("type"), kind if not letters or len(letters) == 1 else None)
    named = next((QuestionType(name) for name in stated if name in _TYPES), None)
    question = Question(
        question_id=row_id(habits.space, raw.own_id, content),
        document=document.document,
        section=None,
        number=row.row,
        question_type=named or question_type(kind, stem, letters, shared_case=shared is not None, shared_options=False),
        stem=stem,
        shared_stem=shared,
        group_id=f"{sha256(document.document)[:8]}-{group}" if group else None,  # a source's ids are its own
        options=[{"label": label, "text": option} for label, option in options.pairs],  # validated in one go
        answer=sorted(answer, key=labels.index) if answer and set(answer) <= set(labels) else answer,
        accepted_answers=accepted,
        explanation=text.get("explanation"),
        human_accuracy=_accuracy(fields, columns, percent=habits.percent),
        respondents=cells.count(cells.first(fields, columns.roles.get("total", ()))),
        comment=text.get("comment"),
        attachments=["figure"] if _has_figure(fields, columns) else None,
        exam_type=text.get("exam_type") or document.exam_type,
        exam_class=text.get("exam_class") or document.exam_class,
        exam_subject=text.get("exam_subject") or document.exam_subject,
        year=text.get("year"),
        chapter=text.get("chapter"),
        points=cells.number(text.get("points")),
        link=link if (link := text.get("link")) and link.startswith(("http://", "https://")) else None,
        content_hash=content,
    )
    return question, doubts


def _has_figure(fields: Fields, columns: Columns) -> bool:
    """Return whether a column holds or names a picture of the question, or says that there is one."""
    words = vocabulary()["words"]
    flags = [(name, "wrong") for name in columns.roles.get("text_only", ())]
    flags += [(name, "right") for name in columns.roles.get("has_image", ())]
    declared = any((cells.string(fields.get(name)) or "").casefold() in words[verdict] for name, verdict in flags)
    shown = [value for name in columns.roles.get("image", ()) if cells.filled(value := fields.get(name))]
    return declared or any(str(value) not in columns.decoration for value in shown)


def _stopped(row: SourceRow, why: Unclear) -> RowError:
    """A row of a table that cannot be read; one whose items have no options may be of another kind."""
    if why.reason == "no_options":
        fields = {} if isinstance(loaded := _loaded(row), RowError) else loaded
        weak = vocabulary()["weak"]["stem"]
        roles = {role for name in fields if plain_header(name) not in weak for role in roles_of(name)}
        # {"question": "…", "isCorrect": false} is a statement; {"text": "…", "isCorrect": false} may be an option.
        flags = vocabulary()["options"]["flags"] if "stem" in roles and "options" not in roles else ()
        keys = [name for name in fields if "answer" in roles_of(name) or plain_header(name) in flags]
        stated = cells.text_of(fields, keys)
        named = cells.text_of(fields, [name for name in fields if "type" in roles_of(name)])
        reason = _without_options(row, announcement(named or row.sheet or "").kind, stated)
        if reason.reason != why.reason:
            return reason
    return RowError(why.reason, why.detail)


def _without_options(row: SourceRow, kind: str | None, stated: Any) -> RowError:
    """A row without options: an item of another kind where its type or key says so (判断题, 对)."""
    if (cells.string(stated) or "").casefold() in vocabulary()["words"]["true_false"]:
        kind = "true_false"
    if kind in SET_ASIDE:
        return RowError(kind, f"row {row.row} is {SET_ASIDE[kind]}")
    return RowError("no_options", f"row {row.row} has no options that can be read")


def _answers(
    stated: Any, options: Options, encoding: answer_cells.AnswerEncoding
) -> tuple[list[str] | None, list[list[str]] | None]:
    """The key, and every accepted answer where several earn the mark."""
    if stated is None and options.right:
        return sorted(options.right), None
    if several := answer_cells.accepted_of(stated, [label for label, _ in options.pairs]):  # A或C, 送分
        return several
    return answer_cells.read_answer(stated, options, encoding), None


def _doubts(raw: _Raw, options: Options, answer: list[str] | None, stated: Any) -> Doubts:
    """Return the open points of a row. The clean stage decides whether it makes a sound question."""
    doubts = []
    lists = [part for name, part in raw.fields.items() if isinstance(part, list) and name not in raw.columns.names()]
    if any("answer" in roles_of(key) for part in lists for one in part if isinstance(one, dict) for key in one):
        doubts.append(("several_answers", "it holds several questions, each with an answer of its own"))
    labels = [label for label, _ in options.pairs]
    if not run_from_a(labels):
        doubts.append(("options_not_contiguous", f"labels {' '.join(labels)}"))
    lines = [label for label, text in options.pairs if "\n" in text and _AT_LINE.search(text)]
    if inside := list(dict.fromkeys([*options.inside, *lines])):
        doubts.append(("label_inside_text", f"what looks like a label stands inside {' '.join(inside)}"))
    given = json.dumps(stated, ensure_ascii=False) if isinstance(stated, dict | list) else cells.string(stated)
    if answer is None and given not in (None, "[]", "{}"):
        doubts.append(("answer_not_read", f"answer given as {given[:40]!r}"))
    letters = re.sub(r"[\W_]", "", given) if given and len(given) > 1 else ""  # CCE, C,E,C
    if len(labels) > 2 and sorted(letters) == sorted(labels) != [*letters]:  # DBEAC of A to E
        doubts.append(("answer_not_read", f"the key {str(given)[:40]} gives an order"))
    if letters and set(letters) <= {*labels} and len({*letters}) < len(letters):
        doubts.append(("answer_not_read", f"the key {str(given)[:40]} names a letter twice"))
    return doubts


def _accuracy(fields: Fields, columns: Columns, *, percent: bool) -> float | None:
    """Share of right answers in 0..1: as stated, or people right over people asked."""
    stated = cells.share(cells.first(fields, columns.roles.get("accuracy", ())), percent=percent)
    if stated is not None:
        return stated
    people = [cells.first(fields, columns.roles.get(name, ())) for name in ("right", "total")]
    right, total = map(cells.count, people) if None not in people else (None, None)
    return right / total if right is not None and total and right <= total else None
