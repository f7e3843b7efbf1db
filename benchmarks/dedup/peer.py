"""One other library doing its part of deduplication, in an environment of its own.

    python benchmarks/dedup/peer.py NAME TEXTS.json

TEXTS.json is a list of texts. Prints JSON: wall and processor seconds without imports, and the cluster of each text.
All get character bigrams and 30 bands of 4 hashes, which find what is similar from a Jaccard index of about .5 on.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

BANDS, ROWS = 30, 4
HASHES = BANDS * ROWS


def bigrams(text: str) -> list[str]:
    return [text[place : place + 2] for place in range(max(1, len(text) - 1))]


class Clusters:
    """Union of what shares a bucket."""

    def __init__(self, size: int) -> None:
        self.parent = list(range(size))

    def find(self, one: int) -> int:
        """The text that stands for the cluster of ``one``."""
        while self.parent[one] != one:
            self.parent[one] = one = self.parent[self.parent[one]]
        return one

    def union(self, one: int, others: Iterable[int]) -> None:
        """Join the clusters of ``one`` and all ``others``."""
        for other in others:
            low, high = sorted((self.find(one), self.find(other)))
            self.parent[high] = low

    def all(self) -> list[int]:
        """Each text's cluster."""
        return [self.find(one) for one in range(len(self.parent))]


def datasketch() -> Callable[[Sequence[str]], list[int]]:
    from datasketch import MinHash, MinHashLSH

    def run(texts: Sequence[str]) -> list[int]:
        lsh = MinHashLSH(num_perm=HASHES, params=(BANDS, ROWS))
        clusters = Clusters(len(texts))
        tokens = ([gram.encode() for gram in bigrams(text)] for text in texts)
        for place, signature in enumerate(MinHash.generator(tokens, num_perm=HASHES, seed=1)):
            clusters.union(place, lsh.query(signature))
            lsh.insert(place, signature, check_duplication=False)
        return clusters.all()

    return run


def rensa() -> Callable[[Sequence[str]], list[int]]:
    from rensa import RMinHash, RMinHashLSH

    def run(texts: Sequence[str]) -> list[int]:
        signatures = RMinHash.from_token_sets([bigrams(text) for text in texts], HASHES, 1)
        lsh = RMinHashLSH(0.5, HASHES, BANDS)
        lsh.insert_many(signatures)
        clusters = Clusters(len(texts))
        for place, found in enumerate(lsh.query_all(signatures)):
            clusters.union(place, found)
        return clusters.all()

    return run


def semhash() -> Callable[[Sequence[str]], list[int]]:
    """With an encoder of character bigrams, hashed: its own needs a model from the network."""
    from semhash import SemHash
    from sklearn.feature_extraction.text import HashingVectorizer

    class Encoder:
        def encode(self, inputs: Any, **_: Any) -> Any:
            grams = HashingVectorizer(analyzer="char", ngram_range=(2, 2), n_features=256, dtype="float32")
            return grams.fit_transform(list(inputs)).toarray()

    def run(texts: Sequence[str]) -> list[int]:
        result = SemHash.from_records(list(texts), model=Encoder()).self_deduplicate(threshold=0.8)
        places: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            places.setdefault(text, []).append(place)
        clusters = Clusters(len(texts))
        for own in places.values():
            clusters.union(own[0], own[1:])
        for record in result.filtered:
            clusters.union(places[record.record][0], [places[other][0] for other, _ in record.duplicates])
        return clusters.all()

    return run


def text_dedup() -> Callable[[Sequence[str]], list[int]]:
    """Its own signatures, tables and union, without the loading and saving around them.

    Characters are set apart by spaces: it splits at what is no letter, and takes a Chinese sentence for one word.
    """
    import numpy
    from text_dedup.minhash import RNG, SIGNATURE_COLUMN, embed_func
    from text_dedup.utils import UnionFind, xxh3_32hash

    prime = numpy.uint32((1 << 32) - 5)
    options = {
        "num_perm": HASHES,
        "ngram_size": 2,
        "min_length": 0,
        "hashranges": [(start, start + ROWS) for start in range(0, HASHES, ROWS)],
        "permutations": tuple(RNG.randint(low, prime, size=(HASHES,), dtype=numpy.uint32) for low in (1, 0)),
        "hash_func": xxh3_32hash,
        "dtype": numpy.uint32,
        "max_hash": numpy.uint32((1 << 32) - 1),
        "modulo_prime": prime,
    }

    def run(texts: Sequence[str]) -> list[int]:
        tables: list[dict[bytes, set[int]]] = [{} for _ in range(BANDS)]
        for place, text in enumerate(texts):
            for table, band in zip(tables, embed_func(" ".join(text), place, **options)[SIGNATURE_COLUMN], strict=True):
                table.setdefault(band, set()).add(place)
        union = UnionFind()
        for table in tables:
            for cluster in table.values():
                if len(cluster) > 1:
                    least = min(cluster)
                    for place in cluster:
                        union.union(place, least)
        return [union.find(place) for place in range(len(texts))]

    return run


PEERS = {"datasketch": datasketch, "rensa": rensa, "semhash": semhash, "text-dedup": text_dedup}


def main() -> None:
    name, path = sys.argv[1:]
    texts = json.loads(Path(path).read_text(encoding="utf-8"))
    run = PEERS[name]()
    before, used = time.perf_counter(), time.process_time()
    found = run(texts)
    seconds, processor = time.perf_counter() - before, time.process_time() - used
    print(json.dumps({"seconds": seconds, "processor": processor, "clusters": [int(one) for one in found]}))


if __name__ == "__main__":
    main()
