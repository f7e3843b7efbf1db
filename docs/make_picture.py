"""Draw docs/img/stages.svg, the way of the data, from the catalogue; and docs/img/layers.svg, the parts of the code."""

from __future__ import annotations

from pathlib import Path

from build_dataset.pipeline.catalogue import STAGES

IMAGES = Path(__file__).parent / "img"
HEIGHT, STEP, LEFT, TOP = 400, 104, 150, 128
BOX_W, BOX_H = 90, 64
WIDTH = LEFT + len(STAGES) * STEP + 6
SAID = {  # stage → (Chinese name, what it makes)
    "ocr": ("识别", "pages, lines"),
    "parse": ("解析", "questions"),
    "clean": ("清洗", "questions"),
    "proofread": ("校读", "doubts; optional"),
    "dedup": ("去重", "merges, clusters"),
    "annotate": ("预标注", "labels"),
    "review": ("专家审核", "final labels"),
    "calibrate": ("校准", "who errs where"),
    "split": ("划分", "8:1:1, N each"),
    "leaks": ("泄漏检查", "overlaps"),
    "export": ("导出", "Parquet, card"),
    "evaluate": ("评测", "answers, scores"),
    "audit": ("答案核查", "wrong keys"),
    "report": ("报告", "one page"),
}
INPUTS = ("PDF · scans", "images · DOCX", "CMB JSON", "CMExam CSV", "XLSX · HTML …")
STYLE = """
text { font-family: "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif; fill: #1d2733 }
.name { font-size: 16px; font-weight: 600 } .zh { font-size: 13px; fill: #44566c }
.made { font-size: 11px; fill: #44566c }
.head { font-size: 13px; font-weight: 600; fill: #44566c } .note { font-size: 12px; fill: #44566c }
.box { fill: #e8f0fb; stroke: #3b6fb6 } .mind { fill: #e6f5ec; stroke: #2f8f5b }
.raw { fill: #fdf3e1; stroke: #c58a1c }
.aside { fill: #fbeaea; stroke: #c0504d } rect { rx: 8 } .way { stroke: #7b8a9c; stroke-width: 1.6; fill: none }
"""


