"""Evaluation over the real wire: a real server, a real model, answers read from what it really writes."""

import httpx
import polars as pl
import pytest

from build_dataset.pipeline.evaluate.params import EvaluateParams, OpenAiModel, RandomModel, TransformersModel
from build_dataset.pipeline.evaluate.prompting import load_template, messages
from build_dataset.pipeline.evaluate.stage import run
from build_dataset.schemas.questions import Option
from build_dataset.schemas.release import ReleaseRow
from tests.pipeline.evaluate.conftest import make_question
from tests.services.llm_server import LlmServer

QUESTIONS = {
    "治疗甲状腺功能亢进首选的药物是": ("甲巯咪唑", "左甲状腺素", "泼尼松", "胰岛素"),
    "大叶性肺炎最常见的病原体是": ("肺炎链球菌", "军团菌", "支原体", "白念珠菌"),
    "缺铁性贫血时最先降低的是": ("血清铁蛋白", "总铁结合力", "红细胞数", "血小板数"),
    "成人心肺复苏时胸外按压与通气之比为": ("30:2", "15:1", "5:1", "10:2"),
}


def rows(first: int) -> list[ReleaseRow]:
    found = []
    for number, (stem, texts) in enumerate(QUESTIONS.items(), start=first):
        options = [Option(label=label, text=text) for label, text in zip("ABCD", texts, strict=True)]
        found.append(make_question(number, "A", stem=stem).model_copy(update={"options": options}))
    return found


def frames() -> dict[str, pl.DataFrame]:
    named = {"train": rows(100), "validation": [], "test": rows(1)}
    return {name: ReleaseRow.to_frame(questions) for name, questions in named.items()}


def model(server: LlmServer, **changes) -> OpenAiModel:
    options = {"base_url": server.base_url, "model": server.model, "max_tokens": 8, "timeout": 300, "concurrency": 2}
    return OpenAiModel.model_validate(options | changes)


def test_a_real_model_is_asked_scored_and_never_asked_twice(llm_server: LlmServer, context):
    params = EvaluateParams(models=[model(llm_server), model(llm_server, shots=2), RandomModel()])
    first = run(frames(), params, context)
    assert first.complete, first.review
    assert first.counts.n_input == first.counts.kept == 12
    predictions = first.tables["predictions"]
    asked = predictions.filter(pl.col("run") != "random")
    assert asked["raw_output"].null_count() == 0
    assert set(asked["outcome"]) <= {"answered", "no_answer", "truncated", "refused"}
    assert all(
        row["extracted"] is None or set(row["extracted"]) <= set("ABCD") for row in predictions.iter_rows(named=True)
    )
    runs = [f"openai:{llm_server.model}", f"openai:{llm_server.model} 2-shot", "random"]
    assert predictions["run"].unique(maintain_order=True).to_list() == runs
    assert all(first.facts["models"][name]["completion_tokens"] > 0 for name in runs[:2])

    puts = context.store.puts
    second = run(frames(), params, context)
    assert context.store.puts == puts, "nothing was asked again"
    assert second.tables["predictions"].equals(predictions)
    assert second.tables["scores"].equals(first.tables["scores"])


def test_an_endpoint_that_is_not_there_leaves_its_prompts_waiting(llm_server: LlmServer, context):
    gone = model(llm_server, base_url="http://127.0.0.1:9/v1", max_retries=0, name="gone")
    result = run(frames(), EvaluateParams(models=[gone, RandomModel()]), context)
    assert not result.complete
    assert (result.counts.kept, result.counts.waiting) == (4, 4)
    assert {item.reason for item in result.review} == {"connection"}


def test_the_same_weights_on_this_machine_write_what_the_server_writes(llm_server: LlmServer, context):
    """The model knows no chat, so both continue the same plain text; their arithmetic differs in the last digits."""
    pytest.importorskip("torch", reason="needs the extra 'local'")
    here = TransformersModel(
        model=str(llm_server.gguf.parent), gguf_file=llm_server.gguf.name, max_tokens=8, devices=["cpu"]
    )
    result = run(frames(), EvaluateParams(models=[here]), context)
    assert result.complete, result.review
    written = {row["question_id"]: row["raw_output"] for row in result.tables["predictions"].to_dicts()}
    template = load_template("answer_only")
    alike = []
    for question in rows(1):
        text = "".join(turn["content"] for turn in messages(template, question, [])) + "\n"
        asked = {"prompt": text, "max_tokens": 8, "temperature": 0, "cache_prompt": False}
        reply = httpx.post(f"{llm_server.base_url}/completions", json=asked, timeout=300).json()
        alike.append(reply["choices"][0]["text"].strip()[:2] == written[question.question_id].strip()[:2])
    assert sum(alike) >= 2, written
