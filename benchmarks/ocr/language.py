"""Make the table of character counts that ships with the package, from openly licensed Chinese text.

    python -m benchmarks.ocr.language CORPORA pipeline/ocr/engines/models/language.npz

CORPORA is a folder with the files of ``SOURCES``, one text each, UTF-8; NOTICE names their licences. Each gives at most
``MOST`` characters of different lines. Counted are characters, pairs and three in turn, traditional characters as
simplified ones, digits, letters and marks as one character each. Kept are those that tell most: the count times how
much likelier the third character is than the last two say. The table has a 32-bit key and a count, in eighths
of a doubling, for each: no text can be made of it again.
"""

import argparse
from hashlib import blake2b
from pathlib import Path

import numpy as np

from build_dataset.pipeline.ocr.language.counts import BREAK, STEPS_A_DOUBLING, codes_of, keys_of

MOST = 9_000_000
CHUNK = 8_000_000
BITS = 15  # Of the number of a character
MASK = 2**BITS - 1
PAIRS, TRIPLES = 900_000, 2_900_000
HELD_OUT = 40  # One line in so many is left out: benchmarks print these


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("table", type=Path)
    options = parser.parse_args()
    texts = (_text(path) for path in sorted(options.corpora.glob("*.txt")))
    known, codes = np.unique(np.concatenate([codes_of(f"\n{text}") for text in texts]), return_inverse=True)
    print(f"{len(codes):,} characters, {len(known):,} different ones")
    single = np.bincount(codes).astype(np.float64)
    pairs, of_pairs = _counted(codes, 2)
    chance = single[pairs >> BITS] * single[pairs & MASK] / len(codes)
    chosen = _best(of_pairs * np.abs(np.log(of_pairs / chance)), PAIRS)
    pairs, of_pairs = pairs[chosen], of_pairs[chosen]
    triples, of_triples = _counted(codes, 3)
    print(f"{len(triples):,} of three")
    before, after = triples >> BITS, triples & (MASK << BITS | MASK)
    expected = _found(pairs, of_pairs, before) * _found(pairs, of_pairs, after) / single[(triples >> BITS) & MASK]
    usable = (of_triples > 1) & (known[(triples >> BITS) & MASK] != BREAK)
    gain = of_triples * np.abs(np.log(of_triples / np.maximum(expected, 1e-3)))
    chosen = _best(np.where(usable, gain, 0), TRIPLES)
    triples, of_triples = triples[chosen], of_triples[chosen]
    none = np.zeros(1, np.int64)
    keys = [
        keys_of(none, none, none),
        keys_of(none.repeat(len(known)), none.repeat(len(known)), known),
        keys_of(none.repeat(len(pairs)), known[pairs >> BITS], known[pairs & MASK]),
        keys_of(known[triples >> 2 * BITS], known[(triples >> BITS) & MASK], known[triples & MASK]),
    ]
    _write(options.table, np.concatenate(keys), np.concatenate([[len(codes)], single, of_pairs, of_triples]))
    print(f"{len(pairs):,} pairs from {of_pairs.min()}, {len(triples):,} of three from {of_triples.min()}")
    print(f"{options.table.stat().st_size / 2**20:.2f} MiB")


def _write(path: Path, keys: np.ndarray, counts: np.ndarray) -> None:
    """Write steps from key to key, high and low byte apart, which compresses better, and the counts' logarithms."""
    keys, first = np.unique(keys, return_index=True)
    steps = np.diff(keys, prepend=np.uint32(0))
    assert steps.max() < 2**16, "too few keys for steps of two bytes"
    logs = np.round(STEPS_A_DOUBLING * np.log2(counts[first])).astype(np.uint8)
    np.savez_compressed(path, high=(steps >> 8).astype(np.uint8), low=(steps & 255).astype(np.uint8), counts=logs)


def _best(gain: np.ndarray, most: int) -> np.ndarray:
    """Return the places of the highest gains above 0, in order."""
    chosen = np.argpartition(gain, -most)[-most:] if len(gain) > most else np.arange(len(gain))
    return np.sort(chosen[gain[chosen] > 0])


def _found(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], 0.0)


def _counted(codes: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each ``length`` codes in turn, as one number, and how often they occur."""
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for start in range(0, len(codes), CHUNK):
        part = codes[start : start + CHUNK + length - 1].astype(np.int64)
        keys = part[: len(part) - length + 1]
        for at in range(1, length):
            keys = keys << BITS | part[at : len(part) - length + 1 + at]
        found.append(np.unique(keys, return_counts=True))
        if len(found) == 4:
            found = [_merged(found)]
    return _merged(found)


def _merged(found: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    keys, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return keys[order][starts], np.add.reduceat(counts[order], starts)


def _text(path: Path) -> str:
    """Return lines of a file, none twice, up to ``MOST`` characters spread over all of it."""
    seen: set[bytes] = set()
    lines = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        key = blake2b(line.encode(), digest_size=8).digest()
        if line and key not in seen and key[0] % HELD_OUT:
            seen.add(key)
            lines.append((key, line))
    total = sum(len(line) for _, line in lines)
    print(f"{path.name}: {total:,}", flush=True)
    share = min(1.0, MOST / max(1, total)) * 2**16
    return "\n".join(line for key, line in lines if int.from_bytes(key[2:4], "big") < share)


if __name__ == "__main__":
    main()
