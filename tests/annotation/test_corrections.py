"""Which corrections count."""

from __future__ import annotations

import pytest

from annotation.corrections import answered_flags, judged
from schemas.corrections import Correction


def made(
    by: str, after: str, field: str = "answer", origin: str = "review", at: int = 0, base="h"
) -> Correction:
    return Correction(
        question_id="q",
        content_hash=base,
        field=field,
        before="A",
        after=after,
        by=by,
        origin=origin,
        note=None,
        annotation_id=at,
        updated_at=f"2026-01-01T00:00:{at:02}.000000Z",
        status="proposed",
    )


@pytest.mark.parametrize(
    ("corrections", "ruled", "expected"),
    [
        ([made("a", "B")], [], ["proposed"]),
        ([made("a", "B"), made("b", "B")], [], ["accepted", "accepted"]),
        ([made("a", "B"), made("b", "C")], [], ["proposed", "proposed"]),
        ([made("a", "B"), made("b", "B"), made("c", "C")], [], ["proposed"] * 3),
        ([made("a", "B"), made("b", "B", base="other")], [], ["proposed", "proposed"]),
        ([made("a", "B")], ["q"], ["declined"]),
        ([made("a", "B"), made("b", "B")], ["q"], ["declined", "declined"]),
        ([made("a", "B"), made("w", "C", origin="adjudication")], ["q"], ["declined", "accepted"]),
        ([made("a", "B"), made("w", "B", origin="adjudication")], ["q"], ["accepted", "accepted"]),
        ([made("v", "B", origin="verification")], [], ["accepted"]),
        ([made("judge", "B")], [], ["accepted"]),
    ],
)
def test_two_alike_or_one_who_decides_make_a_correction_count(corrections, ruled, expected):
    assert [each.status.value for each in judged(corrections, ruled, ["judge"])] == expected


def test_of_two_rulings_the_later_counts():
    rulings = [made("w", "B", origin="adjudication", at=1), made("x", "C", origin="adjudication", at=2)]
    assert {each.by: each.status.value for each in judged(rulings, ["q"])} == {
        "w": "declined",
        "x": "accepted",
    }


def test_an_accepted_correction_answers_the_flag_that_asked_for_it():
    accepted = judged(
        [made("w", "B", field, origin="verification") for field in ("answer", "option:B", "verdict")], []
    )
    assert answered_flags(accepted) == {"q": {"wrong_key", "wrong_stem", "out_of_scope"}}
    assert answered_flags(judged([made("a", "B")], [])) == {}
