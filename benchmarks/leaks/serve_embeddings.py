"""An endpoint of OpenAI's form for a sentence-embedding model in a folder, for trying `[leaks] embeddings`.

    python benchmarks/leaks/serve_embeddings.py FOLDER --port 8765

FOLDER holds the model and its tokenizer as transformers reads them; texts are the mean of their tokens' vectors.
For more than a trial run a real server: llama.cpp, Ollama, vLLM, text-embeddings-inference.
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, AutoTokenizer


class Endpoint(BaseHTTPRequestHandler):
    """Answers every POST with a vector for each text of ``input``."""

    model: Any
    tokenizer: Any

    def do_POST(self) -> None:
        """Answer with a vector for each text."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        read = self.tokenizer(texts, padding=True, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            states = self.model(**read).last_hidden_state
        mask = read["attention_mask"].unsqueeze(-1).float()
        vectors = ((states * mask).sum(1) / mask.sum(1)).tolist()
        rows = [{"object": "embedding", "index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        answer = {"object": "list", "model": asked.get("model", ""), "data": rows, "usage": usage}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Print nothing."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8765)
    options = parser.parse_args()
    Endpoint.tokenizer = AutoTokenizer.from_pretrained(options.folder, local_files_only=True)
    Endpoint.model = AutoModel.from_pretrained(options.folder, local_files_only=True).eval()
    HTTPServer(("127.0.0.1", options.port), Endpoint).serve_forever()


if __name__ == "__main__":
    main()
