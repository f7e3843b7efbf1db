import polars as pl
import pytest

from build_dataset.pipeline.evaluate.params import EvaluateParams, MajorityModel, OpenAiModel
from build_dataset.pipeline.evaluate.results.build import Evaluated, headlines, markdown, tables
from build_dataset.pipeline.evaluate.stage import problems, run
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import Prediction, Score
from tests.annotation.scripted_server import Reply
from tests.pipeline.evaluate.conftest import STATUS, make_question

TEST = [
    make_question(1, "A", disease_group="循环系统疾病", disease_group_en="Diseases of the circulatory system"),
    make_question(2, "B", human_accuracy=0.5, respondents=10),
    make_question(3, "AC"),
    make_question(4, "D", exam_class="主管护师", exam_type="护理考试"),
]
TRAIN = [make_question(number, "B") for number in range(10, 15)]
SAID = {1: "答案是A", 2: "选C", 3: "A、C", 4: "不知道"}


def number(text: str) -> int:
    return int(text.split("第")[1].split("题")[0])


def asking(server, **changes) -> EvaluateParams:
    model = {"model": "m", "base_url": server.url, "max_retries": 0, "price_in": 1.0, "price_out": 2.0}
    return EvaluateParams(models=[OpenAiModel.model_validate(model | changes)])


def scores_of(result, metric, dimension="overall"):
    rows = result.tables["scores"].filter((pl.col("metric") == metric) & (pl.col("dimension") == dimension))
    return {row["run"]: row["value"] for row in rows.iter_rows(named=True)}


def test_baselines_are_scored_without_any_server(context, splits):
    result = run(splits(TEST, TRAIN), EvaluateParams(), context)
    assert result.counts.balanced()
    assert (result.counts.n_input, result.counts.kept, result.complete) == (8, 8, True)
    assert scores_of(result, "accuracy")["majority"] == 0.25
    assert scores_of(result, "accuracy")["human"] == 0.5


def test_tables_have_the_schemas_of_their_records_and_do_not_change(context, splits):
    one, other = (run(splits(TEST, TRAIN), EvaluateParams(), context) for _ in range(2))
    assert one.tables["predictions"].schema == Prediction.polars_schema()
    assert one.tables["scores"].schema == Score.polars_schema()
    assert all(one.tables[name].equals(other.tables[name]) for name in one.tables)
    assert one.files == other.files
    assert one.facts == other.facts


def test_an_endpoint_is_asked_and_its_answers_are_read(context, splits, serve):
    server = serve(lambda question, earlier, body: Reply(content=SAID[number(question)]))
    result = run(splits(TEST, TRAIN), asking(server), context)
    rows = result.tables["predictions"].to_dicts()
    assert [row["extracted"] for row in rows] == [["A"], ["C"], ["A", "C"], None]
    assert [row["correct"] for row in rows] == [True, False, True, None]
    assert [row["outcome"] for row in rows] == ["answered", "answered", "answered", "no_answer"]
    assert [row["raw_output"] for row in rows] == list(SAID.values())
    assert {row["run"] for row in rows} == {"openai:m"}
    assert scores_of(result, "accuracy")["openai:m"] == 0.5
    assert result.facts["cost"] == pytest.approx(4 * (100 * 1.0 + 10 * 2.0) / 1e6)


def test_scoring_again_asks_nothing(context, splits, serve):
    server = serve(lambda question, earlier, body: Reply(content=SAID[number(question)]))
    first = run(splits(TEST, TRAIN), asking(server), context)
    assert server.asked.total() == 4
    again = run(splits(TEST, TRAIN), asking(server), context)
    assert server.asked.total() == 4
    assert first.tables["predictions"].equals(again.tables["predictions"])
    assert first.facts == again.facts


def test_one_more_question_asks_for_that_question_alone(context, splits, serve):
    server = serve(lambda question, earlier, body: Reply(content="A"))
    run(splits(TEST, TRAIN), asking(server), context)
    run(splits([*TEST, make_question(5)], TRAIN), asking(server), context)
    assert server.asked.total() == 5


