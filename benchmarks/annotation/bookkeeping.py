"""The cost of 70,000 questions beside the requests: prompts, keys, the store, reading labels, in CPU time a question.

``python -m benchmarks.annotation.bookkeeping [--questions 70000]``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.annotation.questions import questions
from benchmarks.annotation.server import CONTENT
from build_dataset.annotation.llm_annotator import LlmAnnotator, label_prompt, requests_for
from build_dataset.annotation.params import AnnotateLlmOptions
from build_dataset.pipeline.runtime.store import ItemStore

VALUE = {"text": CONTENT, "finish_reason": "stop", "prompt_tokens": 1500, "completion_tokens": 36}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=70_000)
    asked = questions(parser.parse_args().questions)
    options = AnnotateLlmOptions(base_url="http://127.0.0.1:1/v1", model="m")
    with tempfile.TemporaryDirectory() as folder:
        store = ItemStore(Path(folder) / "s.sqlite")
        clock = time.process_time()
        keys = [request.key(options) for request in requests_for(asked, options, label_prompt(options))]
        keyed = time.process_time()
        for key in keys:
            store.put(key, VALUE)
        put = time.process_time()
        found = sum(1 for _ in LlmAnnotator(options, store).annotate(asked, lambda _: None))
        read = time.process_time()
    assert found == len(asked)
    for name, seconds in (
        ("prompts and keys", keyed - clock),
        ("storing answers, one commit each", put - keyed),
        ("a run with every answer stored", read - put),
    ):
        print(f"{name:36}{1000 * seconds / len(asked):8.3f} ms a question")
    # A first run makes prompts and keys once, stores, and reads labels: the third includes the first.
    print(f"{'together':36}{1000 * (read - keyed) / len(asked):8.3f} ms a question")


if __name__ == "__main__":
    main()
