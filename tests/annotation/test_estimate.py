import re
from datetime import UTC, date, datetime

import pytest

from build_dataset.annotation.llm.options import LlmOptions, price_lists
from build_dataset.annotation.llm_annotator import about_tokens, estimate, label_prompt, requests_for
from build_dataset.annotation.params import AnnotateLlmOptions, AnnotateParams
from tests.annotation.records import question
from tests.conftest import MemoryStore


def test_known_models_have_a_dated_list_price_with_its_source_at_the_vendor_s_own_address_alone():
    priced, told = LlmOptions(model="gpt-4o").with_list_prices()
    assert (priced.price_in, priced.price_out, priced.currency) == (2.5, 10.0, "USD")
    assert "list prices of 2026-" in told
    assert "https://" in told
    proxy = LlmOptions(model="gpt-4o", base_url="http://127.0.0.1:8000/v1")
    assert proxy.with_list_prices() == (proxy, None)
    unknown = LlmOptions(model="my-model")
    assert unknown.with_list_prices() == (unknown, None)


def test_every_list_price_is_dated_sourced_and_found():
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    for prices in price_lists():
        assert date.fromisoformat(prices["date"]).isoformat() <= today
        assert prices["source"].startswith("https://")
        for model, (price_in, price_out) in prices["models"].items():
            priced, _ = LlmOptions(model=model, base_url=prices["address"]).with_list_prices()
            assert 0 < (priced.price_in or 0) <= price_in < price_out


LLM = {"model": "m", "base_url": "http://127.0.0.1:1/v1", "price_in": 2, "price_out": 8, "currency": "EUR"}
NUMBERS = re.compile(r"about ([\d,]+) tokens in and ([\d,]+) out: ([\d.]+) EUR")


def told(params: AnnotateParams, count: int = 3, store: MemoryStore | None = None) -> tuple[str, list[float]]:
    """The line of an estimate, and its tokens in, tokens out and cost."""
    asked = [question(f"q{n}", stem=f"题{n}", content_hash=f"h{n}") for n in range(count)]
    line = estimate(asked, params, store or MemoryStore())
    return line, [float(number.replace(",", "")) for number in NUMBERS.search(line).groups()]


def test_an_estimate_counts_messages_forms_and_answers_and_what_is_stored_is_free():
    params, store = AnnotateParams(llm=AnnotateLlmOptions(**LLM)), MemoryStore()
    line, (tokens_in, tokens_out, cost) = told(params)
    assert line.startswith("3 requests to make, about ")
    assert cost == pytest.approx((2 * tokens_in + 8 * tokens_out) / 1e6, abs=1e-4)
    first = requests_for([question("q0", stem="题0", content_hash="h0")], params.llm, label_prompt(params.llm))
    store.put(first[0].key(params.llm), {})
    line, left = told(params, store=store)
    assert line.startswith("2 requests to make (1 answered before), about ")
    assert left[:2] == [tokens_in * 2 / 3, tokens_out * 2 / 3]


def test_a_batch_costs_its_share_and_a_form_that_is_not_sent_nothing():
    plain = AnnotateLlmOptions(**LLM)
    [_, _, cost] = told(AnnotateParams(llm=plain), 30)[1]
    assert told(AnnotateParams(llm=plain, batch=True), 30)[1][2] == pytest.approx(cost / 2, rel=1e-3)
    bare = AnnotateParams(llm=plain.model_copy(update={"response_format": "none"}))
    assert told(bare)[1][0] < told(AnnotateParams(llm=plain))[1][0]


@pytest.mark.parametrize("params", [AnnotateParams(), AnnotateParams(annotator="lexicon")])
def test_who_asks_nobody_costs_nothing(params):
    assert estimate([question()] * 3, params, MemoryStore()) == "3 questions by lexicon: no requests, no cost"


TEXTS = {
    "Chinese": "患者，女，56岁。反复上腹部疼痛3年，加重伴黑便2天。查体：贫血貌，剑突下压痛，Hb 82g/L。首选的检查是"
    "\nA. 腹部B超\nB. 上消化道钡餐\nC. 胃镜\nD. 腹部CT\n答案：C\n解析：消化道出血首选胃镜检查，可明确部位和原因。",
    "English": "A 56-year-old woman has had recurrent epigastric pain for three years and melena for two days. "
    "Which is the most appropriate next step?\nA. Abdominal ultrasonography\nB. Barium swallow\nAnswer: C",
    "instructions": label_prompt(AnnotateLlmOptions(model="m")).system,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_tokens_are_told_within_a_fifth(text):
    bpe = pytest.importorskip("bpe_openai")
    exact = len(bpe.get_encoding("o200k_base").encode_ordinary(text))
    assert about_tokens(text) == pytest.approx(exact, rel=0.2)