def test_a_failed_request_waits_and_is_asked_again_on_the_next_run(context, splits, serve):
    down = {2}
    server = serve(
        lambda question, earlier, body: (
            Reply(status=500, content="boom") if number(question) in down else Reply(content="A")
        )
    )
    result = run(splits(TEST, TRAIN), asking(server), context)
    assert (result.counts.kept, result.counts.waiting, result.complete) == (3, 1, False)
    assert result.counts.balanced()
    failed = result.tables["predictions"].filter(pl.col("outcome") == "failed").to_dicts()
    assert [(row["question_id"], row["raw_output"], row["correct"]) for row in failed] == [
        (TEST[1].question_id, None, None)
    ]
    assert [(item.item_id, item.reason) for item in result.review] == [(TEST[1].question_id, "server_error")]
    assert "run evaluate again" in result.notes[-1]
    overall = result.tables["scores"].filter((pl.col("metric") == "accuracy") & (pl.col("dimension") == "overall"))
    assert overall.filter(pl.col("run") == "openai:m")["questions"].item() == 3

    down.clear()
    asked = server.asked.total()
    mended = run(splits(TEST, TRAIN), asking(server), context)
    assert server.asked.total() == asked + 1
    assert mended.complete
    undisturbed = serve(lambda question, earlier, body: Reply(content="A"))
    context.store.items.clear()
    clean = run(splits(TEST, TRAIN), asking(undisturbed), context)
    assert mended.tables["predictions"].equals(clean.tables["predictions"])


@pytest.mark.parametrize(
    ("prompt", "others", "read"),
    [
        ("answer_only", "D", ["A"]),  # the model answers as it was asked to: its opening counts
        ("answer_only", "略作分析，所以选D。", ["B"]),  # it reasons all the same
        ("chain_of_thought", "D", ["B"]),
    ],
)
def test_outputs_are_read_as_the_prompt_asked_and_the_model_obeyed(context, splits, serve, prompt, others, read):
    analysis = "选项A：先出现。选项B：后出现。选项C：不出现。故正确答案为B。"
    server = serve(lambda question, earlier, body: Reply(content=analysis if number(question) == 1 else others))
    test = [make_question(index, "B") for index in range(1, 31)]
    predictions = run(splits(test, TRAIN), asking(server, prompt=prompt), context).tables["predictions"]
    assert predictions.filter(pl.col("question_id") == test[0].question_id)["extracted"].to_list() == [read]


def test_what_other_models_gave_is_kept_when_one_endpoint_is_down(context, splits, serve):
    good = serve(lambda question, earlier, body: Reply(content="A"))
    dead = serve(lambda question, earlier, body: Reply(drop=True))
    models = [*asking(good, name="good").models, *asking(dead, name="dead").models]
    result = run(splits(TEST, TRAIN), EvaluateParams(models=models), context)
    assert (result.counts.n_input, result.counts.kept, result.counts.waiting) == (8, 4, 4)
    assert set(scores_of(result, "accuracy")) == {"good", "human"}


def test_a_prediction_says_how_it_came_about(context, splits, serve):
    server = serve(lambda question, earlier, body: Reply(content="答案是A。", model="m-2026-11-01"))
    params = asking(server, seed=7)
    result = run(splits(TEST, TRAIN), params, context)
    row = result.tables["predictions"].row(0, named=True)
    assert "A" in row["raw_output"][slice(*row["span"])] != row["raw_output"]
    assert (row["model"], row["seed"], row["finish"]) == ("m-2026-11-01", 7, "stop")
    assert (row["prompt_tokens"], row["completion_tokens"]) == (100, 10)
    again = run(splits(TEST, TRAIN), asking(server, seed=7), context)
    assert server.asked.total() == 4, "stored outputs say it too"
    assert again.tables["predictions"]["prompt_hash"][0] == row["prompt_hash"]
    (facts,) = result.facts["models"].values()
    assert (facts["reported"], facts["identity"]["model"], facts["made_with"]) == (["m-2026-11-01"], "m", [])
    assert again.facts == result.facts


def test_a_key_that_is_refused_ends_its_own_model_alone(context, splits, serve):
    good = serve(lambda question, earlier, body: Reply(content="A"))
    locked = serve(lambda question, earlier, body: Reply(status=401, content="no"))
    models = [*asking(locked, name="locked").models, *asking(good, name="good").models]
    result = run(splits(TEST, TRAIN), EvaluateParams(models=models), context)
    assert (result.counts.n_input, result.counts.kept, result.counts.waiting) == (8, 4, 4)
    assert set(scores_of(result, "accuracy")) == {"good", "human"}
    assert {item.reason for item in result.review} == {"ended"}
    assert any(line.startswith("locked could not go on:") and "401" in line for line in result.notes)
    with pytest.raises(UserError, match="does not accept the key"):
        run(splits(TEST, TRAIN), asking(locked), context)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(content="患者心率加快，因此", finish_reason="length"), "truncated"),
        (Reply(content="答案是A，因为", finish_reason="length"), "answered"),
        (Reply(content="", refusal="no"), "refused"),
        (Reply(content="", finish_reason="content_filter"), "refused"),
        (Reply(content=""), "no_answer"),
        (Reply(content="<think>选A</think>答案：B"), "answered"),
    ],
)
def test_every_kind_of_output_is_an_outcome_and_never_asked_twice(context, splits, serve, reply, outcome):
    server = serve(lambda question, earlier, body: reply)
    for _ in range(2):
        result = run(splits(TEST[:1]), asking(server), context)
    assert result.tables["predictions"]["outcome"].to_list() == [outcome]
    assert result.complete
    assert server.asked.total() == 1


