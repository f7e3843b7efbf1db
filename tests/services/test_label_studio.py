"""Two experts review questions in a real Label Studio, answering through the API as its screen does."""

import contextlib
import multiprocessing
import threading
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest

from build_dataset.annotation.adjudication import State
from build_dataset.annotation.label_studio import projects
from build_dataset.annotation.label_studio.projects import REVIEW
from build_dataset.annotation.label_studio.pull import PullReport
from build_dataset.annotation.label_studio.push import PushReport
from build_dataset.annotation.label_studio.tasks import QUESTION_ID, choice
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import exchange, stage as review
from build_dataset.pipeline.review.folder import owner_of, read_control
from build_dataset.schemas.annotations import ExpertReview, LabelStatus
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Rejection
from tests.services.label_studio_server import ADMIN, LI, WANG, ZHANG, LabelStudioServer, free_port
from tests.services.lossy_proxy import REPLY_LOST, REQUEST_LOST, lossy_proxy
from tests.services.reviewing import PREFILLED, QUESTIONS, answer, answer_all, pulled, question, tables, task_ids, tasks


@pytest.fixture
def pushed(params: ReviewParams, context) -> PushReport:
    return exchange.push(tables(map(question, range(1, QUESTIONS + 1))), params, context)


def pull_reviews(params: ReviewParams, context) -> PullReport:
    """Pull, and what came of the review project."""
    return exchange.pull(params, context)[0]


def what_counts(context) -> pl.DataFrame:
    return what_counts_of(pulled(context))


def what_counts_of(reviews: pl.DataFrame) -> pl.DataFrame:
    """Reviews without the server's own names for them."""
    return reviews.drop("annotation_id", "updated_at")


def settle(context, params: ReviewParams, found: dict[str, pl.DataFrame]):
    return review.run({**found, "pulled": pulled(context)}, params, context)


def label(result, number: int, dimension: str) -> Mapping[str, Any]:
    rows = result.tables["labels"].filter(
        (pl.col("question_id") == question(number).question_id) & (pl.col("dimension") == dimension)
    )
    return rows.row(0, named=True)


def test_two_experts_review_and_their_labels_become_final(label_studio, params, context, pushed):
    assert (pushed.created, pushed.added, pushed.updated, pushed.others) == (True, QUESTIONS, 0, 0)
    theirs = answer(PREFILLED | {"clinical_department": "外科"})
    flagged = answer(flags=["答案有误"], note="应为 B")
    answer_all(label_studio, pushed.project, ZHANG, {})
    answer_all(label_studio, pushed.project, LI, {1: theirs, 2: theirs, 3: flagged})

    report = pull_reviews(params, context)
    assert (report.new, report.deleted, report.questions, dict(report.rejects)) == (2 * QUESTIONS, 0, QUESTIONS, {})
    found = tables(map(question, range(1, QUESTIONS + 1)))
    result = settle(context, params, found)

    assert label(result, 1, "clinical_department") | {} == {
        "question_id": question(1).question_id,
        "dimension": "clinical_department",
        "label": None,
        "label_en": None,
        "status": LabelStatus.DISPUTED,
        "annotator": None,
        "estimate": False,
        "reviewers": [LI.email, ZHANG.email],
    }
    assert label(result, 1, "disease_group")["status"] == LabelStatus.AGREED
    assert label(result, 4, "clinical_department")["label"] == "内科"
    assert result.counts.waiting == 3
    assert result.counts.kept == QUESTIONS - 3
    assert result.counts.balanced()
    reasons = {item.item_id[-3:]: (item.reason, item.detail) for item in result.review}
    assert reasons["001"][0] == "disputed"
    assert f"{ZHANG.email} = 内科" in reasons["001"][1]
    assert reasons["003"] == ("flagged", f"wrong_key by {LI.email}; note by {LI.email}: 应为 B")

    agreement = {
        (row["dimension"], row["reviewers"]): row
        for row in result.tables["agreement"].to_dicts()
        if row["label"] is None and row["slice"] is None
    }
    department = agreement["clinical_department", f"{LI.email} & {ZHANG.email}"]
    assert department["items"] == QUESTIONS
    assert department["raw"] == pytest.approx((QUESTIONS - 2) / QUESTIONS)
    assert department["kappa"] == pytest.approx(0.0)
    assert set(pulled(context)["origin"]) == {"prediction"}

    status, experts, *_ = review.status({**found, "pulled": pulled(context)}, params, read_control(context.build))
    assert [(each.reviewer, each.questions, each.left) for each in experts] == [
        (LI.email, QUESTIONS, 0),
        (ZHANG.email, QUESTIONS, 0),
    ]
    assert status.states[State.DISPUTED] == 2
    assert status.states[State.FLAGGED] == 1
    assert status.states[State.DONE] == QUESTIONS - 3
    assert status.experts == {LI.email: QUESTIONS, ZHANG.email: QUESTIONS}


