"""The cost of our client beside a plain loop over the openai SDK, against a server of 200 ms latency.

``python -m benchmarks.annotation.overhead [--questions 3000] [--at-once 64]`` prints, for each way of asking: requests
a second, their share of what 64 requests of 200 ms allow, and CPU time a request.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.annotation.questions import questions
from benchmarks.annotation.server import running
from build_dataset.annotation.llm_annotator import LlmAnnotator, label_prompt, requests_for
from build_dataset.annotation.params import AnnotateLlmOptions
from build_dataset.pipeline.runtime.store import ItemStore

LATENCY = 0.2


def ours(url: str, asked: list, at_once: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = ItemStore(Path(folder) / "s.sqlite")
        options = AnnotateLlmOptions(base_url=url, model="m", concurrency=at_once)
        labelled = sum(1 for _ in LlmAnnotator(options, store).annotate(asked, lambda _: None))
        assert labelled == len(asked)


def plain(url: str, asked: list, at_once: int) -> None:
    """The loop that everybody writes: a semaphore and gather; keeps nothing, checks nothing."""
    from openai import AsyncOpenAI

    options = AnnotateLlmOptions(base_url=url, model="m")
    bodies = [request.body(options) for request in requests_for(asked, options, label_prompt(options))]

    async def run() -> None:
        gate = asyncio.Semaphore(at_once)
        async with AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as sdk:

            async def one(body: dict) -> str:
                async with gate:
                    completion = await sdk.chat.completions.create(**body)
                    return completion.choices[0].message.content

            await asyncio.gather(*map(one, bodies))

    asyncio.run(run())


def measure(way: Callable, url: str, asked: list, at_once: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    way(url, asked, at_once)
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=3000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--port", type=int, default=18453)
    given = parser.parse_args()
    asked = questions(given.questions)
    limit = given.at_once / LATENCY
    with running(given.port, LATENCY) as url:
        for way in (plain, ours):
            way(url, asked[:200], given.at_once)  # imports, first connections
        print(f"{'':8}{'requests/s':>12}{'of limit':>10}{'CPU ms':>8}")
        for name, way in (("plain", plain), ("ours", ours), ("plain", plain), ("ours", ours)):
            wall, cpu = measure(way, url, asked, given.at_once)
            rate = len(asked) / wall
            print(f"{name:8}{rate:12.1f}{rate / limit:10.3f}{1000 * cpu / len(asked):8.2f}")


if __name__ == "__main__":
    main()