def test_an_output_cut_inside_a_character_is_kept(context, splits, serve):
    server = serve(lambda question, earlier, body: Reply(content="答案：A \ud83d\ude00\ud83d"))
    row = run(splits(TEST[:1]), asking(server), context).tables["predictions"].row(0, named=True)
    assert row["raw_output"][:-1] == "答案：A \U0001f600"
    assert row["raw_output"][-1] in "?\ufffd"
    assert row["extracted"] == ["A"]


def test_worked_examples_are_sent_as_turns_before_the_question(context, splits, serve):
    bodies = []
    server = serve(lambda question, earlier, body: bodies.append(body) or Reply(content="A"))
    validation = [make_question(number, "C") for number in range(100, 110)]
    run(splits(TEST[:2], TRAIN, validation), asking(server, shots=3), context)
    first, second = (body["messages"] for body in bodies)
    assert [turn["role"] for turn in first] == ["user", "assistant"] * 3 + ["user"]
    assert first[:6] == second[:6]
    assert {number(turn["content"]) for turn in first[:6:2]} <= set(range(100, 110))
    assert first[1]["content"] == "C"


def test_examples_never_come_from_the_split_that_is_asked(context, splits, serve):
    bodies = []
    server = serve(lambda question, earlier, body: bodies.append(body) or Reply(content="A"))
    validation = [make_question(number, "C") for number in range(100, 104)]
    params = asking(server, shots=3).model_copy(update={"split": "validation"})
    run(splits(TEST, TRAIN, validation), params, context)
    shown = {number(turn["content"]) for body in bodies for turn in body["messages"][:-1] if turn["role"] == "user"}
    assert shown <= set(range(10, 15))


def test_a_limit_takes_the_same_questions_for_every_model(context, splits):
    test = [make_question(number) for number in range(40)]
    result = run(splits(test, TRAIN), EvaluateParams(limit=7), context)
    asked = result.tables["predictions"].group_by("run").agg("question_id")["question_id"].to_list()
    assert len(asked[0]) == 7
    assert asked[0] == asked[1]


def test_a_question_without_a_key_is_rejected_not_scored(context, splits):
    keyless = make_question(9).model_copy(update={"answer": []})
    result = run(splits([*TEST, keyless], TRAIN), EvaluateParams(), context)
    assert result.counts.balanced()
    assert (result.counts.n_input, result.counts.rejected) == (10, 2)
    assert {(row.item_id, row.reason) for row in result.rejects} == {(keyless.question_id, "no_answer_key")}


def test_an_empty_split_is_said_and_is_no_error(context, splits):
    result = run(splits([], TRAIN), EvaluateParams(), context)
    assert result.counts.n_input == 0
    assert "no questions" in result.notes[0]
    assert result.tables["scores"].schema == Score.polars_schema()


def test_scores_of_slices_stand_beside_their_names_in_both_languages(context, splits):
    scores = run(splits(TEST, TRAIN), EvaluateParams(), context).tables["scores"]
    row = scores.filter((pl.col("dimension") == "disease_group") & (pl.col("metric") == "accuracy")).row(0, named=True)
    assert (row["label"], row["label_en"]) == ("循环系统疾病", "Diseases of the circulatory system")
    assert row["questions"] == 1
    dimensions = set(scores["dimension"])
    assert dimensions == {
        "overall",
        "question_type",
        "disease_group",
        "exam_type",
        "exam_class",
        "length",
        "label_status",
    }


def test_results_are_written_as_markdown_that_text_of_papers_cannot_break(context, splits):
    nasty = make_question(1, exam_class="a|b<script>\n[red]x", exam_type="`*_")
    result = run(splits([nasty], TRAIN), EvaluateParams(), context)
    text = result.files["results.md"].decode()
    assert "# Results on the test split" in text
    assert "准确率 Accuracy" in text
    assert "<script>" not in text
    assert "a\\|b&lt;script&gt;" in text
    widths = {line.replace("\\|", "").count("|") for line in text.split("## ")[1].splitlines() if line.startswith("|")}
    assert len(widths) == 1


