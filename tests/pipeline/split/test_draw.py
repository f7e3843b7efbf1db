"""The draw of small made-up collections, to the unit: which lots go where, and what is moved to mend the quotas."""

import random
from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from build_dataset.pipeline.split import draw as margins
from build_dataset.pipeline.split.draw import Contents, SplitDraw
from build_dataset.pipeline.split.units import round_cells, totals_by_share
from build_dataset.schemas.errors import UserError

POTS = [[0, 1], [2, 3]]


def collection(seed: int, units: int = 24, most: int = 5, fixed: int = 0) -> SplitDraw:
    """Singles, groups and groups that stand in two strata, with quotas of 7:1:2 in two pots of two strata."""
    lots = random.Random(seed)
    contents: list[Contents] = []
    for _ in range(units):
        stratum, size = lots.randrange(4), max(1, lots.randrange(-2, most + 1))
        other = (stratum + 1, lots.randrange(1, 3)) if stratum < 3 and lots.random() < 0.2 else None
        contents.append(((stratum, size), other) if other else ((stratum, size),))
    sizes = Counter(dict.fromkeys(range(4), 0))
    for content in contents:
        sizes.update(dict(content))
    quotas = []
    for pot in POTS:
        whole = sum(sizes[stratum] for stratum in pot)
        totals = totals_by_share(whole, units, [Fraction(7, 10), Fraction(1, 10), Fraction(2, 10)])
        quotas += round_cells([sizes[stratum] for stratum in pot], [(str(stratum),) for stratum in pot], totals)
    given = {unit: lots.randrange(3) for unit in lots.sample(range(units), fixed)}
    return SplitDraw(contents, quotas, POTS, given)


def told(state: SplitDraw) -> tuple[str, list[list[int]]]:
    """The split of each unit, and what the strata still need."""
    return "".join(str(state.split[unit]) for unit in sorted(state.split)), state.need


def of_one(quota: list[int], *sizes: int, splits: str = "", fixed: int = 0) -> SplitDraw:
    """Units of one stratum, the first of them in their splits, the first few of those fixed."""
    given = {unit: int(splits[unit]) for unit in range(fixed)}
    state = SplitDraw([((0, size),) for size in sizes], [quota], [[0]], given)
    for unit, split in enumerate(splits):
        state.put(unit, int(split))
    return state


def test_the_lowest_lots_that_fit_go_to_test_then_to_validation() -> None:
    def drawn(quota: list[int], *sizes: int, **more: int) -> tuple[str, list[list[int]]]:
        state = of_one(quota, *sizes)
        state.draw()
        return told(state)

    assert drawn([6, 1, 2], *[1] * 9) == ("221000000", [[0, 0, 0]])
    assert drawn([6, 2, 2], 3, 2, 2, 1, 1, 1) == ("021000", [[0, 0, 0]])
    assert drawn([6, 0, 0], 3, 3) == ("00", [[0, 0, 0]]), "none is filled that nobody wants"
    assert drawn([8, 1, 1], 4, 3, 3) == ("021", [[4, -2, -2]]), "the units that harm least fill empty splits"
    assert drawn([2, 1, 1], 4) == ("0", [[-2, 1, 1]]), "one unit is not taken out of train"
    assert drawn([2, 1, 1], 2, 2) == ("20", [[0, 1, -1]])


def test_single_questions_make_up_for_what_a_pot_lacks() -> None:
    """Of the stratum that is furthest behind, the lowest lot goes in; of that ahead, the highest goes out."""
    quotas = [[8, 1, 1], [16, 2, 2]]
    contents: list[Contents] = [((0, 1),)] * 10 + [((1, 1),)] * 20

    def balanced(first: str, second: str, fixed: tuple[int, ...] = ()) -> str:
        splits = {unit: int(split) for unit, split in enumerate(first + second)}
        state = SplitDraw(contents, quotas, [[0, 1]], {unit: splits[unit] for unit in fixed})
        for unit, split in splits.items():
            state.put(unit, split)
        state.balance()
        return told(state)[0]

    assert balanced("0" * 10, "0" * 20) == "2100000000" + "22110000000000000000"
    assert balanced("2" * 10, "0" * 20) == "2221000000" + "11" + "0" * 18
    assert balanced("0" * 10, "0" * 20, (0, 10)) == "0210000000" + "02211" + "0" * 15
    assert balanced("2100000000", "2211" + "0" * 16) == "2100000000" + "2211" + "0" * 16


