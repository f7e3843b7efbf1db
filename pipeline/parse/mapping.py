"""Find which column of a tabular source is what: by its header, then by its cells. Pure.

A mapping that could be two things is no mapping: the table is stopped with one line that names both readings.
"""

from collections import defaultdict
from collections.abc import Sequence

from pipeline.parse import answer_cells as answers
from pipeline.parse import cell_labels, cells
from pipeline.parse.answer_cells import AnswerEncoding
from pipeline.parse.by_cells import CellSearch, hint
from pipeline.parse.cells import Fields
from pipeline.parse.columns import (
    Columns,
    Unclear,
    flags_beside,
    missing_options,
    own_labels,
)
from schemas.columns import option_groups, plain_header, roles_of, vocabulary
from schemas.dataset import SourceParams

_COMMAS = (",", "，", "、")
SAMPLE = 2000
"""Number of rows, spread over the table, by which columns are judged."""


def find_mapping(rows: Sequence[Fields], declared: SourceParams | None = None) -> Columns | Unclear:
    """Return the mapping of a table's rows, or all objections to one; declarations in ``dataset.toml`` win."""
    search = _Search(rows[:: max(1, len(rows) // SAMPLE)], declared or SourceParams())
    search.run()
    if search.problems:
        return Unclear(search.problems[0].reason, "; ".join(one.detail for one in search.problems))
    return search.found


class _Search(CellSearch):
    """Finds the mapping step by step and collects objections to it."""

    def run(self) -> None:
        """Take what is declared, then headers, then cells."""
        self._declared()
        self._named()
        self._option_columns()
        self._find_flags()
        self._complete_options()
        self.found.own_labels = own_labels(self.rows, self.found.options)
        self._options_named_answers()
        self._settle_stem()
        self._cut_at_commas()
        self._settle_answer()
        if self.rows:
            self._by_content()
        self.found.unused = self._free()

    def _declared(self) -> None:
        options = self.declared.options if isinstance(self.declared.options, list) else []
        for role, name in [*self.declared.columns().items(), *(("options", name) for name in options)]:
            if name not in self.names:
                told = f"{role} = {name!r} is no column of it; there are {self.shown}"
                self._stop("unknown_column", told)
            elif name not in options:
                self._take(role, [name], "dataset.toml")
        if options:
            self._take_options(options, "dataset.toml")

    def _named(self) -> None:
        """Take headers that the vocabulary knows; columns without any value are none."""
        by_role: dict[str, list[str]] = defaultdict(list)
        taken = self.found.names()
        for name in self.names:
            for role in roles_of(name) if self.filled[name] and name not in taken else ():
                by_role[role].append(name)
        for role, names in by_role.items():
            order = [plain_header(one) for one in vocabulary()["roles"][role]]
            if role not in self.found.found_by:
                self._take(role, sorted(names, key=lambda name: order.index(plain_header(name))), "name")

    def _option_columns(self) -> None:
        """Find columns of one option each: opa to ope, 选项A, A B C D, option1, distractor1."""
        if self.found.options or self._share_of_options(self.found.roles.get("options", ())):
            return
        groups = option_groups(self.names)
        sizes = {
            word: sum(self.filled[name] for name in labels.values())
            for word, labels in groups.items()
            if sum(self.filled[name] > 0 for name in labels.values()) > 1
        }
        likely = [word for word, size in sizes.items() if 2 * size > max(sizes.values())]
        if len(likely) > 1:
            one, other = [", ".join(list(groups[word].values())[:5]) for word in likely[:2]]
            self._stop("columns_unclear", f"the options may be {one}, or {other}; {hint('options', '[…]')}")
        elif likely:
            self._take_options(groups[likely[0]], "name")
            wrong = {plain_header(word) for word in vocabulary()["options"]["wrong"]}
            self.found.key_is_an_option = likely[0].rstrip("1") in wrong

    def _find_flags(self) -> None:
        """Find columns that tell of each option whether it is right, and lists of wrong ones beside the key."""
        if "answer" not in self.found.roles:
            self.found.flags = flags_beside(self.rows, self._free(), self.found.options)
        roles = self.found.roles
        others = self.found.options or self._share_of_options(roles.get("options", ()))
        if "answer" in roles and not others and self._share_of_options(roles.get("wrong", ())) >= 0.5:
            self.found.key_is_an_option = True
        elif not self.found.key_is_an_option:
            roles.pop("wrong", None)

    def _cut_at_commas(self) -> None:
        """Cut options in one cell at commas, where the key of every row is one of the parts."""
        names = self.found.roles.get("options", ())
        for mark in _COMMAS if names and not self._share_of_options(names) else ():
            cut = [(cells.string(cells.first(row, names)) or "").split(mark) for row in self.rows]
            told = [cells.text_of(row, self.found.roles.get("answer", ())) or "" for row in self.rows]
            whole = all(
                [part.strip() for part in parts].count(key) == 1 for parts, key in zip(cut, told, strict=True)
            )
            if whole and any(len(parts) > 2 for parts in cut):
                self.found.separator = mark
                return

    def _complete_options(self) -> None:
        """Take columns of options that no header names, or stop where keys name options that no column holds."""
        if not self.found.options or self.found.key_is_an_option or self.declared.options:
            return
        answer = self.found.roles.get("answer", [])
        more = missing_options(self.rows, self.names, self._free(), self.found.options, answer)
        if isinstance(more, str):
            self._stop("columns_unclear", f"{more}; {hint('options', '[…]')}")
        elif more:
            self.found.options = dict(sorted({**self.found.options, **more}.items()))

    def _share_of_options(self, names: Sequence[str]) -> float:
        """The share of the cells of a column that hold two options or more."""
        values = [value for row in self.rows if (value := cells.first(row, names)) is not None]
        return sum(len(cells.read_options(value).pairs) > 1 for value in values) / max(1, len(values))

    def _options_named_answers(self) -> None:
        """Find options under a name of the key: ``answers: [{"aid": 1, "atext": …}]`` beside ``ra: 3``."""
        names = self.found.roles.get("answer", [])
        for name in () if self.found.has_options() else names:
            values = [cells.unpacked(row.get(name)) for row in self.rows if cells.filled(row.get(name))]
            if not all(isinstance(value, list | dict) for value in values):
                continue
            read = [cells.read_options(value) for value in values]
            texts = any(len(text) > 1 for options in read for _, text in options.pairs)
            keyed = len(names) > 1 or all(options.right for options in read)
            if keyed and texts and self._share_of_options([name]) >= 0.5:
                self._take("options", [name], "content")
                self.found.roles["answer"] = [other for other in names if other != name]
                return

    def _settle_stem(self) -> None:
        """Settle which of several columns is the stem; look for options in its text where none are elsewhere."""
        names = self.found.roles.get("stem", [])
        if len(names) > 1:
            texts = [name for name in names if self._is_text(name)] or names
            weak = {plain_header(one) for one in vocabulary()["weak"]["stem"]}
            strong = [name for name in texts if plain_header(name) not in weak] or texts
            said = [
                {name: text for name in strong if (text := cells.string(row.get(name)))} for row in self.rows
            ]
            differ = [row for row in said if len(set(row.values())) > 1]
            if 2 * len(differ) > len(self.rows):
                (one, text), (other, more), *_ = differ[0].items()
                example = f"{one} = {text!r:.40}; {other} = {more!r:.40}"
                self._stop(
                    "columns_unclear", f"the stem may be {one} or {other} ({example}); {hint('stem', one)}"
                )
            self.found.roles["stem"] = [*strong, *(name for name in texts if name not in strong)]
        if names and not self.found.has_options():
            cut = [cell_labels.cut_at_labels(cells.text_of(row, names) or "")[1] for row in self.rows]
            runs = ["".join(label for label, _ in pairs) for pairs in cut]
            whole = [run for run in runs if len(run) > 2 and cells.LABELS.startswith(run)]
            self.found.options_in_stem = 2 * len(whole) > len(runs)

    def _settle_answer(self) -> None:
        """Settle which column is the key and how it is given."""
        names = self.found.roles.pop("answer", [])
        if self.found.roles.get("total"):
            names = [name for name in names if "right" not in roles_of(name)]
        read = {name: self._encoding(name) for name in names}
        sure = [name for name, (_, share) in read.items() if share >= answers.MOST]
        names = sure or [name for name, (_, share) in read.items() if share >= 0.5] or names
        clear = {name: found for name in names if isinstance(found := read[name][0], AnswerEncoding)}
        if not clear:
            self.problems += [found for name in names[:1] if isinstance(found := read[name][0], Unclear)]
            return
        self._require_agreement(clear)
        best = min(clear, key=lambda name: clear[name] is AnswerEncoding.UNKNOWN)  # the first that is known
        self.found.encoding = clear[best]
        same = [name for name in names if name != best and read[name][0] == clear[best]]
        self._take("answer", [best, *same], self.found.found_by.get("answer", "name"))
        if best in self.found.roles.get("right", ()):
            self.found.roles["right"].remove(best)
        self._require_agreement(
            {best: clear[best], **dict.fromkeys(self._later_keys(), AnswerEncoding.LETTERS)}
        )
        # A few corrections under a name of the key do not tell how they are given: as the key is.
        for name in (one for one, (found, _) in read.items() if isinstance(found, Unclear)):
            self._require_agreement({best: clear[best], name: clear[best]})

    def _later_keys(self) -> list[str]:
        """Columns of letters whose headers speak of a key as well: 更正答案, final_answer; not 考生答案."""
        words = vocabulary()["words"]
        return [
            name
            for name in self._free()
            if any(word in plain_header(name) for word in words["key"])
            and not any(word in plain_header(name) for word in words["no_key"])
            and all(answers.letters_of(str(value), []) for value in self._values(name))
        ]
