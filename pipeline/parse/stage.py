"""The parse stage: lines and rows in, questions out, everything accounted for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import PurePosixPath

import polars as pl

from build_dataset.pipeline.parse import lines as paper_lines
from build_dataset.pipeline.parse.assemble import drafts_of
from build_dataset.pipeline.parse.columns import Columns
from build_dataset.pipeline.parse.counted import with_letters
from build_dataset.pipeline.parse.cut import cut
from build_dataset.pipeline.parse.fields import opens_field
from build_dataset.pipeline.parse.heads import NumberStyle, is_likely_key_head, number_candidate, stated_total
from build_dataset.pipeline.parse.judge import check_gates
from build_dataset.pipeline.parse.keylines import split_answer_lines
from build_dataset.pipeline.parse.keys import key_of
from build_dataset.pipeline.parse.labels import opens_option
from build_dataset.pipeline.parse.pairing import pair_keys
from build_dataset.pipeline.parse.paper import ParsedPaper, ParseOutcome, apply_key, finish, trace_of_paper
from build_dataset.pipeline.parse.params import ParseParams
from build_dataset.pipeline.parse.parts import merge_copies
from build_dataset.pipeline.parse.row_ids import with_former_names, with_ids
from build_dataset.pipeline.parse.rows import RowError, SourceTable, sources_of
from build_dataset.pipeline.stage import Context, Counts, Failure, Result, Tables, here
from build_dataset.schemas.dataset import SourceParams
from build_dataset.schemas.documents import Document, Line, SourceRow, Trace
from build_dataset.schemas.questions import Question
from build_dataset.schemas.release import ReleasedId

_LARGE = 2000  # rows of a bank from which on other processes read them too
Documents = dict[str, Document]


def run(tables: Tables, params: ParseParams, context: Context) -> Result:
    """Parse every document and row.

    Reads ``documents``, ``lines``, ``rows`` and the released ``ids``; writes ``questions`` and ``traces``. Counts are
    of items: questions, items set aside, rows, missing numbers, key documents, documents that hold no question.
    """
    documents = {document.document: document for document in Document.from_frame(tables["documents"])}
    outcome = ParseOutcome()
    outcome.extend(_papers(documents, tables["lines"], params, context))
    outcome.extend(_rows(documents, tables, params, context))
    counts = Counts(
        n_input=outcome.into,
        kept=len(outcome.questions),
        merged=len(outcome.keys),
        rejected=len(outcome.rejects),
        waiting=sum(len(item.question_ids) or 1 for item in outcome.review),
    )
    return Result(
        {"questions": Question.to_frame(outcome.questions), "traces": Trace.to_frame(outcome.traces)},
        counts,
        outcome.rejects,
        outcome.review,
        facts={
            "keys": dict(sorted(outcome.keys.items())),
            "left_over": dict(sorted(outcome.left_over.items())),
            "columns": dict(sorted(outcome.columns.items())),
        },
        notes=outcome.notes,
    )


def _judged(documents: Documents, lines: pl.DataFrame, context: Context) -> tuple[list[ParsedPaper], ParseOutcome]:
    """Return all papers, with their keys applied and judged, and what became of keys and of papers that failed."""
    outcome = ParseOutcome()
    frames = lines.sort("document", "page", "order", maintain_order=True).group_by("document", maintain_order=True)
    tasks = [(name, frame) for (name,), frame in frames if name in documents]
    papers: list[ParsedPaper] = []
    with context.progress(len(tasks), "papers") as advance:
        for (name, _), paper in context.map(_read, tasks):
            advance(1)
            if isinstance(paper, Failure):
                outcome.reject(name, "parser_failed", f"{name}: the parser failed: {paper.detail}")
            else:
                papers.append(paper)
    papers.sort(key=lambda paper: paper.document)  # workers finish in any order
    outcome.extend(pair_keys(papers, {name for name, document in documents.items() if document.format == "image"}))
    for paper in papers:
        if paper.items and not paper.is_key:
            check_gates(paper)
    return papers, outcome


def _papers(documents: Documents, lines: pl.DataFrame, params: ParseParams, context: Context) -> ParseOutcome:
    """All documents with pages, in the order of their names."""
    paged = {name for name, document in documents.items() if document.rows is None}
    outcome = ParseOutcome(into=len(paged))
    for name in sorted(paged - {*lines["document"].unique()}):
        outcome.reject(name, "no_questions", f"{name}: no text was read from it")
    papers, read = _judged(documents, lines, context)
    outcome.extend(read)
    for paper in papers:
        if paper.is_key:
            outcome.traces.append(trace_of_paper(paper))
        elif not paper.items:
            why = f"{paper.document}: no numbered question was found in its text"
            outcome.reject(paper.document, "no_questions", why)
        else:
            _finish(paper, documents[paper.document], params, outcome)
    return outcome


def _finish(paper: ParsedPaper, document: Document, params: ParseParams, outcome: ParseOutcome) -> None:
    """Add the records of a paper, and tell where its questions have no key."""
    declared = declared_for(paper.document, params.sources).get(None) or SourceParams()
    paper.gaps = [] if "missing_number" in declared.accept else paper.gaps  # a part of a paper, as a person said
    paper.mismatches = [mismatch for mismatch in paper.mismatches if mismatch[0] not in declared.accept]
    outcome.into += -1 + len(paper.items) + len(paper.gaps) + len(paper.mismatches)
    finished = finish(paper, document, declared)
    outcome.extend(finished)
    if finished.questions and all(question.answer is None for question in finished.questions):
        path = PurePosixPath(paper.document)
        outcome.notes.append(
            f"{path}: {len(finished.questions)} questions without a key; put one beside it, named like it and "
            f"_answers ({path.stem}_answers{path.suffix}), or they are rejected as no_answer"
        )


def _read(task: tuple[str, pl.DataFrame]) -> ParsedPaper:
    """Parse one document, in a worker process."""
    name, frame = task
    return read_paper(name, list(Line.from_frame(frame)))


def read_paper(document: str, lines: Sequence[Line]) -> ParsedPaper:
    """Read a document's lines, given in reading order; its own key is applied, gates are not yet checked."""
    pieces = with_letters(paper_lines.parsed_lines(lines))
    pieces = paper_lines.in_one_script(paper_lines.plain_notation(pieces))
    parts = _numbered_once(split_answer_lines(pieces))
    kept = {paper_lines.place_of(piece) for piece in parts}
    running = [paper_lines.line_part(line, line.text) for line in lines if (line.page, line.order) not in kept]
    outline = cut(parts)
    drafts = drafts_of(outline)
    merge_copies(drafts)
    # Sections are runs of the numbering that hold items, from 1, whatever heads were read; instructions are none.
    numbered = [draft for draft in drafts if not draft.entry and (draft.set_aside or ("",))[0] != "instruction"]
    rules = [draft for draft in numbered if draft.run == numbered[0].run]
    asking = {id(draft.block) for draft in numbered if draft.options}
    if not any(draft.options or id(draft.block) not in asking for draft in rules):  # no head parts them from questions
        numbered = numbered[len(rules) :]
    section = {run: at for at, run in enumerate(sorted({draft.run for draft in numbered}), 1)}
    for draft in drafts:
        draft.section = section.get(draft.run, 0)
    text = "\n".join(piece.text for piece in parts)
    key = key_of(outline, drafts)
    for run in key.runs:
        run.source = document
    paper = ParsedPaper(document, parts, running, drafts, key, stated_total(text), text, outline)
    if paper.key.runs and not paper.is_key:
        apply_key(paper, paper.key)
    return paper


