"""Teach the network that ships with the package to fill in characters that are left out, on a GPU.

    python -m benchmarks.ocr.context CORPORA pipeline/ocr/language/context.npz --minutes 4.1

CORPORA has a folder for each of ``SHARES`` with texts of ``language.py`` (NOTICE names them and their licences) in
UTF-8, a paragraph a line. One line in ``HELD_OUT`` is left out, as there. Traditional characters are simplified ones,
digits, letters and marks one character each, and marks in a row one mark. Windows of 32 are taken by lot; 15 of 100
characters are left out, 2 replaced by others, as misread ones are, and 2 marks added, as where a line ends. The table
has the weights as whole numbers of one byte, with a scale for each row: no text can be made of it again.

Needs PyTorch (``pip install build-dataset[local]``). The shipped one saw 2.1 thousand million characters of 50 million
(16,108 steps) in 248 seconds on one H200. The hundredth part of each text, which it had not seen, was told with 1.2
nats a character (medicine), .9 (law), 1.3 (software), 1.7 (old medical books) and 1.9 (the others).
"""

import argparse
import math
import time
from hashlib import blake2b
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.ocr.language import HELD_OUT
from build_dataset.pipeline.ocr.language.context import Network
from build_dataset.pipeline.ocr.language.counts import BREAK, CIRCLED, DIGIT, LETTER, codes_of

SHARES = {"medicine": 0.38, "old_medicine": 0.13, "law": 0.13, "talk": 0.08, "software": 0.13, "general": 0.15}
SEEN, WIDTH, HEADS, INNER, LAYERS = 32, 256, 4, 704, 4
MASK, UNKNOWN, MARK = 1, 2, 3  # Numbers of what is left out, of what is too rare, and of a mark
OTHERS = [BREAK, DIGIT, LETTER, CIRCLED]
LEFT_OUT, MISREAD, BROKEN = 0.15, 0.02, 0.02
LEAST, BATCH, RATE, WARM, EPSILON = 20, 4096, 2e-3, 400, 1e-5


