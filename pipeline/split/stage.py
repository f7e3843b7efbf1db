"""The split stage: train, validation and test, stratified, groups and duplicate clusters whole.

Stability: questions of earlier releases keep their splits for ever; ``build-dataset release`` makes one, and the
next run finds it. Before the first release a split is a draft: a question's lot depends on the seed and on what the
question says alone, so added questions move only those whose lots lie at the border of a quota. (No rule without a
memory can do better: one that never moves a question must decide on each by itself, and then quotas are missed.)
"""

from collections import Counter
from typing import Any

import polars as pl

from build_dataset.pipeline.releases import every_release
from build_dataset.pipeline.rendering.markup import notes
from build_dataset.pipeline.split import draw, units as parts
from build_dataset.pipeline.split.draw import Contents, SplitDraw
from build_dataset.pipeline.split.params import SplitParams
from build_dataset.pipeline.split.units import NONE, OTHER, Row, SplitUnit, Stratum, stratum_name
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas import errors, grouping
from build_dataset.schemas.questions import SPLITS, Assignment, Rejection

_LISTED = 200  # strata listed by name in the manifest; the rest are counted
_RETIRED = (
    "An earlier release has it in one split and a question that belongs with it in another; "
    "questions are never moved, so it is left out (test stays before validation before train)."
)
_TWIN = "A twin of {name}, which stands in test: split.one_per_cluster_in_test keeps one of each family."
_EXAM = ("question_type", "exam_type", "exam_class", "exam_subject")
_UNNAMED = (
    "split.method = per_subcategory: no question has a subcategory ({name}). Name them: a raw/manifest.csv with the "
    "columns document, exam_class; folders named as in CMB's catalogue; a column exam_class of the bank; or "
    '[split] subcategory = "folder" in dataset.toml, for folders of your own names'
)


def run(tables: Tables, params: SplitParams, context: Context) -> Result:
    """Assign every question to train, validation or test."""
    questions = tables["questions"].sort("question_id")
    seed = context.seed if params.seed is None else params.seed
    units = parts.find_units(questions, tables["clusters"], seed)
    releases = every_release(context.dataset)
    known = parts.find_splits(questions, tables["merges"], parts.read_splits(releases)) if releases else {}
    units, given, retired = parts.keep_released(units, known)
    of_row, pooled = _strata(questions, tables["labels"], params)
    labels = draw.labels_of(questions, tables["labels"], [name for name in params.stratify_by if name in _EXAM])
    state, numbers, quotas = _draw(units, given, of_row, params, labels)
    names = {stratum: stratum_name(stratum) for stratum in numbers}
    chosen = {row: SPLITS[state.split[number]] for number, unit in enumerate(units) for row in unit}
    ids = questions["question_id"].to_list()
    twins = parts.twins_in_test(questions, tables["clusters"], chosen, known) if params.one_per_cluster_in_test else {}
    shares = draw.deviations(labels, chosen)
    chosen = {row: split for row, split in chosen.items() if row not in twins}
    table = [(ids[row], chosen[row], names[of_row[row]]) for row in sorted(chosen)]
    assignments = pl.DataFrame(table, Assignment.polars_schema(), orient="row")
    in_split = Counter(assignments["split"].to_list())
    sizes = [len(unit) for unit in units]
    facts = {
        "method": params.method,
        "seed": seed,
        "splits": {split: in_split[split] for split in SPLITS},
        "units": len(units),
        "units_of_several": sum(size > 1 for size in sizes),
        "largest_unit": max(sizes, default=0),
        "strata": len(numbers),
        **_listed("pooled_strata", sorted(stratum_name(stratum) for stratum in pooled)),
        **_listed("strata_off_by_more_than_one", _off(state, numbers)),
        "largest_deviation": max((abs(need) for row in state.need for need in row), default=0),
        "releases": [folder.name for folder in releases],
        "kept_from_releases": sum(sizes[number] for number in given),
        "retired": len(retired),
        "test_shares": shares,
        "twins_left_out": len(twins),
    }
    if params.method == "per_subcategory":
        facts["subcategories"] = len({stratum[:1] for stratum in numbers})
        facts["without_subcategory"] = sum(stratum[0] == NONE for stratum in of_row)
    left_out = [(row, "released_elsewhere", _RETIRED) for row in retired]
    left_out += [(row, "twin_in_test", _TWIN.format(name=ids[kept])) for row, kept in twins.items()]
    received = [sum(column) for column in zip(*quotas, strict=True)]
    return Result(
        tables={"assignments": assignments},
        counts=Counts(n_input=questions.height, kept=assignments.height, rejected=len(retired) + len(twins)),
        rejects=[
            Rejection(item_id=ids[row], stage="split", reason=reason, detail=detail)
            for row, reason, detail in sorted(left_out)
        ],
        facts=facts,
        notes=notes("build_dataset.pipeline.split", params=params, got=received, OTHER=OTHER, **facts),
    )


