"""Checks of one question: its structure, what stands in its texts, its answer against what stands beside it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise

from build_dataset.pipeline.claims.explanations import contradiction
from build_dataset.pipeline.parse import heads
from build_dataset.pipeline.parse.checks import Checks, Judged, ParseCheck
from build_dataset.pipeline.parse.draft import Draft, text_of
from build_dataset.pipeline.parse.fields import opens_field, split_fields
from build_dataset.pipeline.parse.folding import structural, without_digits
from build_dataset.pipeline.parse.labels import find_labels, has_label, labels_in, opens_option, run_from_a
from build_dataset.pipeline.parse.lines import ParsedLine, is_complete_line
from build_dataset.pipeline.parse.options import find_run
from build_dataset.pipeline.parse.running import is_title
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import Part

_P = Patterns(__name__)
GOES_ON = _P.goes_on
MANY = 12  # questions from which on no case is shared by those that a head names
MAX_NUMBER_AHEAD = 5  # a text may speak of questions whose numbers are so many further on: 1. A 肝… 2. 3. D
LONG_OPTION, TIMES = 60, 4  # an option longer than this, and so many times the others, may hold what follows it
_LABELS_INSIDE = _P.table("labels_inside")
_TEXTS = [(row, re.compile(row["pattern"])) for row in _P.rows("texts")]  # parts that stop a question
EVERY = ("parts", "middle")  # groups of which every text that one matches is told, not the first alone
STRUCTURE, CONTENT = Checks("question"), Checks("question")


def texts_of(draft: Draft) -> Iterator[tuple[str, str]]:
    """Return the parts of a question by name: stem, case, options."""
    yield "stem", draft.stem
    if draft.shared_stem:
        yield "case", draft.shared_stem
    yield from ((f"option {label}", text) for label, text in draft.options)


def last_option_lines(draft: Draft) -> list[ParsedLine]:
    """Return the line on which an item's last label stands and those under it, up to its answer or what follows."""
    texts = [piece.text for piece in draft.pieces]
    labels = [i for i, text in enumerate(texts) if i and (has_label(text) or opens_option(text))]
    first = 0 if draft.shared_options else next(iter(labels), 0)  # 答案：B / A. 甲: the options stand behind it
    end = next((i for i, text in enumerate(texts) if i > first and opens_field(text)), len(texts))
    return draft.pieces[max((i for i in labels if i < end), default=0) : end]


def under_options(draft: Draft) -> list[str]:
    """Lines of an item after the one on which its last label stands, up to its explanation; its first line aside."""
    texts = [piece.text for piece in last_option_lines(draft)[1:]]
    return [text for text in texts if len(without_digits(text)) > 3 and not GOES_ON.match(text)]


def explained_together(draft: Draft) -> bool:
    """Return whether its explanation speaks of all parts of its item: what it concludes may be of another part."""
    return any(step.rule == "parts_of_an_item" for step in draft.steps)


@STRUCTURE("options_not_contiguous", "A. 甲 C. 丙")
def _labels_in_order(draft: Draft, _: Judged) -> Iterable[str]:
    labels = [label for label, _ in draft.options]
    if len(labels) < 2 or not run_from_a(labels):
        yield f"labels {' '.join(labels)}"


@STRUCTURE("empty_option", "A. 甲 B. C. 丙")
def _empty_options(draft: Draft, _: Judged) -> Iterable[str]:
    signs = not any(char.isalnum() for _, text in draft.options for char in text)  # A. * B. % C. _ D. .
    form = _P.blank_text if signs else _P.placeholder
    if empty := [label for label, text in draft.options if form.fullmatch(text)]:
        yield f"no text at {' '.join(empty)}"


@STRUCTURE("label_inside_text", "A. 甲C.乙; A. 甲⇥B. 乙⇥丙, written with tabs: on a page they are gaps of any kind")
def _glued_label(draft: Draft, judged: Judged) -> Iterable[str]:
    for piece in [] if judged.gaps.drawn else draft.pieces:
        parts = [part.strip() for part in piece.text.split("\t") if part.strip()]
        bare = [it for it in parts[1:] if not (opens_option(it) or opens_field(it) or _P.bare_label.match(it))]
        if bare and sum(map(opens_option, parts)) > 1:
            yield f"{bare[0][:20]!r} stands apart among labelled options, and has no label"
    looks = [re.search(rf"\s{at}[.．、]|\A{at}\.\s|{at}、\Z", text) for at, text in draft.options]  # C. C. Map, 乙B、
    looks += [_P.label_inside.search(text) for name, text in texts_of(draft) if name != "case"]
    if match := next(filter(None, looks), None):
        near = match.string[max(0, match.start() - 10) : match.end() + 10]
        yield f"what looks like an option's label stands inside a text: {near!r}"


