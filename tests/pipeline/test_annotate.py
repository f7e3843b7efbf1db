from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from build_dataset.annotation import learned_annotator, params
from build_dataset.annotation.llm import limits
from build_dataset.annotation.params import AnnotateLlmOptions, AnnotateParams
from build_dataset.pipeline import annotate
from build_dataset.pipeline.annotate import choose, problems, run
from build_dataset.pipeline.catalogue import stage
from build_dataset.schemas.annotations import Annotation, AnnotationRequest, ExpertReview
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Option, Question
from build_dataset.schemas.taxonomy import LabelSet, use_label_set
from tests.annotation.scripted_server import Reply, ScriptedServer

ROOT = Path(__file__).resolve().parents[2]
LEXICON = AnnotateParams(annotator="lexicon")


SAID = ("disease_group", "clinical_department", "competency")  # of 高血压患者首选的药物是: no term tells the discipline


def questions(count: int, **more) -> list[Question]:
    return [
        Question(
            question_id=f"aaaaaaaa-1-{n:03}",
            document="d.pdf",
            section=1,
            number=n,
            question_type="A1",
            stem=f"（{n}）高血压患者首选的药物是",
            options=[Option(label="A", text="氢氯噻嗪"), Option(label="B", text="甘露醇")],
            answer=["A"],
            content_hash=str(n),
            **more,
        )
        for n in range(count)
    ]


def table(rows):
    return {"questions": Question.to_frame(rows)}


@pytest.fixture
def server(monkeypatch) -> Iterator[ScriptedServer]:
    monkeypatch.setattr(limits, "_FIRST_BACKOFF", 0.01)
    started = ScriptedServer(lambda question, earlier, body: Reply())
    yield started
    started.close()


def llm(server, **more) -> AnnotateParams:
    options = {"base_url": server.url, "model": "m", "price_in": 1.0, "price_out": 2.0, "max_retries": 0}
    return AnnotateParams(llm=AnnotateLlmOptions(**{**options, **more}))


@pytest.mark.parametrize("rows", [[], questions(7)])
def test_the_lexicon_labels_what_terms_speak_for_and_never_difficulty(context, rows):
    result = run(table(rows), LEXICON, context)
    annotations = list(Annotation.from_frame(result.tables["annotations"]))
    assert [(row.question_id, row.dimension) for row in annotations] == [
        (question.question_id, name) for question in rows for name in SAID
    ]
    assert {row.annotator for row in annotations} <= {"lexicon"}
    assert (result.counts.kept, result.counts.waiting, result.complete) == (len(rows), 0, True)
    assert result.counts.balanced()
    assert result.facts["annotator"] == "lexicon"
    assert result.tables["annotations"].schema == stage("annotate").writes["annotations"].polars_schema()
    assert result.tables["requests"].is_empty()


OWN = {
    "name": "organ",
    "zh": "器官",
    "en": "Organ",
    "labels": [{"zh": "血压", "en": "Vessels"}, {"zh": "骨", "en": "Bone"}],
}


@pytest.mark.parametrize("labels", [None, LabelSet(dimensions=[OWN])])
def test_many_questions_are_labelled_as_a_few_are(context, labels):
    rows = questions(2001, human_accuracy=0.5)
    use_label_set(labels)
    few = [run(table(part), LEXICON, context).tables["annotations"] for part in (rows[:1000], rows[1000:])]
    many = run(table(rows), LEXICON, context)
    assert many.tables["annotations"].equals(pl.concat(few))
    assert many.counts.kept == 2001
    assert many.facts["difficulty_from_human_accuracy"] == (2001 if labels is None else 0)
    said = {*SAID, "difficulty"} if labels is None else {"organ"}
    assert set(many.tables["annotations"]["dimension"]) == said