def _strata(questions: pl.DataFrame, labels: pl.DataFrame, params: SplitParams) -> tuple[list[Stratum], list[Stratum]]:
    """The stratum of every question, and the strata that were too small and are pooled; a subcategory never is."""
    by_subcategory = params.method == "per_subcategory"
    names = list(params.stratify_by)
    if by_subcategory:
        # CMB's subcategory comes first
        names = [params.subcategory, *(name for name in names if name != params.subcategory)]
    strata = parts.strata_of(questions, labels, names)
    if by_subcategory and strata and all(stratum[0] == NONE for stratum in strata):
        raise errors.UserError(_UNNAMED.format(name=params.subcategory))
    final = parts.pool_small(Counter(strata), params.min_stratum, keep=int(by_subcategory))
    pooled = sorted(before for before, after in final.items() if before != after)
    return [final[values] for values in strata], pooled


def _draw(
    units: list[SplitUnit], given: dict[int, int], of_row: list[Stratum], params: SplitParams, labels: pl.DataFrame
) -> tuple[SplitDraw, dict[Stratum, int], list[Row]]:
    """The draw, the strata numbered in its order, and the quotas by stratum."""
    sizes = Counter(of_row[row] for unit in units for row in unit)
    numbers = {stratum: number for number, stratum in enumerate(sorted(sizes))}
    whole = params.method == "ratio"  # one group of all strata; else one of each subcategory
    groups: dict[Stratum, list[Stratum]] = grouping.group_values((() if whole else each[:1], each) for each in numbers)
    contents: list[Contents] = [tuple(sorted(Counter(numbers[of_row[row]] for row in unit).items())) for unit in units]
    units_in = Counter(group for unit in units for group in {() if whole else of_row[row][:1] for row in unit})
    quotas: list[Row] = []
    for group, members in groups.items():
        counts = [sizes[stratum] for stratum in members]
        size, several = sum(counts), units_in[group]
        if whole:
            totals = parts.totals_by_share(size, several, params.shares())
        else:
            held_out = params.development_per_subcategory, params.test_per_subcategory
            totals = parts.totals_by_number(size, several, *held_out)
        quotas += parts.round_cells(counts, members, totals)
    numbered = [[numbers[stratum] for stratum in members] for members in groups.values()]
    state = SplitDraw(contents, quotas, numbered, given)
    state.draw()
    state.repair()
    state.balance()
    if quotas:
        strata = [numbers.get(stratum, 0) for stratum in of_row]  # those of retired questions do not count
        held, wanted = draw.ideals(labels, units, strata, quotas)
        draw.even_out(state, contents, held, wanted, given)
    return state, numbers, quotas


def _off(state: SplitDraw, numbers: dict[Stratum, int]) -> list[str]:
    """Strata that groups (or an earlier release) keep more than a question from their quota."""
    lines = []
    for stratum, number in numbers.items():
        needs = dict(zip(SPLITS, state.need[number], strict=True))
        if any(abs(need) > 1 for need in needs.values()):  # rounding alone makes one
            differences = (f"{split} {-need:+d}" for split, need in needs.items() if need)
            lines.append(f"{stratum_name(stratum)}: {', '.join(differences)}")
    return lines


def _listed(name: str, items: list[str]) -> dict[str, Any]:
    return {name: items[:_LISTED], f"{name}_count": len(items)}