def test_a_score_of_fewer_questions_than_its_row_says_so(context, splits):
    text = run(splits(TEST, TRAIN), EvaluateParams(), context).files["results.md"].decode()
    rows = [line for line in text.splitlines() if line.startswith("| A1 |")]
    assert len(rows) == 1
    assert rows[0].startswith("| A1 | 3 |")
    assert rows[0].endswith("| 50.0 (n = 1) |")


def test_results_say_how_many_labels_no_expert_settled(context, splits):
    settled = dict.fromkeys(STATUS, "agreed")
    test = [TEST[0].model_copy(update=settled), *TEST[1:]]
    text = run(splits(test, TRAIN), EvaluateParams(), context).files["results.md"].decode()
    assert "3 of 4 questions have such" in text
    partly = [TEST[0].model_copy(update={"difficulty_status": "agreed"}), *TEST[1:]]
    text = run(splits(partly, TRAIN), EvaluateParams(), context).files["results.md"].decode()
    assert "4 of 4 questions have such" in text
    one_expert = [row.model_copy(update=dict.fromkeys(STATUS, "single")) for row in TEST]
    text = run(splits(one_expert, TRAIN), EvaluateParams(), context).files["results.md"].decode()
    assert "4 of 4 questions have such" in text
    everything = [row.model_copy(update=settled) for row in TEST]
    assert "审定" not in run(splits(everything, TRAIN), EvaluateParams(), context).files["results.md"].decode()


def test_results_of_an_empty_split_say_that_nothing_was_asked(context, splits):
    text = run(splits([], TRAIN), EvaluateParams(), context).files["results.md"].decode()
    assert "No question was asked" in text
    assert "Accuracy" not in text


def test_tables_show_every_run(context, splits):
    scores = list(Score.from_frame(run(splits(TEST, TRAIN), EvaluateParams(), context).tables["scores"]))
    shown = "".join(table.markdown() for _, table in tables(Evaluated(scores, more_than={})))
    assert all(name in shown for name in ("随机 random", "考生 human", "循环系统疾病"))
    assert headlines(scores)[1].startswith("majority: accuracy 25.0 [")
    assert markdown(Evaluated([]), "t").startswith("# t")


def test_knobs_do_not_change_what_a_result_hangs_on():
    one = EvaluateParams(models=[OpenAiModel(model="m", timeout=1, concurrency=2, api_key_env="X")])
    other = EvaluateParams(models=[OpenAiModel(model="m")])
    assert one.semantic() == other.semantic()


def test_a_template_of_ones_own_counts_by_what_it_says(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text("one", encoding="utf-8")
    before = EvaluateParams(models=[OpenAiModel(model="m", prompt=str(path))]).semantic()
    path.write_text("two", encoding="utf-8")
    assert EvaluateParams(models=[OpenAiModel(model="m", prompt=str(path))]).semantic() != before


def test_an_unknown_kind_is_refused_and_the_known_ones_are_named():
    with pytest.raises(ValueError, match="'openai', 'transformers', 'random', 'majority'"):
        EvaluateParams.model_validate({"models": [{"kind": "oracle"}]})
    assert isinstance(EvaluateParams.model_validate({"models": [{"kind": "majority"}]}).models[0], MajorityModel)


def test_all_that_stands_in_the_way_is_said_before_anything_is_asked(context, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    keyless = OpenAiModel(model="m", base_url="http://localhost:1/v1", api_key_env="NO_SUCH_KEY", prompt="nope")
    found = problems(EvaluateParams(models=[keyless, OpenAiModel(name="unnamed")]), context.dataset)
    assert any("NO_SUCH_KEY" in line for line in found)
    assert any("no model is named" in line for line in found)
    assert any("'nope'" in line for line in found)
    assert problems(EvaluateParams(), context.dataset) == []


def test_every_table_is_written_beside_the_results(context, splits):
    result = run(splits(TEST, TRAIN), EvaluateParams(), context)
    assert {f"tables/cmexam_table3.{kind}" for kind in ("parquet", "csv", "md", "tex")} <= set(result.files)
    assert "循环系统疾病" in result.files["tables/cmexam_table4.md"].decode()
    assert result.facts["asked"]["random"]["shots"] == 0
