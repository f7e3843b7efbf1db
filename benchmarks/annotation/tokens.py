"""Tokens a question of the request for all dimensions, and how far the estimate's counts are off.

``python -m benchmarks.annotation.tokens [LABELLED.jsonl]`` counts prompts, schemas and answers by tiktoken's
o200k_base, on labelled questions (CMExam's columns or ours) or on made-up ones. tiktoken downloads its encodings;
here they come out of the package ``bpe-openai``, through tiktoken's own cache, which checks their hash.
"""

from __future__ import annotations

import gzip
import hashlib
import inspect
import json
import os
import re
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from benchmarks.annotation.questions import questions
from build_dataset.annotation.llm_annotator import about_tokens, example, label_prompt, requests_for
from build_dataset.annotation.params import AnnotateLlmOptions
from build_dataset.pipeline.inspect.bank import read_labelled
from build_dataset.schemas.questions import Question


def encoding(folder: str):
    import tiktoken_ext.openai_public as public

    url = re.search(r"https://\S+/o200k_base\.tiktoken", inspect.getsource(public))[0]
    ranks = gzip.decompress((files("bpe_openai") / "data" / "o200k_base.tiktoken.gz").read_bytes())
    (Path(folder) / hashlib.sha1(url.encode()).hexdigest()).write_bytes(ranks)
    os.environ["TIKTOKEN_CACHE_DIR"] = folder
    import tiktoken

    return tiktoken.get_encoding("o200k_base")


def measure(asked: list[Question], count) -> dict[str, float]:
    options = AnnotateLlmOptions(model="m")
    shown = label_prompt(options)
    found = {"prompt": 0, "schema": 0, "answer": 0}
    for request in requests_for(asked, options, shown):
        found["prompt"] += sum(count(message["content"]) + 4 for message in request.messages)
        found["schema"] += count(json.dumps(request.response_format, ensure_ascii=False, separators=(",", ":")))
        found["answer"] += count(example("10"))
    return {name: tokens / len(asked) for name, tokens in found.items()}


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    asked = [item.question for item in read_labelled(path)] if path else questions(500)
    bare = [question.model_copy(update={"explanation": None}) for question in asked]
    with tempfile.TemporaryDirectory() as folder:
        tiktoken = encoding(folder)

        def count(text: str) -> int:
            return len(tiktoken.encode_ordinary(text))

        options = AnnotateLlmOptions(model="m")
        texts = [request.messages[-1] for request in requests_for(asked, options, label_prompt(options))]
        system = [label_prompt(options).system]
        for what, some in (("questions", [text["content"] for text in texts]), ("instructions", system)):
            exact, about = (sum(map(way, some)) for way in (count, about_tokens))
            print(f"the estimate, {what}: {about / exact - 1:+.1%} of {exact:,} tokens")
        print(f"{'':30}{'prompt':>9}{'schema':>9}{'answer':>9}{'all':>9}")
        for title, given in (("as they are", asked), ("without explanations", bare)):
            row = measure(given, count)
            print(f"{title:30}" + "".join(f"{value:9.0f}" for value in (*row.values(), sum(row.values()))))


if __name__ == "__main__":
    main()