def test_the_sample_is_reviewed_by_two_experts(label_studio, params, context, sample_build):
    count = 15
    questions = pl.read_parquet(sample_build / "dedup" / "questions.parquet").head(count)
    annotations = pl.read_parquet(sample_build / "annotate" / "annotations.parquet")
    found = {"questions": questions, "annotations": annotations.join(questions, "question_id", "semi")}
    found["pulled"] = ExpertReview.to_frame([])
    sent = exchange.push(found, params, context)
    assert sent.added == count
    numbers = sorted(tasks(label_studio, sent.project))
    disputed, flagged = set(numbers[::10]), numbers[5]
    for account in (ZHANG, LI):
        expert = label_studio.as_expert(account)
        while (task := expert.next_task(sent.project)) is not None:
            filled = task["predictions"][0]["result"] if task["predictions"] else []
            labels = PREFILLED | {item["from_name"]: item["value"]["choices"][0] for item in filled}
            if account is LI and task["data"][QUESTION_ID] in disputed:
                labels["medical_discipline"] = "口腔医学" if labels["medical_discipline"] != "口腔医学" else "药学"
            flags = ["超出范围"] if task["data"][QUESTION_ID] == flagged else []
            expert.submit(task["id"], answer(labels, flags))
    report = pull_reviews(params, context)
    assert (report.new, report.questions, dict(report.rejects)) == (2 * count, count, {})
    result = settle(context, params, found)
    assert {item.item_id for item in result.review if item.reason == "disputed"} == disputed
    assert [item.item_id for item in result.review if item.reason == "flagged"] == [flagged]
    assert result.counts.kept == count - len(disputed) - 1
    labels = result.tables["labels"]
    assert labels.filter(pl.col("status") == "agreed").height == 5 * count - len(disputed)
    said = {
        row["dimension"]: row
        for row in result.tables["agreement"].to_dicts()
        if row["reviewers"] == "all" and row["label"] is None
    }
    assert said["medical_discipline"]["raw"] == pytest.approx(1 - len(disputed) / count)
    assert all(said[name]["raw"] == 1 for name in said if name != "medical_discipline")
    assert exchange.push(found, params, context).unchanged == count


def test_the_adjudicator_settles_disputes_and_flags(label_studio, params, context, pushed):
    answer_all(label_studio, pushed.project, ZHANG, {})
    answer_all(label_studio, pushed.project, LI, {1: answer(PREFILLED | {"competency": "疾病治疗"}, ["题干有误"])})
    task = task_ids(label_studio, pushed.project)[1]
    label_studio.as_expert(WANG).submit(task, answer(PREFILLED | {"competency": "疾病治疗"}))
    report = pull_reviews(params, context)
    assert report.third_experts == (question(1).question_id,)
    adjudicated = params.model_copy(update={"adjudicators": [WANG.email]})
    result = settle(context, adjudicated, tables(map(question, range(1, QUESTIONS + 1))))
    assert label(result, 1, "competency")["label"] == "疾病治疗"
    assert label(result, 1, "competency")["status"] == LabelStatus.ADJUDICATED
    assert result.counts.waiting == 0
    assert not any(WANG.email in row["reviewers"] for row in result.tables["agreement"].to_dicts())