SIZES = [3, 3, 3, 5, 4, 4, 4, 4, 4, 3, 3, 5, 5]
"""Of groups of which the first two are alone in test and validation, though the quotas want five of each."""


@pytest.mark.parametrize("fixed", [0, len(SIZES)])
def test_groups_that_fit_what_is_left_are_moved_and_what_was_released_stays(fixed: int) -> None:
    splits = "21" + "0" * 11
    state = of_one([40, 5, 5], *SIZES, splits=splits, fixed=fixed)
    assert state.need[0] == [-4, 2, 2]
    state.repair()
    assert (told(state)[0] == splits) is bool(fixed)
    assert max(map(abs, state.need[0])) <= (4 if fixed else 2)


def test_no_split_is_emptied_and_strata_within_a_question_are_left_alone() -> None:
    few = of_one([25, 2, 2], 2, 9, 9, 9, splits="2001")
    few.repair()
    assert {*told(few)[0]} == {*"012"}
    whole = of_one([16, 2, 2], *[1] * 20, splits="2211" + "0" * 16)
    whole.repair()
    assert told(whole)[0] == "2211" + "0" * 16


@pytest.mark.parametrize("seed", range(12))
def test_each_step_brings_strata_nearer_to_their_quotas_and_moves_nothing_that_was_given(seed: int) -> None:
    state = collection(seed, units=20, most=8, fixed=2)
    given = dict(state.split)

    def away() -> int:
        return sum(need**2 for row in state.need for need in row)

    state.draw()
    drawn = away()
    state.repair()
    assert away() <= drawn
    state.balance()
    assert {unit: state.split[unit] for unit in given} == given
    assert len(state.split) == 20


DISEASES = [f"病组{number}" for number in range(12)]


def bank(size: int, seed: int = 3):
    """Questions with three labels that depend on one another, as those of real banks do."""
    lots = random.Random(seed)
    questions, labels = [], []
    for number in range(size):
        name, disease = f"q{number:05d}", min(int(lots.expovariate(0.35)), 11)
        department = (disease + lots.choice([0, 0, 1])) % 8
        questions.append({"question_id": name, "exam_class": lots.choice("甲乙"), "stem": f"题 {lots.random()}"})
        labels += [
            (name, "disease_group", DISEASES[disease]),
            (name, "clinical_department", f"科{department}"),
            (name, "medical_discipline", f"学科{disease % 3}"),
        ]
    return questions, labels


def shares(done, labels, dimension: str) -> dict[str, float]:
    of = done.of
    total = Counter(label for name, kind, label in labels if kind == dimension)
    test = Counter(label for name, kind, label in labels if kind == dimension and of[name] == "test")
    return {label: test[label] / count for label, count in total.items() if count >= 50}


def test_labels_that_no_stratum_names_keep_their_proportions(tables, split, monkeypatch) -> None:
    questions, labels = bank(3000)
    done = split(tables(questions, labels=labels))
    for dimension in ("disease_group", "clinical_department"):
        assert all(abs(share - 0.1) < 0.02 for share in shares(done, labels, dimension).values())
    told = done.result.facts["test_shares"]["disease_group"]
    assert (told["lowest"], told["highest"]) == pytest.approx(
        (min(shares(done, labels, "disease_group").values()), max(shares(done, labels, "disease_group").values())),
        abs=1e-4,
    )
    assert any(note.startswith("disease_group: ") for note in done.result.notes)
    monkeypatch.setattr(margins, "even_out", lambda *_: None)
    by_chance = shares(split(tables(questions, labels=labels)), labels, "disease_group")
    assert max(abs(share - 0.1) for share in by_chance.values()) > 0.02


