"""Questions go to the right people, and corrections come back."""

from types import SimpleNamespace
from unittest.mock import ANY

import polars as pl
import pytest

from build_dataset.annotation.adjudication import State
from build_dataset.annotation.label_studio import projects
from build_dataset.annotation.label_studio.pull import Pulled
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import exchange, folder
from build_dataset.pipeline.review.progress import Assigned
from build_dataset.pipeline.runtime.publish import write_table
from build_dataset.pipeline.runtime.sources import CORRECTIONS
from build_dataset.schemas.annotations import Correction, CorrectionStatus, ExpertReview
from build_dataset.schemas.questions import Question
from tests.annotation import records

PEOPLE = ["a@x.org", "b@x.org", "c@x.org"]


@pytest.mark.parametrize(
    ("people", "unknown"), [([], [*PEOPLE, "j@x.org"]), (["a@x.org", "j@x.org"], PEOPLE[1:]), (["z"], None)]
)
def test_people_without_an_account_at_the_last_pull_are_told(tmp_path, people, unknown) -> None:
    params = ReviewParams(reviewers=PEOPLE, adjudicators=["j@x.org"])
    known = {str(number): name for number, name in enumerate(people)}
    folder.write_pulled(tmp_path, projects.REVIEW, Pulled(project="p", people=known))
    assert exchange.unknown_people(params, tmp_path) == (unknown or [*PEOPLE, "j@x.org"])


@pytest.mark.parametrize(
    ("states", "wait"), [(None, False), ([], False), (["proposed"], False), (["proposed", "accepted"], True)]
)
def test_corrections_wait_where_one_is_accepted(tmp_path, states, wait) -> None:
    if states is not None:
        rows = [records.correction("a", "B", status=CorrectionStatus(state)) for state in states]
        (tmp_path / CORRECTIONS).parent.mkdir(parents=True)
        write_table(Correction.to_frame(rows), tmp_path / CORRECTIONS)
    assert exchange.to_apply(tmp_path) is wait


@pytest.fixture
def sent(monkeypatch):
    """Calls of the sender: the project, the questions and further options."""
    calls = []

    def send(kind, tasks, params, context, **more):
        if not tasks:
            raise projects.NothingToSendError("nothing")
        calls.append((kind.name, kind.experts, [task.question_id for task in tasks], more))
        return len(calls)

    monkeypatch.setattr(exchange, "send", send)
    return calls


NOTHING = {"pulled": ExpertReview.to_frame([])}
MORE = {"count": None, "lineage": ANY, "rulings": ""}


def standing(name: str, state: State) -> SimpleNamespace:
    return SimpleNamespace(question_id=name, state=state, labels=[], flags={}, reviews=[], changed="")


@pytest.mark.parametrize("state", State)
def test_a_third_expert_rules_on_disputes_flags_and_changes(monkeypatch, context, sent, state) -> None:
    settled = SimpleNamespace(statuses=[standing("q0", state), standing("q1", State.DISPUTED)], corrections=[])
    monkeypatch.setattr(exchange, "settle_questions", lambda tables, params: settled)
    cut = []
    monkeypatch.setattr(exchange, "cut_outs", lambda asked, context, most: cut.append((len([*asked]), most)) or {})
    rows = Question.to_frame([records.question("q0"), records.question("q1"), records.question("q2")])
    for crops in (True, False):
        exchange.adjudicate({"questions": rows}, ReviewParams(crops=crops), context)
    names = ["q0", "q1"] if state in (State.DISPUTED, State.FLAGGED, State.CHANGED) else ["q1"]
    assert [call[2] for call in sent] == [names, names]
    assert cut == [(len(names), 400_000)]


@pytest.mark.parametrize("unassigned", [0, 3])
def test_every_expert_with_an_account_gets_their_questions_and_what_they_did(
    monkeypatch, context, sent, unassigned
) -> None:
    tasks = [SimpleNamespace(question_id=f"q{number}") for number in range(5)] + [SimpleNamespace(question_id="gold")]
    mine = Assigned({"a@x.org": {"q0", "q1"}, "b@x.org": set(), "c@x.org": {"q2"}}, unassigned)
    monkeypatch.setattr(exchange, "review_tasks", lambda tables, params, context: tasks)
    monkeypatch.setattr(exchange, "assignment", lambda tables, params: mine)
    gold = [SimpleNamespace(question=SimpleNamespace(question_id="gold"))]
    monkeypatch.setattr(exchange, "gold_questions", lambda path: gold)
    accounts = {"1": "a@x.org", "2": "b@x.org"}
    monkeypatch.setattr(exchange, "connect", lambda params: SimpleNamespace(reviewers=accounts))
    done = {"a@x.org": ["q3"], "b@x.org": []}

    def pulled(build, kind):
        names = next((found for who, found in done.items() if projects.of_expert(who).key == kind.key), [])
        return SimpleNamespace(annotations=pl.DataFrame({"question_id": names}, {"question_id": pl.String}))

    monkeypatch.setattr(exchange, "rulings_of", lambda tables, params: {})
    monkeypatch.setattr(folder, "read_pulled", pulled)
    reports, notes = exchange.push_to_experts(NOTHING, ReviewParams(reviewers=PEOPLE, assign=True), context, count=4)
    assert [(name, names, more) for name, _, names, more in sent] == [
        (projects.of_expert("a@x.org").name, ["q0", "q1", "q3", "gold"], MORE | {"count": 4})
    ]
    assert reports == [1]
    told = ["c@x.org has no account in Label Studio: `review sheet export` writes a workbook"]
    told += ["3 answers are wanted of nobody: quotas are full, or experts too few"] if unassigned else []
    assert notes == told