def test_a_second_push_adds_nothing(params, context, pushed):
    again = exchange.push(tables(map(question, range(1, QUESTIONS + 1))), params, context)
    assert (again.created, again.project) == (False, pushed.project)
    assert (again.added, again.updated, again.unchanged, again.others) == (0, 0, QUESTIONS, 0)


def test_a_push_sends_what_is_new_and_updates_what_changed(label_studio, params, context, pushed):
    answer_all(label_studio, pushed.project, ZHANG, {})
    changed = [question(1, "改过的题干"), *map(question, range(2, QUESTIONS + 2))]
    report = exchange.push(tables(changed, PREFILLED | {"competency": "疾病治疗"}), params, context)
    assert (report.added, report.updated) == (1, QUESTIONS)
    assert report.changed_after_review == (question(1).question_id,)
    task = label_studio.as_expert(LI).http.get(f"/api/tasks/{task_ids(label_studio, pushed.project)[1]}/").json()
    assert task["data"]["question"] == "改过的题干"
    assert len(task["annotations"]) == 1
    served = label_studio.as_expert(LI).next_task(pushed.project)
    assert served is not None
    [prediction] = served["predictions"]
    assert choice("competency", ["疾病治疗"])["value"] in [item["value"] for item in prediction["result"]]


def test_questions_that_left_the_dataset_are_counted_and_left_alone(params, context, pushed):
    assert exchange.push(tables(map(question, range(1, 5))), params, context).others == QUESTIONS - 4


def test_a_second_pull_changes_nothing(label_studio, params, context, pushed):
    answer_all(label_studio, pushed.project, ZHANG, {})
    first = pull_reviews(params, context)
    before = _bytes(context.build / "reviews")
    second = pull_reviews(params, context)
    assert (first.full, second.full) == (True, False)
    assert (second.new, second.changed, second.deleted) == (0, 0, 0)
    assert _bytes(context.build / "reviews") == before


def test_a_pull_fetches_changed_new_and_deleted_annotations(label_studio, params, context, pushed):
    mine = answer_all(label_studio, pushed.project, ZHANG, {})
    pull_reviews(params, context)
    expert = label_studio.as_expert(ZHANG)
    expert.change(mine[1], answer(PREFILLED | {"difficulty": "较难"}))
    expert.delete(mine[2])
    label_studio.as_expert(LI).submit(task_ids(label_studio, pushed.project)[3], answer())
    report = pull_reviews(params, context)
    assert (report.full, report.new, report.changed, report.newly_gone) == (False, 1, 1, 1)
    rows = pulled(context)
    assert question(2).question_id in set(rows["question_id"]), "what was deleted there stays here"
    changed = rows.filter((pl.col("question_id") == question(1).question_id) & (pl.col("dimension") == "difficulty"))
    assert changed["label"].to_list() == ["较难"]


def test_a_deleted_task_loses_no_review_and_comes_back_with_its_answers(label_studio, params, context, pushed):
    answer_all(label_studio, pushed.project, ZHANG, {5: answer(flags=["答案有误"], note="应为 B")})
    pull_reviews(params, context)
    before = pulled(context)
    label_studio.as_expert(ADMIN).delete_task(task_ids(label_studio, pushed.project)[5])
    report = pull_reviews(params, context)
    assert (report.newly_gone, report.full) == (1, True)
    assert pulled(context).equals(before)
    again = exchange.push(tables(map(question, range(1, QUESTIONS + 1))), params, context)
    assert (again.added, again.restored, again.batch) == (1, 1, 1)
    assert pull_reviews(params, context).kept == 0
    assert what_counts(context).equals(what_counts_of(before))
    assert label_studio.as_expert(ZHANG).next_task(pushed.project) is None, "it is asked for again"


def test_force_lets_go_of_what_is_gone(label_studio, params, context, pushed):
    answer_all(label_studio, pushed.project, ZHANG, {})
    pull_reviews(params, context)
    label_studio.as_expert(ADMIN).delete_task(task_ids(label_studio, pushed.project)[5])
    assert exchange.pull(params, context, force=True)[0].deleted == 1
    assert question(5).question_id not in set(pulled(context)["question_id"])
    assert len(list((context.build / "reviews" / "history" / "review").iterdir())) == 2


