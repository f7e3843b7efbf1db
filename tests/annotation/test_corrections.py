"""Which corrections count."""

import pytest

from build_dataset.annotation.adjudication import answered_flags, decided_corrections
from build_dataset.schemas.annotations import CorrectionStatus
from tests.annotation.records import correction


@pytest.mark.parametrize(
    ("corrections", "ruled", "expected"),
    [
        ([correction("a", "B")], [], ["proposed"]),
        ([correction("a", "B"), correction("b", "B")], [], ["accepted", "accepted"]),
        ([correction("a", "B"), correction("b", "C")], [], ["proposed", "proposed"]),
        ([correction("a", "B"), correction("b", "B"), correction("c", "C")], [], ["proposed"] * 3),
        ([correction("a", "B"), correction("b", "B", content_hash="other")], [], ["proposed", "proposed"]),
        ([correction("a", "B")], ["q"], ["declined"]),
        ([correction("a", "B"), correction("b", "B")], ["q"], ["accepted", "accepted"]),
        ([correction("a", "B"), correction("b", "C")], ["q"], ["declined", "declined"]),
        (
            [correction("a", "B"), correction("b", "B"), correction("w", "A", origin="adjudication")],
            ["q"],
            ["declined", "declined", "accepted"],
        ),
        ([correction("a", "B"), correction("w", "C", origin="adjudication")], ["q"], ["declined", "accepted"]),
        ([correction("a", "B"), correction("w", "B", origin="adjudication")], ["q"], ["accepted", "accepted"]),
        ([correction("v", "B", origin="verification")], [], ["accepted"]),
        ([correction("judge", "B")], [], ["accepted"]),
    ],
)
def test_two_alike_or_one_who_decides_make_a_correction_count(corrections, ruled, expected):
    assert [each.status.value for each in decided_corrections(corrections, ruled, ["judge"])] == expected


def test_of_two_rulings_the_later_counts():
    rulings = [correction("w", "B", origin="adjudication", at=1), correction("x", "C", origin="adjudication", at=2)]
    assert {each.by: each.status.value for each in decided_corrections(rulings, ["q"])} == {
        "w": "declined",
        "x": "accepted",
    }


@pytest.mark.parametrize(
    ("field", "origin", "flags"),
    [
        ("answer", "review", {"wrong_key"}),
        ("answer", "verification", {"wrong_key"}),
        ("stem", "review", {"wrong_stem"}),
        ("option:B", "verification", {"wrong_stem"}),
        ("verdict", "review", {"out_of_scope"}),
        ("verdict", "verification", {"out_of_scope", "wrong_key", "wrong_stem"}),
    ],
)
def test_an_accepted_correction_answers_the_flags_of_its_field(field: str, origin: str, flags: set[str]) -> None:
    accepted, proposed = (
        correction("a", "B", field=field, origin=origin, status=CorrectionStatus(status))
        for status in ("accepted", "proposed")
    )
    assert answered_flags([accepted]) == {"q": flags}
    assert answered_flags([proposed]) == {}
    assert answered_flags([accepted, correction("a", "B", status=CorrectionStatus.ACCEPTED)]) == {
        "q": flags | {"wrong_key"}
    }