class Layer(nn.Module):
    """Attention and what follows, each on vectors of one length."""

    def __init__(self) -> None:
        super().__init__()
        self.gains = nn.ParameterList(nn.Parameter(torch.ones(WIDTH)) for _ in range(2))
        self.attention, self.joined = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.wide, self.narrow = nn.Linear(WIDTH, INNER, bias=False), nn.Linear(INNER, WIDTH, bias=False)
        for one in (self.joined, self.narrow):
            one.weight.data /= math.sqrt(2 * LAYERS)

    def forward(self, state: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Return the state of each place with what it takes from the others."""
        rows, seen, _ = state.shape
        parts = self.attention(functional.rms_norm(state, (WIDTH,), self.gains[0], EPSILON))
        asked, given, taken = parts.view(rows, seen, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        asked, given = (turned(one, cos, sin).to(taken.dtype) for one in (asked, given))
        found = functional.scaled_dot_product_attention(asked, given, taken).transpose(1, 2).reshape(rows, seen, WIDTH)
        state = state + self.joined(found)
        return state + self.narrow(
            functional.relu(self.wide(functional.rms_norm(state, (WIDTH,), self.gains[1], EPSILON))).square()
        )


def turned(values: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = values.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


class Reader(nn.Module):
    """The network while it learns; ``Network`` reads what ``stored`` writes."""

    def __init__(self, known: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(known, WIDTH)
        self.characters.weight.data *= 0.05
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.gain, self.bias = nn.Parameter(torch.ones(WIDTH)), nn.Parameter(torch.zeros(known))
        self.last = nn.Linear(WIDTH, WIDTH, bias=False)
        half = WIDTH // HEADS // 2
        angles = torch.arange(SEEN)[:, None] * 1000.0 ** (-torch.arange(half) / half)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, windows: Tensor, places: Tensor, right: Tensor) -> Tensor:
        """Return the mean loss of what was left out, in nats."""
        state = functional.rms_norm(self.characters(windows), (WIDTH,))
        for layer in self.layers:
            state = layer(state, self.cos, self.sin)
        told = self.last(functional.rms_norm(state, (WIDTH,), self.gain, EPSILON)).reshape(-1, WIDTH)[places]
        return functional.cross_entropy((told @ self.characters.weight.to(told.dtype).T).float() + self.bias, right)

    def stored(self, codes: np.ndarray, learned: np.ndarray) -> dict[str, np.ndarray]:
        """Return the table: gains are part of the weights that they stand before."""
        weights = {"characters": self.characters.weight, "last": self.last.weight * self.gain}
        for at, layer in enumerate(self.layers):
            weights |= {f"attention{at}": layer.attention.weight * layer.gains[0], f"joined{at}": layer.joined.weight}
            weights |= {f"wide{at}": layer.wide.weight * layer.gains[1], f"narrow{at}": layer.narrow.weight}
        table = {"bias": self.bias.detach().cpu().numpy().astype(np.float16), "codes": codes, "learned": learned}
        for name, weight in weights.items():
            values = weight.detach().float().cpu().numpy()
            scale = np.maximum(np.abs(values).max(axis=1, keepdims=True) / 127, 1e-8).astype(np.float16)
            table[name] = np.clip(np.round(values / scale.astype(np.float32)), -127, 127).astype(np.int8)
            table[f"{name}_scale"] = scale
        return table | {"layers": np.array(LAYERS), "heads": np.array(HEADS)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--minutes", type=float, default=4.1)
    parser.add_argument("--batch", type=int, default=BATCH, help="windows of a step")
    options = parser.parse_args()
    texts = {kind: codes_of("\n".join(map(_text, sorted((options.corpora / kind).glob("*.txt"))))) for kind in SHARES}
    known, times = np.unique(np.concatenate([*texts.values()]), return_counts=True)
    usual = [code for code, often in zip(known.tolist(), times.tolist(), strict=True) if often >= LEAST]
    codes = np.array([0, MASK, UNKNOWN, *OTHERS, *sorted({*usual} - {*OTHERS})], np.uint32)
    numbers = np.full(0x40000, UNKNOWN, np.int16)
    numbers[codes[MARK:]] = np.arange(MARK, len(codes))
    parts = {kind: _without_rows_of_marks(numbers[text]) for kind, text in texts.items()}
    learned = np.bincount(np.concatenate([*parts.values()]), minlength=len(codes)).clip(max=65535).astype(np.uint16)
    learned[:MARK] = 0
    reader = _taught(parts, len(codes), options)
    np.savez_compressed(options.table, **reader.stored(codes, learned))
    with options.table.open("rb") as file:
        network = Network(dict(np.load(file)))
    print([logs.round(1).tolist() for logs in network.logs(["告知其糞便潛血檢查"], [(0, 3, "糞冀")])])


def _text(path: Path) -> str:
    lines = dict.fromkeys(path.read_text(encoding="utf-8").split("\n"))
    return "\n".join(line for line in lines if blake2b(line.encode(), digest_size=8).digest()[0] % HELD_OUT)


def _without_rows_of_marks(numbers: np.ndarray) -> np.ndarray:
    return numbers[np.append(True, (numbers[1:] != numbers[:-1]) | (numbers[1:] >= MARK + len(OTHERS)))]


def _taught(parts: dict[str, np.ndarray], known: int, options: argparse.Namespace) -> Reader:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    reader = Reader(known).to(device)
    step = torch.compile(reader) if device == "cuda" else reader
    flat = [one for one in reader.parameters() if one.dim() < 2]
    groups = [{"params": [one for one in reader.parameters() if one.dim() > 1], "weight_decay": 0.03},
              {"params": flat, "weight_decay": 0.0}]  # fmt: skip
    learner = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98))
    ends = np.cumsum([len(part) for part in parts.values()])
    text = torch.from_numpy(np.concatenate([*parts.values()])).to(device)
    starts = torch.tensor([0, *ends[:-1]], device=device)
    room = torch.tensor([len(part) - len(part) // 100 - SEEN - 1 for part in parts.values()], device=device)
    shares = torch.tensor([SHARES[kind] for kind in parts], device=device)
    start, steps = time.monotonic(), 0
    while (gone := (time.monotonic() - start) / (60 * options.minutes)) < 1:
        rate = RATE * min(1, (steps + 1) / WARM) * (0.02 + 0.49 * (1 + math.cos(math.pi * gone)))
        for group in learner.param_groups:
            group["lr"] = rate
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            loss = step(*_batch(text, starts, room, shares, options.batch))
        learner.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        learner.step()
        steps += 1
        if steps % 500 == 0:
            print(steps, f"{loss.item():.3f} nats a character that was left out", flush=True)
    return reader


def _batch(text: Tensor, starts: Tensor, room: Tensor, shares: Tensor, rows: int) -> tuple[Tensor, Tensor, Tensor]:
    """Windows with characters left out, the places of these, and what stood there; marks are left out seldom."""
    device = text.device
    kind = torch.multinomial(shares, rows, replacement=True)
    first = starts[kind] + (torch.rand(rows, device=device) * room[kind]).long()
    broken = torch.rand(rows, SEEN, device=device) < BROKEN
    at = first[:, None] + (torch.arange(SEEN, device=device) - broken.long().cumsum(1)).clamp(min=0)
    windows = torch.where(broken, MARK, text[at].long())
    lot = torch.rand(rows, SEEN, device=device) + 0.8 * (windows < MARK + len(OTHERS))
    places = lot.view(-1).topk(int(rows * SEEN * LEFT_OUT), largest=False).indices
    right = windows.view(-1)[places]
    others = text[torch.randint(0, len(text), (rows, SEEN), device=device)].long()
    windows = torch.where(torch.rand(rows, SEEN, device=device) < MISREAD, others, windows)
    windows.view(-1)[places] = MASK
    return windows, places, right


if __name__ == "__main__":
    main()