def test_what_label_studio_lets_through_is_rejected_with_a_reason(label_studio, params, context, pushed):
    tasks = task_ids(label_studio, pushed.project)
    zhang = label_studio.as_expert(ZHANG)
    zhang.submit(tasks[1], answer(PREFILLED | {"competency": "随便"}))
    zhang.submit(tasks[2], answer({"difficulty": "易"}))
    zhang.submit(tasks[3], answer())
    zhang.submit(tasks[3], answer(PREFILLED | {"difficulty": "易"}))
    zhang.submit(tasks[4], [], skip=True)
    report = pull_reviews(params, context)
    assert dict(report.rejects) == {"missing_dimension": 4, "skipped": 1, "superseded": 1, "unknown_label": 1}
    rejects = list(Rejection.from_frame(pl.read_parquet(context.build / "reviews" / "rejects.parquet")))
    assert any("no label '随便' in the taxonomy" in reject.detail for reject in rejects)
    rows = pulled(context)
    again = rows.filter((pl.col("question_id") == question(3).question_id) & (pl.col("dimension") == "difficulty"))
    assert again["label"].to_list() == ["易"]
    assert pull_reviews(params, context).full is False


def test_a_deleted_project_is_filled_again_with_all_that_was_pulled(label_studio, params, context, pushed):
    answer_all(label_studio, pushed.project, ZHANG, {})
    answer_all(label_studio, pushed.project, LI, {3: answer(flags=["答案有误"], note="应为 B")})
    pull_reviews(params, context)
    before, everything = pulled(context), _bytes(context.build / "reviews")
    label_studio.as_expert(ZHANG).delete_project(pushed.project)
    with pytest.raises(UserError, match="is gone from Label Studio"):
        pull_reviews(params, context)
    assert _bytes(context.build / "reviews") == everything
    again = exchange.push(tables(map(question, range(1, QUESTIONS + 1))), params, context)
    assert (again.created, again.added, again.restored) == (True, QUESTIONS, 2 * QUESTIONS)
    report = pull_reviews(params, context)
    assert (report.kept, dict(report.rejects), report.third_experts) == (0, {}, ())
    assert what_counts(context).equals(what_counts_of(before))
    assert label_studio.as_expert(LI).next_task(again.project) is None


def test_a_project_of_another_folder_is_refused(label_studio, params, context, pushed, tmp_path):
    context.build = tmp_path / "another"
    found = tables(map(question, range(1, 3)))
    for command in (partial(exchange.push, found, params, context), partial(pull_reviews, params, context)):
        with pytest.raises(UserError, match="belongs to another folder"):
            command()
    token = context.build / "reviews" / "token"
    token.write_text((tmp_path / "build" / "reviews" / "token").read_text())
    assert exchange.push(found, params, context).project == pushed.project


def test_while_experts_save_a_push_makes_one_project_with_all_labels(label_studio, params, context, pushed):
    """The server's database is locked again and again: it runs requests again, half done or without labels."""
    stop = threading.Event()

    def save(account) -> None:
        expert = label_studio.as_expert(account)
        mine = expert.submit(task_ids(label_studio, pushed.project)[1], answer())
        while not stop.is_set():
            with contextlib.suppress(httpx.HTTPError):
                expert.change(mine, answer())

    savers = [threading.Thread(target=save, args=(account,)) for account in (ZHANG, LI, WANG)]
    for saver in savers:
        saver.start()
    try:
        context.build = context.build.with_name("busy")
        context.dataset = context.dataset.model_copy(update={"name": "busy", "build": context.build})
        report = exchange.push(tables(map(question, range(1, 121))), params, context)
    finally:
        stop.set()
        for saver in savers:
            saver.join()
    admin = label_studio.as_expert(ADMIN).http
    own = [
        project
        for project in admin.get("/api/projects/", params={"page_size": 100}).json()["results"]
        if "review: busy #" in project["description"]
    ]
    assert [project["id"] for project in own] == [report.project]
    assert (own[0]["task_number"], own[0]["total_predictions_number"]) == (120, 120)
    pull_reviews(params, context)