def test_a_push_to_all_names_how_many_experts_answer_each_question(monkeypatch, context, sent) -> None:
    tasks = [SimpleNamespace(question_id="q")]
    monkeypatch.setattr(exchange, "review_tasks", lambda tables, params, context: tasks)
    monkeypatch.setattr(exchange, "rulings_of", lambda tables, params: {})
    exchange.push(NOTHING, ReviewParams(experts=3), context)
    assert sent == [(projects.REVIEW.name, 3, ["q"], MORE)]


@pytest.mark.parametrize(("crops", "cut"), [(True, [(2, 400_000)]), (False, [])])
def test_what_waits_elsewhere_is_sent_with_the_number_of_what_holds_no_question(
    monkeypatch, context, sent, crops, cut
) -> None:
    taken = []
    monkeypatch.setattr(
        exchange, "cut_outs", lambda asked, context, most, marked: taken.append((len(asked), most)) or {}
    )
    monkeypatch.setattr(exchange, "waiting_questions", lambda build: ([(1, 2), (3, 4)], 7))
    monkeypatch.setattr(
        exchange.tasking, "verification_tasks", lambda pairs, crops: [SimpleNamespace(question_id="q")] * len(pairs)
    )
    assert exchange.verify(ReviewParams(crops=crops), context) == (1, 7)
    assert (taken, sent[0][2]) == (cut, ["q", "q"])


@pytest.mark.parametrize("version", ["v2", "none"])
def test_tasks_are_sent_in_batches_with_the_version_of_their_labels(monkeypatch, context, version) -> None:
    calls = []
    studio = SimpleNamespace(accounts={})
    monkeypatch.setattr(exchange, "connect", lambda params: studio)
    monkeypatch.setattr(exchange.pushing, "push", lambda *given, **more: calls.append((given, more)) or "report")
    tasks = [
        SimpleNamespace(question_id="q0", prediction=None),
        SimpleNamespace(question_id="q1", prediction={"model_version": "v2"} if version == "v2" else None),
    ]
    params, kind = ReviewParams(batch=7), projects.REVIEW
    assert exchange.send(kind, tasks, params, context, count=3) == "report"
    [((_, sent, owner, given), more)] = calls
    assert (sent, given, owner) == (kind, tasks, folder.owner_of(context))
    assert {name: more[name] for name in ("version", "batch", "count")} == {"version": version, "batch": 7, "count": 3}


@pytest.mark.parametrize(
    ("there", "before", "fetched", "fails"),
    [
        ([], [], [], True),
        (["review"], [], ["review"], False),
        (["verification"], [], ["verification"], False),
        (["verification"], ["review"], ["review", "verification"], True),
        (["review"], ["verification"], ["review", "verification"], False),
    ],
)
def test_what_is_or_was_there_is_fetched_and_a_review_that_is_gone_is_told(
    monkeypatch, context, there, before, fetched, fails
) -> None:
    studio = SimpleNamespace(accounts={}, projects=lambda begin: [begin])
    monkeypatch.setattr(exchange, "connect", lambda params: studio)
    monkeypatch.setattr(
        projects, "find", lambda studio, kind, *, owner, listed: kind.name if kind.name in there else None
    )
    for name in before:
        kind = next(kind for kind in projects.KINDS if kind.name == name)
        folder.write_pulled(context.build, kind, Pulled(project="p"))
    found: list[str] = []

    def pull(studio, kind, owner, earlier, *, project, full, force, advance):
        found.append(kind.name)
        assert (project, full, force) == (kind.name, True, False)
        return Pulled(project="p"), SimpleNamespace(kind=kind.name)

    def report(kind, *_, remedy):
        found.append(kind.name)
        return SimpleNamespace(kind=kind.name)

    monkeypatch.setattr(exchange.pulling, "pull", pull)
    monkeypatch.setattr(exchange.pulling, "report_of", report)
    monkeypatch.setattr(exchange.pulling, "no_project", lambda *_: RuntimeError("no project"))
    if fails:
        with pytest.raises(RuntimeError, match="no project"):
            exchange.pull(ReviewParams(), context, full=True)
    else:
        assert [each.kind for each in exchange.pull(ReviewParams(), context, full=True)] == found
    assert sorted(found) == fetched
    assert (context.build / "reviews" / "pulled.parquet").exists()
