"""Paraphrases and translations are found by an embeddings endpoint, each text asked for once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from build_dataset.schemas.errors import UserError

TOPICS = (("胃", "stomach", "gastric"), ("肝", "liver", "hepatic"), ("肾", "kidney", "renal"))


class Endpoint(BaseHTTPRequestHandler):
    """Embeds a text by the organs that it names, in whatever language."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        self.asked += texts
        vectors = [[0.01 + any(word in text for word in words) for words in TOPICS] for text in texts]
        data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
        body = json.dumps({"object": "list", "model": "m", "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


EXAM = {"a": ("test", "胃溃疡的好发部位是"), "b": ("train", "肝癌的标志物是"), "c": ("test", "肾结石首选的检查是")}


def test_a_translation_is_listed_and_no_text_is_asked_for_twice(leaks, tmp_path, endpoint):
    records = ("The gastric ulcer is most often found in", "The pancreas", "Liver cancer is marked by")
    (tmp_path / "b.jsonl").write_text("\n".join(json.dumps({"question": text}) for text in records))
    for _ in range(2):
        found = leaks(EXAM, benchmarks=tmp_path, embeddings=endpoint, embedding_model="m")
    (row,) = found.tables["leaks"].rows(named=True)  # the other one is train
    assert (row["question_id"], row["kind"], row["line"], row["span"]) == ("a", "paraphrase", 1, records[0])
    assert len(Endpoint.asked) == len(set(Endpoint.asked)) == 5
    assert "may have in other words" in " ".join(found.notes)


def test_an_endpoint_that_does_not_answer_is_told_in_a_line(leaks, tmp_path):
    (tmp_path / "b.jsonl").write_text('{"question": "x"}')
    with pytest.raises(UserError, match=r"leaks\.embeddings = .*start the server"):
        leaks(EXAM, benchmarks=tmp_path, embeddings="http://127.0.0.1:9/v1")