def _texts_found(group: str, reason: str, draft: Draft, _: Judged) -> Iterable[str]:
    """Find texts that a row of a group matches, each by its first one: all of them, or of some groups one text."""
    rows = [(row, pattern) for row, pattern in _TEXTS if row["group"] == group]
    for name, text in [*texts_of(draft), ("explanation", draft.explanation or "")]:
        shown = text if group == "characters" else structural(text)
        matches = ((row, pattern.search(shown)) for row, pattern in rows if name.split()[0] in row["of"])
        row, match = next(((row, match) for row, match in matches if match), (None, None))
        if row and match and row["reason"] == reason:
            near, code = text[max(0, match.start() - 20) : match.end() + 20], f"U+{ord(match[0][0]):04X}"
            yield row["says"].format(name=name, near=near, code=code, head=text[:20], tail=text[-40:])
        if match and group not in EVERY:
            return


def _text_checks(group: str) -> list[ParseCheck]:
    examples = {row["reason"]: row["example"] for row, _ in _TEXTS if row["group"] == group}
    return [ParseCheck(why, partial(_texts_found, group, why), "question", shown) for why, shown in examples.items()]


STRUCTURE += _text_checks("key")


@STRUCTURE("no_stem", "1. A. 甲 B. 乙")
def _no_stem(draft: Draft, _: Judged) -> Iterable[str]:
    if not draft.shared_stem and not re.search(r"\w", draft.stem):
        yield "no text before the options"


@STRUCTURE("answer_not_in_options", "答案：E, of A to D")
def _absent_answer(draft: Draft, _: Judged) -> Iterable[str]:
    labels, letters = dict(draft.options), draft.answer or ""
    listed = f"options {' '.join(sorted(labels))}"
    if not {*letters} <= {*labels} or len({*letters}) != len(letters):
        yield f"answer {letters}, {listed}"
    strange = [answer for answer in draft.accepted or [] if not {*answer} <= {*labels}]
    if letters and strange:
        yield f"accepted {' '.join(strange)}, {listed}"


@STRUCTURE("several_answers", "一、单选题 … 答案：AC")
def _several_answers(draft: Draft, _: Judged) -> Iterable[str]:
    if len(draft.answer or "") > 1 and draft.announced in heads.ONE_ANSWER:
        yield f"answer {draft.answer} under a head for one answer"


CONTENT += [check for group in ("characters", "parts", "middle") for check in _text_checks(group)]


@CONTENT("label_inside_text", "D. 丁F. 己")
def _labels_inside(draft: Draft, _: Judged) -> Iterable[str]:
    form = next((step.rule for step in draft.steps if step.part is Part.OPTIONS), "")
    forms = [_LABELS_INSIDE[form]] if form in _LABELS_INSIDE else list(_LABELS_INSIDE.values())
    last, text = draft.options[-1]
    for labels in forms:
        later = [match[1].upper() for match in labels.finditer(text)]
        if any(last < letter <= chr(ord(last) + 4) for letter in later):
            yield f"a label stands in option {last}: {text[-30:]!r}"
        for name, part in texts_of(draft):
            marks = [*labels.finditer(part)]
            letters = [mark[1].upper() for mark in marks]
            if name != "case" and any(ord(after) == ord(before) + 1 for before, after in pairwise(letters)):
                place = part[marks[0].start() : marks[-1].end() + 10].strip()[-100:]
                yield f"labels stand in {name}: {''.join(letters)} of {place!r}"


@CONTENT("case_inside", "D. 丁 / 男，45岁。上腹痛3天")
def _case_inside(draft: Draft, _: Judged) -> Iterable[str]:
    cases = [label for label, text in draft.options if heads.is_case(text)]
    ends_with_case = len(draft.options) > 2 and cases == [draft.options[-1][0]]
    under = [draft.options[-1][1]] if ends_with_case else [*filter(heads.tells_of_patient, under_options(draft))]
    if under:
        yield f"option {draft.options[-1][0]} alone tells of a patient: {under[0][:100]!r}"
    inside = find_run(draft.shared_stem) if draft.shared_stem and not draft.shared_options else None
    if inside and len(inside.options) > 2 and inside.strength > 2:
        yield f"options stand in the case: {inside.options[0][1][:40]!r}"
    if draft.stem and draft.shared_stem and _P.asks_in_case.search(draft.shared_stem):
        yield f"a question stands in the case: {draft.shared_stem[-20:]!r}"


@CONTENT("label_inside_text", "C. 丙 / A. 甲 B. 乙")
def _label_before_a(draft: Draft, _: Judged) -> Iterable[str]:
    for place, piece in enumerate(draft.pieces):
        if place and (match := _P.later_label.match(piece.text)):
            if match[1] != "A":
                yield f"a line before option A begins with {match[1]}"
            return
        if any(label.letter == "A" and label.strength > 1 for label in find_labels(piece.text)):
            return