def test_difficulty_comes_from_human_accuracy_where_there_is_one(context):
    rows = [*questions(1, human_accuracy=0.3, respondents=50), questions(2)[1]]
    found = run(table(rows), LEXICON, context).tables["annotations"].filter(dimension="difficulty")
    assert found["label"].to_list() == ["较难"]
    assert found["annotator"].to_list() == ["human_accuracy"]
    assert found["estimate"].to_list() == [False]


def test_an_llm_s_labels_carry_model_and_prompt_and_its_cost_stands_apart(context, server):
    result = run(table(questions(5)), llm(server), context)
    row = next(Annotation.from_frame(result.tables["annotations"]))
    assert (row.annotator, row.model, len(row.prompt_hash)) == ("llm:m", "m", 16)
    requests = list(AnnotationRequest.from_frame(result.tables["requests"]))
    assert len(requests) == 5
    assert result.facts["requests"] == 5
    assert result.facts["prompt_tokens"] == 500
    assert result.facts["cost"] == pytest.approx(5 * (100 + 2 * 10) / 1e6)


def test_failed_questions_wait_with_the_class_of_the_failure_and_are_asked_again(context, server):
    server.script = lambda question, earlier, body: (
        Reply(status=500) if "（3）" in question else Reply(refusal="no") if "（5）" in question else Reply()
    )
    rows = questions(8)
    first = run(table(rows), llm(server), context)
    assert (first.counts.kept, first.counts.waiting, first.complete) == (6, 2, False)
    assert {item.item_id[-3:]: item.reason for item in first.review} == {"003": "server_error", "005": "refused"}
    assert any("refused 1: " in note and "; server_error 1: " in note for note in first.notes)

    server.script = lambda question, earlier, body: Reply()
    server.asked.clear()
    second = run(table(rows), llm(server), context)
    assert second.complete
    assert sum(server.asked.values()) == 2


def test_the_result_does_not_depend_on_how_many_runs_it_took(context, server, tmp_path):
    server.script = lambda question, earlier, body: Reply(status=500) if "2" in question else Reply()
    rows = questions(30)
    run(table(rows), llm(server), context)
    server.script = lambda question, earlier, body: Reply(stall=0.01 * (len(question) % 3))
    resumed = run(table(rows), llm(server), context)
    context.store.items.clear()
    undisturbed = run(table(rows), llm(server, concurrency=3), context)
    for name in ("annotations", "requests"):
        assert resumed.tables[name].equals(undisturbed.tables[name])
    assert resumed.facts == undisturbed.facts


def test_a_changed_model_asks_again_and_a_changed_price_does_not(context, server):
    rows = questions(3)
    run(table(rows), llm(server), context)
    server.asked.clear()
    dearer = run(table(rows), llm(server, price_in=100.0, concurrency=1, timeout=5.0), context)
    assert not server.asked
    assert dearer.facts["cost"] > 0.03
    run(table(rows), llm(server, model="n"), context)
    assert sum(server.asked.values()) == 3