def test_exchanges_leave_all_quotas_as_they_are(tables, split, monkeypatch) -> None:
    questions, labels = bank(800)
    evened = split(tables(questions, labels=labels)).result
    monkeypatch.setattr(margins, "even_out", lambda *_: None)
    drawn = split(tables(questions, labels=labels)).result
    count = [Counter(each.tables["assignments"].select("stratum", "split").iter_rows()) for each in (evened, drawn)]
    assert count[0] == count[1]


@given(size=st.integers(20, 150), seed=st.integers(0, 99), more=st.integers(1, 60))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_label_moves_a_question_of_a_release(tables, split, release, tmp_path_factory, size, seed, more) -> None:
    questions, labels = bank(size + more, seed)
    first = split(tables(questions[:size], labels=labels[: 3 * size]))
    folder = release(tmp_path_factory.mktemp("r"), "1.0.0", tables(questions[:size])["questions"], first.of)
    again = split(tables(questions, labels=labels), releases=folder)
    assert {name: again.of[name] for name in first.of} == first.of


def test_per_subcategory_stops_where_no_subcategory_is_named(tables, split) -> None:
    questions = [{"question_id": f"q{n}", "document": f"{'内科外科'[n % 2 * 2 :][:2]}/bank.csv"} for n in range(40)]
    with pytest.raises(UserError) as stopped:
        split(tables(questions), method="per_subcategory")
    said = str(stopped.value)
    assert "\n" not in said
    assert all(way in said for way in ("manifest.csv", "folders", "column exam_class", 'subcategory = "folder"'))
    numbers = {"test_per_subcategory": 5, "development_per_subcategory": 1}
    done = split(tables(questions), method="per_subcategory", subcategory="folder", **numbers)
    assert done.sizes() == (28, 2, 10)


def test_questions_without_a_subcategory_among_others_are_told(tables, split) -> None:
    questions = [{"question_id": f"q{n}", "exam_class": "甲" if n % 4 else None} for n in range(40)]
    done = split(tables(questions), method="per_subcategory", test_per_subcategory=5, development_per_subcategory=1)
    assert "warning: 10 questions without a subcategory (exam_class) count as one more" in done.result.notes


def test_an_unknown_subcategory_column_is_refused(tables, split) -> None:
    with pytest.raises(ValueError, match="did you mean folder"):
        split(tables([{"question_id": "q"}]), subcategory="foldr")


def test_test_keeps_one_of_each_family_of_twins(tables, split) -> None:
    questions = [{"question_id": f"q{n:03d}"} for n in range(200)]
    families = {f"q{n:03d}": f"c{n // 4}" for n in range(120)}
    exam = tables(questions, families)
    plain = split(exam)
    one = split(exam, one_per_cluster_in_test=True)
    in_test = [name for name, its in one.of.items() if its == "test"]
    assert Counter(families.get(name, name) for name in in_test).most_common(1)[0][1] == 1
    left = {item.item_id for item in one.result.rejects}
    assert left == plain.of.keys() - one.of.keys()
    assert left
    assert {item.reason for item in one.result.rejects} == {"twin_in_test"}
    assert {name: plain.of[name] for name in one.of} == one.of
    assert all(plain.of[name] == "test" for name in left)


def test_questions_of_one_case_are_no_twins(tables, split) -> None:
    questions = [{"question_id": f"q{n:03d}", "group_id": f"g{n // 4}"} for n in range(200)]
    exam = tables(questions, {f"q{n:03d}": f"c{n // 4}" for n in range(200)})
    exam["clusters"] = exam["clusters"].with_columns(kind=pl.lit("group"))
    assert split(exam, one_per_cluster_in_test=True).of == split(exam).of
