"""Key documents and their papers: matched by name over the whole folder first, then by what the texts say; applied."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence, Set
from pathlib import PurePosixPath

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.paper import ParsedPaper, ParseOutcome, apply_key, waiting_item
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
_SESSIONS = _P.table("sessions")
_TITLE_LENGTH = 400  # of a document's head, which names its session; questions further down mention years too
_ALONE = 2  # points of a key that is called 答案 and no more, for the only paper without a key in its folder
_ENOUGH = 3  # points of evidence in the texts that make a match without a matching name
WHOLE = 0.9  # share of questions that a key must answer to override another; a key with fewer may be misread
DIFFERENT = 0.3  # share of own answers that a key of another paper contradicts: by chance 0.75, after appeals 0.05
COMPARED = 5  # the least number of answers compared for that

Sessions = dict[str, set[str]]  # marks of a session by their kind: year, sitting, volume, code


class PairedDocument:
    """A paper or a key, with what its name and its text say of its exam, each read once."""

    def __init__(self, paper: ParsedPaper, name: str = "") -> None:
        name = name or paper.document
        self.paper, self.folder = paper, PurePosixPath(paper.document).parent
        text = _flat(paper.text)
        self.named, self.head = _sessions(name), _sessions(text[:_TITLE_LENGTH])  # of name and head
        self.codes = set(_P.code.findall(text))  # the codes of exams that stand in it
        self.numbers = {draft.number for draft in paper.items if draft.number is not None}
        self.digits = group_values((len(number), number) for number in re.findall(r"\d+", name))
        """Numbers in its name by their length: 2024 differs from 2023, 11 from 12, but a code never from a year."""


def name_stem(document: str) -> str:
    """A file's folder and name without extension, separators and the words that tell keys from papers.

    Folders lose these words too: Exam/x.pdf and Ans/x.pdf are one exam.
    """
    path = PurePosixPath(document)
    parts = [*(_bare_name(part) for part in path.parent.parts), _bare_name(path.stem)]
    return "/".join(part for part in parts if part)


def _bare_name(name: str) -> str:
    apart = re.sub(r"([a-z])(?=\d)|(\d)(?=[a-z])", r"\1\2 ", name.lower())  # 2021a → 2021 a
    tokens = [token for token in re.split(r"[\s_\-.()（）【】\[\]]+", apart) if token]
    return " ".join(kept for token in tokens if (kept := _P.key_words.sub("", token)))


def is_corrected(paper: ParsedPaper) -> bool:
    """Return whether a key states what changed after appeals."""
    match = _P.corrected_name.search(PurePosixPath(paper.document).stem) or _P.corrected_text.search(paper.text)
    return bool(match or paper.key.corrections or any(run.noted for run in paper.key.runs))


def pair_keys(papers: Sequence[ParsedPaper], pictured: Set[str] = frozenset()) -> ParseOutcome:
    """Apply key documents to their papers: original keys first, then those after appeals, which override.

    All keys are matched by name before any is matched by its text, and then only to papers without a key. Papers that
    are ``pictured``, pictures of pages, are named by their folder (IMG_0001 says nothing): the key of one lies there.
    """
    outcome = ParseOutcome()
    keys = sorted((key for key in papers if key.is_key), key=lambda key: (is_corrected(key), key.document))
    candidates = [paper for paper in papers if not paper.is_key and paper.questions] if keys else []
    # Pictures lose the number of their page: 2024/内科 for 2024/内科-1.jpg, 2024 for 2024/IMG_1.
    bare = {name: _P.picture.sub("", PurePosixPath(name).stem) for name in pictured}
    names = {paper.document: paper.document for paper in papers}
    names |= {name: str(PurePosixPath(name).parent / stem) for name, stem in bare.items()}
    by_stem = group_values((name_stem(names[paper.document]), paper) for paper in candidates)
    named: dict[str, Sequence[ParsedPaper]] = {}
    for key in keys:  # of several papers of a key's name those in its own folder come first
        namesakes, folder = by_stem[name_stem(key.document)], PurePosixPath(key.document).parent
        beside = [paper for paper in namesakes if PurePosixPath(paper.document).parent == folder]
        in_folder = [candidate for candidate in candidates if PurePosixPath(candidate.document).parent == folder]
        alone = in_folder if len(in_folder) == 1 and in_folder[0].document in pictured else []
        named[key.document] = beside or namesakes or alone
    keyed = {paper.document for partners in named.values() for paper in partners}
    # Where most questions have an answer no key is looked for by its text.
    unkeyed = (paper for paper in candidates if paper.document not in keyed)
    lacking = [(paper, sum(draft.answer is None for draft in paper.questions)) for paper in unkeyed]
    free = [PairedDocument(one, names[one.document]) for one, lacks in lacking if 2 * lacks >= len(one.questions)]
    before: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        _pair(key, named[key.document] or find_papers(key, free), before, outcome)
    return outcome


def _pair(key: ParsedPaper, papers: Sequence[ParsedPaper], before: dict[str, list[str]], outcome: ParseOutcome) -> None:
    """Apply a key to the one paper it belongs to, or say why not."""
    of_key = f"{key.document}: a key of {key.key.size} answers; "
    if len(papers) != 1:
        reason = "key_of_several_papers" if papers else "key_without_paper"
        names = ", ".join(paper.document for paper in papers)
        nobody = "no paper without a key has its name, or its session, code and count"
        told = of_key + (f"may belong to {names}" if papers else nobody)
        outcome.review.append(waiting_item(key.document, reason, told))
        return
    paper, corrected = papers[0], is_corrected(key)
    reason, why = "key_contradicts", _contradiction(key, paper)
    if not why and not corrected and before[paper.document]:
        reason, why = "second_key", f"{paper.document} has {', '.join(before[paper.document])} already"
    if why:
        for draft, letters in _compared(key, paper):  # one of the two is wrong, and nobody knows which
            if sorted(letters) != sorted(draft.answer or ""):
                draft.flag("answers_disagree", f"{draft.answer} in its key, {letters} in {key.document}")
        outcome.review.append(waiting_item(key.document, reason, of_key + why))
        return
    if not corrected:
        before[paper.document].append(key.document)
    whole = key.key.size >= WHOLE * len(paper.questions)
    unmatched = apply_key(paper, key.key, replace=corrected and whole)
    outcome.keys[key.document] = paper.document
    if unmatched:
        numbers = _some(sorted(number for _, number in unmatched))
        outcome.notes.append(f"{key.document} answers {numbers}, which {paper.document} does not have")
    if paper.silent:
        silent = _some([draft.number or 0 for draft in paper.silent])
        outcome.notes.append(f"{key.document} is silent about {silent} of {paper.document}")


def _contradiction(key: ParsedPaper, paper: ParsedPaper) -> str | None:
    """Return why a key with a matching name belongs to another paper: by its head, its numbers or its answers."""
    if differs := _sessions_differ(*(_sessions(document.text[:_TITLE_LENGTH]) for document in (key, paper))):
        return f"{paper.document} says {differs}"
    numbers = {draft.number for draft in paper.items if draft.number is not None}
    shared = len(key.key.numbers & numbers)
    if 2 * shared < min(len(key.key.numbers), len(numbers)):
        return f"only {shared} of its numbers are in {paper.document}"
    if is_corrected(key):
        return None
    compared = _compared(key, paper) if len(key.key.letters) == key.key.size else []  # else its numbers repeat
    different = sum(sorted(draft.answer or "") != sorted(letters) for draft, letters in compared)
    if len(compared) >= COMPARED and different > DIFFERENT * len(compared):
        return f"{different} of {len(compared)} answers printed in {paper.document} are others"
    return None


def _compared(key: ParsedPaper, paper: ParsedPaper) -> list[tuple[Draft, str]]:
    """The answered questions of a paper that a key answers too, each with the letters in the key."""
    known = key.key.letters
    answered = ((draft, known.get(draft.number or 0)) for draft in paper.questions if draft.answer)
    return [(draft, letters) for draft, letters in answered if letters]


def find_papers(key: ParsedPaper, papers: Sequence[PairedDocument]) -> list[ParsedPaper]:
    """Return the paper, or the equally likely papers, that the texts name as a key's; none without enough evidence."""
    paired = PairedDocument(key)
    beside = [paper for paper in papers if paper.folder == paired.folder]
    alone = beside if len(beside) == 1 and not _bare_name(PurePosixPath(key.document).stem) else []
    points = [(_evidence(paired, paper), paper) for paper in papers]
    scored = [(score + _ALONE * bool(score and paper in alone), paper.paper) for score, paper in points]
    best = max((score for score, _ in scored), default=0)
    return [paper for score, paper in scored if score == best >= _ENOUGH]


