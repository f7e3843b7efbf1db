"""Vectors of texts by an embedding model behind any endpoint of OpenAI's form, a local server's too."""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from build_dataset.annotation.llm.messages import AnswerStore
from build_dataset.annotation.llm.options import Endpoint, openai_client
from build_dataset.schemas.errors import UserError, bad_certificate
from build_dataset.schemas.identity import sha256

_BATCH = 64  # texts of one request
_CHARACTERS = 2000  # of a text that are embedded: models cut longer ones, each in its own way

Vectors = NDArray[np.float32]  # one row a text


def embed(texts: Sequence[str], endpoint: Endpoint, store: AnswerStore, option: str) -> Vectors:
    """Return a vector of length 1 for each text; those that were asked for before come from the store.

    Raises ``UserError`` where the endpoint that ``option`` names does not answer with a vector for each text.
    """
    cut = [text[:_CHARACTERS] for text in texts]
    keys = [sha256("embedding", endpoint.model or "", text) for text in cut]
    vectors = store.get_many(keys)
    missing = [*{key: text for key, text in zip(keys, cut, strict=True) if key not in vectors}.items()]
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        made = _ask([text or " " for _, text in batch], endpoint, option)
        for (key, _), vector in zip(batch, made, strict=True):
            vectors[key] = b64encode(np.asarray(vector, "<f2").tobytes()).decode()
            store.put(key, vectors[key])
    matrix = np.stack([np.frombuffer(b64decode(vectors[key]), "<f2") for key in keys]).astype(np.float32)
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
    return matrix


def _ask(texts: list[str], endpoint: Endpoint, option: str) -> list[list[float]]:
    import openai

    client = openai_client(endpoint).with_options(max_retries=3)
    body: dict[str, Any] = {"model": endpoint.model or "default", "input": texts}
    try:
        rows = client.embeddings.create(**body, encoding_format="float").data
        vectors = {row.index: row.embedding for row in rows}
        return [vectors[place] for place in range(len(texts))]
    except (openai.OpenAIError, LookupError, ValueError, AttributeError, TypeError) as error:
        if (untrusted := bad_certificate(error, endpoint.base_url)) is not None:
            raise UserError(untrusted) from None
        problem = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise UserError(
            f"{option} = {endpoint.base_url}: no embeddings came ({problem}): start the server, or put the address, the"
            " model or the key right"
        ) from None
    finally:
        client.close()
