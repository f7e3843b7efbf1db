"""Earlier releases. Their questions keep their splits, and a new release is compared with the previous one."""

import itertools
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from rapidfuzz import fuzz

from build_dataset.pipeline.dedup.grams import Banding, candidate_pairs, similarities
from build_dataset.schemas import errors, questions
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.identity import content_hash

CHANGELOG = "CHANGELOG.md"
Version = tuple[int, int, int]


def is_version(text: str) -> bool:
    """Return whether a text is a version."""
    return re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){2}", text) is not None  # 1.4.0


def parse_version(text: str) -> Version:
    """``"1.2.3"`` as numbers."""
    major, minor, patch = map(int, text.split("."))
    return major, minor, patch


def every_release(dataset: DatasetParams) -> list[Path]:
    """Return the releases in the dataset's folder of releases, lowest version first; a ``UserError`` if one is none."""
    folders = dataset.releases.iterdir() if dataset.releases.is_dir() else ()
    named = sorted((parse_version(path.name), path) for path in folders if path.is_dir() and is_version(path.name))
    for _, folder in named:
        if missing := [f"{split}.parquet" for split in questions.SPLITS if not (folder / f"{split}.parquet").is_file()]:
            raise errors.UserError(f"{folder}: no release there ({missing[0]} is missing): put the whole release back")
    return [folder for _, folder in named]


def release_files(folder: Path) -> dict[str, Path]:
    """The files of a release that decide what the next one will be, by name."""
    names = [*(f"{split}.parquet" for split in questions.SPLITS), CHANGELOG]
    return {name: folder / name for name in names if (folder / name).is_file()}


def read_release(folder: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return a release's rows with ``split``, and ``columns`` if named; a ``UserError`` where a file lacks one."""
    parts = []
    for split in questions.SPLITS:
        file = folder / f"{split}.parquet"
        try:
            # [a].parquet is a name
            part = pl.read_parquet(file, columns=list(columns) if columns else None, glob=False)
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).splitlines()[0]
            needs = f"; it needs the columns {', '.join(columns)}" if columns else ""
            raise errors.UserError(f"the earlier release {file} cannot be read ({reason}){needs}") from None
        parts.append(part.with_columns(split=pl.lit(split)))
    return pl.concat(parts, how="diagonal_relaxed")


def hashes_of(rows: pl.DataFrame) -> pl.Series:
    """Return the ``content_hash`` of each question, by which it is known again when its id has changed."""
    texts = rows.select("stem", "options", "shared_stem").iter_rows()
    hashes = [content_hash(stem, (option["text"] for option in options), shared) for stem, options, shared in texts]
    return pl.Series("content", hashes, dtype=pl.String)


def match_released(old: pl.DataFrame, new: pl.DataFrame, merges: pl.DataFrame) -> pl.DataFrame:
    """Pair released questions with the new ones that ask the same, one to one.

    Questions that say the same come first, under their own id or another: a source that numbers its rows anew gives
    ids to other questions. Then come those that a released question was merged into, then corrected texts (the same
    id, or nearly the same text), and last an id that now asks something else. The columns are ``old, new``, the ids,
    and ``same``: whether the text is the same.
    """
    before = dict(zip(old["question_id"].to_list(), hashes_of(old).to_list(), strict=True))
    after = dict(zip(new["question_id"].to_list(), hashes_of(new).to_list(), strict=True))
    matches: list[tuple[str, str, bool]] = []

    def take(pairs: Iterable[tuple[str, str]]) -> None:
        for one, other in pairs:
            if one in before and other in after:
                matches.append((one, other, before.pop(one) == after.pop(other)))

    take([(name, name) for name, content in before.items() if after.get(name) == content])  # nothing changed
    groups: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for place, names in enumerate((before, after)):
        for name in sorted(names):
            groups[names[name]][place].append(name)
    # Several copies go together where there are as many as before; else nobody knows which is which.
    equal = [zip(*copies, strict=True) for copies in groups.values() if len(copies[0]) == len(copies[1])]
    take(itertools.chain.from_iterable(equal))  # renumbered
    take(merges.select("question_id", "survivor_id").iter_rows())  # copies of one that is kept
    if before and after:
        texts = _texts(old, before), _texts(new, after)
        both = [(name, *(part[name] for part in texts)) for name in before if name in after]
        long = (row for row in both if min(map(len, row[1:])) >= _SHORTEST)
        near = [(name, name) for name, one, other in long if fuzz.ratio(one, other) >= 100 * CORRECTED]
        take([*near, *_nearest(*texts)])  # corrected
    take([(name, name) for name in before if name in after])
    return pl.DataFrame(matches, {"old": pl.String, "new": pl.String, "same": pl.Boolean}, orient="row")


def _texts(rows: pl.DataFrame, wanted: Container[str]) -> dict[str, str]:
    return {
        name: re.sub(r"\s+", "", "\n".join([shared or "", stem, *(option["text"] for option in options)]))
        for name, stem, shared, options in rows.select("question_id", "stem", "shared_stem", "options").iter_rows()
        if name in wanted
    }


CORRECTED = 0.8
"""Likeness (Indel, of case, stem and options) from which a text is a corrected one: one changed option of five."""
_SHORTEST = 12  # characters from which likeness says anything
_BANDS = Banding(bands=40, rows=3)
"""Finds texts at Jaccard .45 of their bigrams with probability .98: a text of twelve characters with two others."""


def _nearest(old: Mapping[str, str], new: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of nearly the same text, the most alike first."""
    long = [[(name, text) for name, text in release.items() if len(text) >= _SHORTEST] for release in (old, new)]
    names, texts = zip(*itertools.chain(*long), strict=True) if any(long) else ((), ())
    pairs = candidate_pairs([texts], _BANDS, seed=0)
    pairs = pairs[(pairs[:, 0] < len(long[0])) & (pairs[:, 1] >= len(long[0]))]
    likeness = similarities(pairs, pl.Series(texts, dtype=pl.String), 100 * CORRECTED, np.float64)
    alike = zip(likeness.tolist(), pairs.tolist(), strict=True)
    scored = [(-score, names[one], names[other]) for score, (one, other) in alike if score]
    return [(one, other) for _, one, other in sorted(scored)]