def _evidence(key: PairedDocument, paper: PairedDocument) -> int:
    """Points: exam code 2, count 1, year 1, folder 1; none where names, sessions or numbers contradict."""
    keyed = key.paper.key.numbers
    if len(keyed & paper.numbers) < 0.8 * max(len(keyed), 1):  # a key answers nearly all of its paper
        return 0
    lengths = key.digits.keys() & paper.digits.keys()
    if any({*key.digits[length]}.isdisjoint(paper.digits[length]) for length in lengths):
        return 0
    if _sessions_differ(key.named, paper.named) or _sessions_differ(key.head, paper.head):
        return 0
    points = (keyed == paper.numbers) + ("year" in key.head and "year" in paper.head)
    return points + 2 * bool(key.codes & paper.codes) + (key.folder == paper.folder)


def _sessions_differ(mine: Sessions, theirs: Sessions) -> str | None:
    """Return the difference of two sessions as far as both texts state it; None where nothing differs."""
    for kind in sorted(mine.keys() & theirs.keys()):
        if not mine[kind] & theirs[kind]:
            stated, wanted = ("/".join(sorted(values[kind])) for values in (theirs, mine))
            return f"{kind} {stated}, not {wanted}"
    return None


def _sessions(text: str) -> Sessions:
    flat = _flat(text)
    sessions = {kind: {"".join(groups) for groups in form.findall(flat)} for kind, form in _SESSIONS.items()}
    sessions["code"] = set(_P.code.findall(flat))
    return {kind: values for kind, values in sorted(sessions.items()) if values}


def _flat(text: str) -> str:
    """Return text without white space, 130² as 1302; the end of a line stays between digits: 代號：1301, 104年."""
    return re.sub(r"\s+", "", re.sub(r"(?<=[0-9A-Za-z])\s*\n\s*(?=\d)", "|", unicodedata.normalize("NFKC", text)))


def _some(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:5]))
    return f"{shown} and {len(numbers) - 5} more" if len(numbers) > 5 else shown