def test_a_pull_before_any_push_says_to_push(params, context):
    with pytest.raises(UserError, match="run `build-dataset review push`"):
        pull_reviews(params, context)


def test_a_server_that_is_down_is_told_in_one_line(params, context):
    down = params.model_copy(update={"url": f"http://127.0.0.1:{free_port()}"})
    with pytest.raises(UserError, match=r"does not answer at .*make label-studio") as caught:
        pull_reviews(down, context)
    assert "\n" not in str(caught.value)


def test_a_wrong_token_is_told_in_one_line_without_the_token(params, context, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "f" * 40)
    with pytest.raises(UserError, match="refuses the token in LABEL_STUDIO_API_KEY") as caught:
        pull_reviews(params, context)
    assert "f" * 40 not in str(caught.value)


@pytest.mark.parametrize("faults", [[REPLY_LOST], [REQUEST_LOST, REPLY_LOST]], ids="-then-".join)
def test_a_push_over_a_bad_network_adds_every_question_once(label_studio, params, context, faults, monkeypatch):
    monkeypatch.setattr(projects, "SETTLE_SECONDS", 2.0)
    found = tables(map(question, range(1, QUESTIONS + 1)))
    with lossy_proxy(label_studio.url, "/import", list(faults)) as url:
        report = exchange.push(found, params.model_copy(update={"url": url, "batch": 5}), context)
    assert (report.added, report.replies_lost, report.duplicates_removed) == (QUESTIONS, len(faults), 0)
    assert len(task_ids(label_studio, report.project)) == QUESTIONS
    assert _count(label_studio, report.project) == QUESTIONS


def test_a_push_killed_in_the_middle_is_completed_by_the_next(label_studio, params, context):
    count = 24
    found = tables([question(number) for number in range(1, count + 1)])
    for reach in (1, 12):
        process = multiprocessing.get_context("spawn").Process(target=_push_slowly, args=(found, params, context))
        process.start()
        while _progress(label_studio, context) < reach:
            time.sleep(0.05)
        process.kill()
        process.join()
        assert _progress(label_studio, context) < count
    report = exchange.push(found, params, context)
    assert _count(label_studio, report.project) == count
    assert sorted(task_ids(label_studio, report.project)) == list(range(1, count + 1))


def _push_slowly(found, params, context) -> None:
    exchange.push(found, params.model_copy(update={"batch": 1}), context)


def _progress(server: LabelStudioServer, context) -> int:
    projects = server.as_expert(ADMIN).http.get("/api/projects/").json()["results"]
    marker = REVIEW.marker(owner_of(context))
    return sum(project["task_number"] for project in projects if marker in project["description"])


def _count(server: LabelStudioServer, project: int) -> int:
    return server.as_expert(ADMIN).http.get(f"/api/projects/{project}/").json()["task_number"]


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_assigned_experts_have_a_project_each_and_hand_over_what_is_open(label_studio, params, context):
    people = params.model_copy(update={"reviewers": [ZHANG.email, LI.email, WANG.email], "assign": True})
    found = tables(question(number) for number in range(1, 13))
    reports, notes = exchange.push_to_experts(found, people, context)
    assert (len(reports), notes) == (3, [])
    sent = {who: tasks(label_studio, each.project) for who, each in zip(people.reviewers, reports, strict=True)}
    assert sum(map(len, sent.values())) == 24
    assert [each.added for each in exchange.push_to_experts(found, people, context)[0]] == [0, 0, 0]
    done = answer_all(label_studio, reports[0].project, ZHANG, {})
    exchange.pull(people, context)
    rows = pulled(context)
    assert set(rows["reviewer"]) == {ZHANG.email}
    assert rows["question_id"].n_unique() == len(done) == len(sent[ZHANG.email])
    found["pulled"] = rows
    stopped = people.model_copy(update={"quotas": {LI.email: 0}})
    second, notes = exchange.push_to_experts(found, stopped, context)
    left = tasks(label_studio, reports[1].project)
    assert left == {}, "nothing waits for who stopped"
    assert set(tasks(label_studio, reports[0].project)) >= set(sent[ZHANG.email]), "done work stays"
    assert sum(report.replies_lost + report.mended for report in second) == 0