def test_the_key_is_in_no_table_fact_note_or_store(context, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    server.script = lambda question, earlier, body: Reply(status=500) if "（1）" in question else Reply()
    params = llm(server, api_key_env="OPENAI_API_KEY")
    result = run(table(questions(3)), params, context)
    assert server.authorization == {"Bearer sk-very-secret"}
    said = [frame.write_json() for frame in result.tables.values()]
    said += [str(result.facts), str(result.notes), str(result.review), str(context.store.items)]
    said.append(str(params.semantic()))
    assert "secret" not in "".join(said)


def test_what_was_pulled_is_learned_from_once_it_is_enough_and_that_is_said(context, monkeypatch):
    from tests.annotation.test_learned_annotator import reviewed
    from tests.annotation.test_reviewed import review

    items = reviewed(40)
    said = [
        review(item.question.question_id, item.labels["disease_group"].zh, dimension="disease_group") for item in items
    ]
    given = table([item.question for item in items]) | {"pulled": ExpertReview.to_frame(said)}
    monkeypatch.setattr(params, "LEARN_FROM", 40)
    learned = run(given, AnnotateParams(), context)
    assert {row["annotator"] for row in learned.tables["annotations"].iter_rows(named=True)} == {"learned"}
    assert (learned.facts["annotator"], learned.facts["reviewed"]) == ("learned", 40)
    assert learned.facts["out_of_fold_accuracy"]["disease_group"] > 0.9
    assert "40 reviewed questions" in learned.notes[0]
    monkeypatch.setattr(params, "LEARN_FROM", 41)
    assert run(given, AnnotateParams(), context).facts["annotator"] == "lexicon"


def test_examples_come_from_what_was_pulled_and_change_the_prompt_s_hash(context, server):
    from tests.annotation.test_reviewed import LABELS, review

    rows = questions(6)
    said = [review(row.question_id, label, dimension=name) for row in rows[:4] for name, label in LABELS.items()]
    given = table(rows) | {"pulled": ExpertReview.to_frame(said)}
    shown: list[int] = []
    server.script = lambda question, earlier, body: shown.append(len(body["messages"])) or Reply()
    plain = run(given, llm(server), context)
    taught = run(given, llm(server, shots=2), context)
    assert shown == [2] * 6 + [2 + 2 * 2] * 6
    assert taught.facts["prompt_hash"] != plain.facts["prompt_hash"]
    assert taught.facts["shots"] == 2


def test_replies_that_name_another_model_are_recorded_and_told(server, context):
    def script(question, earlier, body):
        return Reply(model="m-2026-08-06" if "1" in question else "tiny")

    server.script = script
    found = run(table(questions(4)), llm(server), context)
    named = found.tables["requests"]["answered_by"].to_list()
    assert {*named} == {"m-2026-08-06", "tiny"}
    assert found.facts["other_models"] == {"tiny": named.count("tiny")}
    told = f"{named.count('tiny')} answers of the model tiny, though m was asked for"
    assert any(note.startswith(told) for note in found.notes)
    again = run(table(questions(4)), llm(server), context)
    assert again.facts == found.facts, "the same from the store"


def test_twenty_reviewed_questions_are_enough_to_learn_from(monkeypatch) -> None:
    monkeypatch.setattr(learned_annotator, "LearnedAnnotator", list)
    params = AnnotateParams(annotator="learned")
    with pytest.raises(UserError, match=r"^19 questions are reviewed, learned needs 20: run"):
        choose(params, None, [None] * 19)
    assert choose(params, None, [None] * 20) == [None] * 20


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, []),
        ({"reviewed": "here"}, []),
        ({"reviewed": "none"}, ["no file"]),
        ({"annotator": "lexicon", "reviewed": "none"}, []),
        ({"annotator": "learned", "reviewed": "none"}, ["no file"]),
        ({"annotator": "llm"}, ["[annotate.llm]"]),
        ({"annotator": "llm", "reviewed": "none"}, ["[annotate.llm]"]),
    ],
)
def test_every_obstacle_to_annotating_is_told(tmp_path, context, given, told) -> None:
    (tmp_path / "here").touch()
    if "reviewed" in given:
        given = given | {"reviewed": tmp_path / given["reviewed"]}
    found = problems(AnnotateParams(**given), context.dataset)
    assert len(found) == len(told)
    assert all(part in line for part, line in zip(told, found, strict=True))


@pytest.mark.parametrize(("annotator", "learns"), [("auto", True), ("learned", True), ("lexicon", False)])
def test_reviews_are_read_only_by_annotators_that_learn(annotator, learns) -> None:
    from tests.annotation.test_reviewed import review

    rows = questions(2)
    said = [review(rows[0].question_id, "易", dimension="difficulty")]
    given = {"pulled": ExpertReview.to_frame(said)}
    params = AnnotateParams(annotator=annotator)
    found = annotate.reviewed_questions(rows, given, params)
    assert [item.question.question_id for item in found] == ([rows[0].question_id] if learns else [])
    assert annotate.reviewed_questions(rows, {}, params) == []