def text() -> str:
    """The picture as SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="From exam papers through all stages to a released and evaluated dataset">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#7b8a9c"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *_raw(),
    ]
    for index, stage in enumerate(STAGES):
        parts += _stage(index, stage.name)
    parts += [*_asides(), *_store(), "</svg>"]
    return "\n".join(parts) + "\n"


def _raw() -> list[str]:
    parts = [f'<text x="14" y="{TOP - 32}" class="head">raw/</text>']
    parts.append(f'<rect class="raw" x="12" y="{TOP - 22}" width="112" height="{BOX_H + 44}"/>')
    parts += [f'<text x="22" y="{TOP + index * 18}" class="note">{name}</text>' for index, name in enumerate(INPUTS)]
    parts.append(_arrow(124, TOP + BOX_H / 2, LEFT, TOP + BOX_H / 2))
    return parts


def _stage(index: int, name: str) -> list[str]:
    x = LEFT + index * STEP
    chinese, made = SAID.get(name, ("", ""))
    kind = "mind" if name in ("annotate", "review") else "box"
    middle = x + BOX_W / 2
    parts = [
        f'<rect class="{kind}" x="{x}" y="{TOP}" width="{BOX_W}" height="{BOX_H}"/>',
        f'<text x="{middle}" y="{TOP + 27}" class="name" text-anchor="middle">{name}</text>',
        f'<text x="{middle}" y="{TOP + 48}" class="zh" text-anchor="middle">{chinese}</text>',
        f'<text x="{middle}" y="{TOP - 10}" class="made" text-anchor="middle">{made}</text>',
    ]
    if index:
        parts.append(_arrow(x - STEP + BOX_W, TOP + BOX_H / 2, x, TOP + BOX_H / 2))
    return parts


def _asides() -> list[str]:
    left, right = LEFT, LEFT + (len(STAGES) - 1) * STEP + BOX_W
    parts = [f'<path class="way" d="M{x} {TOP + BOX_H} V236" marker-end="url(#tip)"/>' for x in _middles()]
    parts += [
        f'<rect class="aside" x="{left}" y="238" width="{right - left}" height="34"/>',
        f'<text x="{(left + right) / 2}" y="260" class="note" text-anchor="middle">'
        "every stage: rejects.parquet (out, and why) · review.parquet (waiting for a person, and why) · manifest.json "
        "· counts that add up</text>",
    ]
    experts = LEFT + 5 * STEP + BOX_W / 2
    parts += [
        f'<rect class="mind" x="{experts - 150}" y="30" width="300" height="36"/>',
        f'<text x="{experts}" y="53" class="note" text-anchor="middle">Label Studio · two experts 两位专家</text>',
        f'<path class="way" d="M{experts - 24} {TOP - 24} V68" marker-end="url(#tip)"/>',
        f'<path class="way" d="M{experts + 24} 66 V{TOP - 24}" marker-end="url(#tip)"/>',
        f'<text x="{experts - 30}" y="88" class="made" text-anchor="end">push</text>',
        f'<text x="{experts + 30}" y="88" class="made">pull</text>',
    ]
    return parts


def _store() -> list[str]:
    left, right = LEFT, LEFT + (len(STAGES) - 1) * STEP + BOX_W
    return [
        f'<rect class="raw" x="{left}" y="304" width="{right - left}" height="34"/>',
        f'<text x="{(left + right) / 2}" y="326" class="note" text-anchor="middle">'
        "item store: each page read, each answer paid for, kept the moment it arrives; nothing is done twice</text>",
        '<text x="14" y="259" class="head">build/&lt;stage&gt;/</text>',
        '<text x="14" y="325" class="head">build/store/</text>',
        f'<text x="14" y="{HEIGHT - 22}" class="note">Blue: pipeline/ · green: annotation/ · records and label sets of '
        "all tables: schemas/ · order, commands and status come from pipeline/catalogue</text>",
    ]


def _middles() -> list[float]:
    return [LEFT + index * STEP + BOX_W / 2 for index in range(len(STAGES))]


def _arrow(x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<path class="way" d="M{x0} {y0} L{x1 - 1} {y1}" marker-end="url(#tip)"/>'


LAYERS = (  # from the commands at the top to the records at the bottom
    ("box", "commands, notebooks", ("cli/", "api.py", "doctor.py")),
    ("box", "order and machinery", ("catalogue/", "config.py", "runtime/", "stage.py")),
    ("box", "stages", tuple(stage.name for stage in STAGES)),
    ("box", "looking at results", ("inspect/", "explain.py", "set_aside.py", "crop.py")),
    ("box", "shared by stages", ("rendering/", "stats.py", "claims/", "releases.py", "archives.py")),
    ("box", "", ("text.py", "characters.py", "patterns.py")),
    (
        "mind",
        "annotation/",
        ("llm/", "lexicon/", "learned_annotator.py", "label_studio/", "adjudication.py", "rubric/"),
    ),
    ("raw", "schemas/", ("records: one a table", "label sets", "reasons", "ids and hashes", "errors")),
)
ROW, NAMES, ROOM = 66, 190, 1060


def layers() -> str:
    """The parts of the code as SVG."""
    height = 20 + ROW * len(LAYERS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {NAMES + ROOM + 20} {height}" role="img" '
        'aria-label="Parts of the code from commands down to records">',
        f"<style>{STYLE}</style>",
        f'<rect width="{NAMES + ROOM + 20}" height="{height}" fill="#ffffff"/>',
    ]
    for index, (kind, title, names) in enumerate(LAYERS):
        top, width = 14 + index * ROW, ROOM / len(names)
        parts.append(f'<text x="14" y="{top + 28}" class="head">{title}</text>')
        for place, name in enumerate(names):
            x = NAMES + place * width
            parts += [
                f'<rect class="{kind}" x="{x + 3:.1f}" y="{top}" width="{width - 6:.1f}" height="{ROW - 20}"/>',
                f'<text x="{x + width / 2:.1f}" y="{top + 28}" class="note" text-anchor="middle">{name}</text>',
            ]
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    (IMAGES / "stages.svg").write_text(text(), encoding="utf-8")
    (IMAGES / "layers.svg").write_text(layers(), encoding="utf-8")