def _numbered_once(parts: Sequence[paper_lines.ParsedLine]) -> list[paper_lines.ParsedLine]:
    """The pieces without a heading that is nothing but the number with which the next one begins: 第3题 / 【第3题】."""
    marks = [number_candidate(index, part.text) for index, part in enumerate(parts)]
    kept = list[paper_lines.ParsedLine]()
    asked, options = None, False  # the number of the question above, and whether its options stood
    for part, mark, after in zip_longest(parts, marks, marks[1:]):
        options = options or opens_option(part.text)
        if mark and options and mark.value == asked and opens_field(part.text[mark.end :]):
            kept.append(replace(part, text=part.text[mark.end :]))  # 4.【答案】D under 4. …
            continue
        if mark and not opens_option(part.text):
            asked, options = mark.value, False
        elif is_likely_key_head(part.text):
            asked = None
        alone = mark is not None and mark.style is NumberStyle.TITLE and mark.end >= len(part.text)
        again = mark and after and (mark.value, mark.last) == (after.value, after.last)
        if not (alone and again):
            kept.append(part)
    return kept


def _rows(documents: Documents, tables: Tables, params: ParseParams, context: Context) -> ParseOutcome:
    outcome = ParseOutcome()
    frames = tables["rows"].sort("document", "row", maintain_order=True).group_by("document", maintain_order=True)
    read: list[SourceTable] = []
    with context.progress(tables["rows"].height, "rows") as advance:
        for (name,), frame in frames:
            # Small tables are read in less time than it takes to hand them to another process.
            mapper = context.map if frame.height > _LARGE else here
            declared = declared_for(name, params.sources)
            read += sources_of(SourceRow.from_frame(frame), documents[name], declared, mapper)
            advance(frame.height)
    for source in with_ids(with_former_names(read, tables.get("ids", ReleasedId.to_frame([])))):
        outcome.into += len(source.rows)
        for row, result in source.rows:
            if isinstance(result, RowError):
                outcome.reject(f"{row.document}#{row.row}", result.reason, result.detail, row.fields)
        outcome.take_source(source.name, source.caught())
        if isinstance(source.columns, Columns):
            outcome.columns[source.name] = source.columns.facts()
        outcome.notes += [f"{source.name}: {note}" for note in source.notices()]
    tabular = {name for name, document in documents.items() if document.rows is not None}
    for name in sorted(tabular - {*tables["rows"]["document"]}):
        outcome.into += 1
        outcome.reject(name, "no_questions", f"{name}: it has no rows")
    known = {name for document in documents for name in (document, PurePosixPath(document).name)}
    outcome.notes += [
        f'[sources."{name}"] in dataset.toml names no file that was read'  # most often a typing error
        for name in params.sources
        if not {name, name.rpartition("#")[0]} & known
    ]
    return outcome


def declared_for(document: str, sources: Mapping[str, SourceParams]) -> dict[str | None, SourceParams]:
    """Return the ``[sources]`` entries of a document by sheet (``bank.xlsx#Sheet1``), under None of all its sheets."""
    params_by_sheet: dict[str | None, SourceParams] = {}
    for name in (PurePosixPath(document).name, document):  # the whole name comes last and wins
        for key, params in sources.items():
            if key == name or key.startswith(f"{name}#"):
                params_by_sheet[key[len(name) + 1 :] or None] = params
    return params_by_sheet