@CONTENT("option_too_long", "D. 丁 and a paragraph that is none of it")
def _long_option(draft: Draft, judged: Judged) -> Iterable[str]:
    sizes = sorted((len(text), label) for label, text in draft.options)
    (second, _), (longest, label) = sizes[-2:] if len(sizes) > 1 else ((0, ""), (0, ""))
    long = longest > LONG_OPTION and longest > TIMES * second and not draft.shared_options
    lines = draft.pieces[max((i for i, piece in enumerate(draft.pieces) if has_label(piece.text)), default=0) :]
    full = len(lines) > 1 and not any(is_complete_line(piece, judged.edges) for piece in lines[:-1])
    # The last option runs over full lines without a stop: no other text stands under it.
    paragraph = label == draft.options[-1][0] and full and not re.search(r"[？?。](?=.)", draft.options[-1][1])
    if long and not paragraph:
        yield f"{label} has {longest} characters, the others at most {second}: {dict(draft.options)[label][-100:]!r}"


@CONTENT("options_alike", "A. 甲 B. 甲")
def _alike_options(draft: Draft, _: Judged) -> Iterable[str]:
    bare = Counter(_P.space_of_none.sub("", text) for _, text in draft.options if text)  # 5 3 is not 53
    if same := [text for text, times in bare.items() if times > 1]:
        yield f"two options say {same[0][:20]!r}"


@CONTENT("several_option_runs", "答案：A / 2 was not read … A. 甲 B. 乙 / 答案：B")
def _options_between_answers(draft: Draft, _: Judged) -> Iterable[str]:
    text = text_of(draft.pieces)
    answers = [opened for opened in split_fields(text).opened if opened.answer]
    if len(answers) < 2 or draft.suffix:
        return
    run = find_run("\n".join(text.split("\n")[answers[0].line : answers[-1].line]))
    if run is not None and len(run.options) >= min(3, len(draft.options)):
        yield f"options stand between two answers: {run.options[0][1][:20]!r}"


@CONTENT("readings_differ", "text layer 不宜用, picture 宜用")
def _readings_differ(draft: Draft, _: Judged) -> Iterable[str]:
    if unsure := next((piece for piece in draft.all_pieces if piece.other), None):
        yield f"read as {unsure.text!r} and as {unsure.other!r}"


CONTENT += _text_checks("powers")


@CONTENT("explanation_disagrees", "答案：B 解析：… 故选A")
def _verdict(draft: Draft, _: Judged) -> Iterable[str]:
    why = contradiction(draft.explanation, draft.stem, dict(draft.options), draft.answer or "")
    if why and not explained_together(draft):
        yield why


@CONTENT("answers_disagree", "答案：B（丙）; 答案：A⏎B")
def _beside_answer(draft: Draft, _: Judged) -> Iterable[str]:
    explanation = (draft.explanation or "").strip()
    match = _P.beside.match(explanation)
    text = match[1] if match else explanation
    letters = {*(draft.answer or "")}
    texts = {label for label, option in draft.options if text and option.strip() == text}
    row = _P.letters_beside.match(text)
    if letters and not texts & letters and (texts or (row and letters != {*labels_in(row[0])})):
        yield f"answer {draft.answer}, but {text[:30]!r} stands beside it"
    alone = sorted(({piece.text.strip() for piece in draft.pieces[1:]} & {*dict(draft.options)}) - letters)  # D. 丁⏎C
    if other := [label for label in alone if letters and any(text.endswith(label) for _, text in draft.options)]:
        yield f"answer {draft.answer}, but {other[0]} stands alone among its options"


@CONTENT("answer_in_text", "患有（A）病 in the text of parts whose blanks have A to D")
def _shown_answer(draft: Draft, _: Judged) -> Iterable[str]:
    text, own = (draft.stem, draft.answer or "") if draft.in_blank else (draft.shared_stem, dict(draft.options))
    shown = {match[1] for match in _P.shown.finditer(text or "")} & {*own}
    if shown and (draft.in_blank or explained_together(draft)):
        yield f"{', '.join(sorted(shown))} may be filled in where another blank stood"


@CONTENT("case_missing", "（2～3题共用题干） with the case above it")
def _no_case(draft: Draft, _: Judged) -> Iterable[str]:
    if draft.shared_stem or draft.shared_options or heads.is_case(draft.stem):
        return
    wide = (draft.group_last or 0) - (draft.group_first or 0) >= MANY  # (Questions 1–20) under the head of a section
    if (draft.group_headed and not wide) or "A3/A4" in (draft.announced, heads.announcement(draft.key_head).kind):
        yield "A3/A4: no case stands before it"


@CONTENT("foot_inside", "C. 丙 / 12 / D. 丁, where a page ends")
def _page_edge(draft: Draft, _: Judged) -> Iterable[str]:
    for above, below in pairwise(draft.pieces):
        for piece in (above, below) if above.page != below.page else ():
            text = piece.text.strip()
            if piece is not draft.pieces[0] and (is_title(text) or _P.number_alone.fullmatch(text)):
                yield f"{text[:30]!r} stands at the edge of a page inside it"


@CONTENT("text_left_over", "解析：…肾主水。3. D, of number 2")
def _next_answer(draft: Draft, _: Judged) -> Iterable[str]:
    for answer in _P.next_answer.finditer(draft.explanation or ""):
        if (draft.number or 0) < int(answer[1]) <= (draft.number or 0) + MAX_NUMBER_AHEAD:
            yield f"its explanation holds an answer to number {answer[1]}"
            return
