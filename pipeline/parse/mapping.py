"""Find which column of a tabular source is what: by its header, then by its cells. Pure.

A mapping that could be two things is no mapping: the table is stopped with one line that names both readings.
"""

from collections.abc import Mapping, Sequence

from build_dataset.pipeline.parse import answer_cells as answers, cells, columns as sources, passages
from build_dataset.pipeline.parse.answer_cells import AnswerEncoding
from build_dataset.pipeline.parse.cells import Fields
from build_dataset.pipeline.parse.columns import Columns, TableCells, Unclear, options_of
from build_dataset.pipeline.parse.labels import LABELS, cut_stem
from build_dataset.schemas.columns import option_of, plain_header, roles_of, vocabulary
from build_dataset.schemas.dataset import SourceParams
from build_dataset.schemas.grouping import group_values

SAMPLE = 2000  # number of rows, spread over the table, by which columns are judged
_LONGER = 4  # how much longer than others the stem is, where no name tells it for sure
_FEW = 10  # least number of rows for letters under a meaningless header to be a key


def find_mapping(rows: Sequence[Fields], declared: SourceParams | None = None) -> Columns | Unclear:
    """Return the mapping of a table's rows, or all objections to one; declarations in ``dataset.toml`` win."""
    return _Search(rows[:: max(1, len(rows) // SAMPLE)], declared or SourceParams()).run()


class _Search(TableCells):
    """Finds the mapping step by step, by headers and then by cells, and collects objections to it."""

    def __init__(self, rows: Sequence[Fields], declared: SourceParams) -> None:
        super().__init__(rows)
        self.declared = declared
        self.shown = ", ".join(self.names)[:200]
        self.problems: list[Unclear] = []

    def run(self) -> Columns | Unclear:
        """Take what is declared, then headers, then cells."""
        self._declared()
        self._named()
        self._by_language()
        for role in ("stem", "options", "explanation"):  # Chinese ones by their last word: 试题正文, AI 解析
            words = tuple(word for word in map(plain_header, vocabulary()["roles"][role]) if "一" <= word[:1] <= "鿿")
            names = [name for name in self._free() if not roles_of(name) and plain_header(name).endswith(words)]
            lacks = role == "options" and self._share_of_options(names) < 0.5  # 以后各列为选择项
            if role not in self.columns.roles and len(names) == 1 and not lacks:
                self._take(role, names, "name")
        self._option_columns()
        self._find_wrong()
        if self.columns.options and not self.columns.key_is_an_option and not self.declared.options:
            key, held = self.columns.roles.get("answer", []), self.columns.options
            if told := sources.unheld_option(self.rows, self.names, self._free(), held, key):
                self._stop(told, "options", [*held.values()])  # as they are, where the key is wrong
        self.columns.own_labels = sources.own_labels(self.rows, self.columns.options)
        self._options_named_answers()
        self._settle_stem()
        self._settle_answer()
        if self.rows:
            self._by_content()
        self._pictures()
        self.columns.unused = dict.fromkeys(self._free(), "")
        if not self.problems and self.rows:
            self._left_over()
        if self.problems:
            return Unclear(self.problems[0].reason, "; ".join(problem.detail for problem in self.problems))
        return self.columns

    def _declared(self) -> None:
        options = self.declared.options if isinstance(self.declared.options, list) else []
        for role, name in [*self.declared.columns().items(), *(("options", name) for name in options)]:
            if name not in self.names:
                detail = f"{role} = {name!r} is no column of it; there are {self.shown}"
                self.problems.append(Unclear("unknown_column", detail))
            elif name not in options:
                self._take(role, [name], "dataset.toml")
        if options:
            self._take_options(options, "dataset.toml")

    def _named(self) -> None:
        """Take headers that the vocabulary knows; columns without any value are none."""
        by_role = group_values((role, name) for name in self._free() for role in roles_of(name))
        for role, names in by_role.items():
            order = [plain_header(header) for header in vocabulary()["roles"][role]]
            if role not in self.columns.found_by:
                self._take(role, sorted(names, key=lambda name: order.index(plain_header(name))), "name")
        lists = [name for name in self._free() if isinstance(self._values(name)[0], list | dict)]
        lists = [name for name in lists if not self._looks_like_key(name)]  # {"o": {"a": "甲", …}, "c": ["a", "d"]}
        alone = [name for name in self._free() if option_of(name) and name not in lists]
        beside = ["c", "k"] if lists or "options" in by_role else []
        alone = [name for name in alone if len(alone) == 1 or self._looks_like_key(name)]  # "a": "B", "c": "法"
        if "answer" not in self.columns.roles and len(alone) == 1 and plain_header(alone[0]) in ("a", *beside):
            self._take("answer", alone, "name")

    def _by_language(self) -> None:
        """Take the first language of questions that stand in several: question_de, question_ru, answers_de, …."""
        weak = {plain_header(header) for header in vocabulary()["weak"]["stem"]}
        strong = {plain_header(name) for name in self.columns.roles.get("stem", ())} - weak  # not a title
        if strong or not (found := sources.first_language(self._free())):
            return
        first, others = found
        self.names = [name for name in self.names if name not in others]
        for role, name in ((role, name) for base, name in first for role in roles_of(base)):
            self._take(role, [*self.columns.roles.get(role, []), name], "name")
        if options := {label[1]: name for base, name in first if (label := option_of(base)) and not roles_of(base)}:
            self._take_options(dict(sorted(options.items())), "name")

    def _option_columns(self) -> None:
        """Find columns of one option each: opa to ope, 选项A, A B C D, option1, distractor1."""
        roles = self.columns.roles
        named = roles.get("options", ()) if "answer" not in roles else ()
        if letters := [name for name in named if self._holds_letters(name)]:  # Choice: C, beside options in the stem
            self._take("answer", letters, "content")
            roles["options"] = [name for name in roles["options"] if name not in letters]
            roles["options"] or roles.pop("options")
        if self.columns.options or self._share_of_options(roles.get("options", ())):
            return
        single = [name for name in self.names if not isinstance(next(iter(self._values(name)), None), list | dict)]
        groups = sources.likely_options(single, self.filled)
        words = [*groups]
        if len(words) > 1:
            first, second = [", ".join(list(groups[word].values())[:5]) for word in words[:2]]
            self._stop(f"the options may be {first}, or {second}", "options", "[…]")
        elif words:
            self._take_options(groups[words[0]], "name")
            wrong = {plain_header(word) for word in vocabulary()["options"]["wrong"]}
            self.columns.key_is_an_option = words[0].rstrip("1") in wrong

    def _find_wrong(self) -> None:
        """Find lists of wrong options beside the key."""
        roles = self.columns.roles
        others = self.columns.options or self._share_of_options(roles.get("options", ()))
        if "answer" in roles and not others and self._share_of_options(roles.get("wrong", ())) >= 0.5:
            self.columns.key_is_an_option = True
        elif not self.columns.key_is_an_option:
            roles.pop("wrong", None)

    def _left_over(self) -> None:
        """Let long texts that stems rest on join these, or stop the table where that is open; tell of the others."""
        declared = {*self.declared.ignore, *filter(None, [self.declared.shared])}
        asking = [row for row in self.rows if cells.text_of(row, self.columns.roles["stem"])]
        for name in [one for one in [*self.columns.roles.get("shared", ()), *self._free()] if one not in declared]:
            use = self._left_over_of(name, asking)
            self.columns.unused = {column: self.columns.unused.get(column, "") for column in self._free()}
            if name in self.columns.unused:
                self.columns.unused[name] = use or ""

    def _left_over_of(self, name: str, asking: Sequence[Fields], least: int = passages.SENTENCE) -> passages.Use | None:
        if named := name in self.columns.roles.get("shared", ()):
            use = passages.over_many(name, asking, self._asked)
        else:
            keys = [*map(self.names.index, self.columns.roles.get("answer", ()))]
            behind = self.names.index(name) > max(keys, default=len(self.names))
            use = passages.use_of(name, asking, self._asked, least, behind=behind)
            use = passages.Use.JOINS if passages.lists_statements(name, asking, self._asked) else use
        if named and use:
            self.columns.roles["shared"].remove(name)
        if use is passages.Use.UNCLEAR:
            detail = f"{name} holds long texts that stems may rest on"
            how = f"write shared = {name!r} or ignore = [{name!r}] in dataset.toml"
            self.problems.append(Unclear("column_left_over", f"{detail}; {how}"))
        elif use is passages.Use.JOINS:
            self.columns.roles.setdefault("shared", []).append(name)
            self.columns.found_by.setdefault("shared", "content")
        return use

    def _asked(self, row: Fields) -> passages.Asked:
        """The question of a row, as far as it is known."""
        roles = self.columns.roles
        options = options_of(row, self.columns)
        key = answers.read_answer(cells.first(row, roles.get("answer", ())), options, self.columns.encoding)
        stem = cells.text_of(row, roles.get("stem", ())) or ""
        case = cells.whole_of(row, roles.get("shared", ())) or ""
        return passages.Asked(stem, case, options.pairs, key or options.right or ())

    def _options_named_answers(self) -> None:
        """Find options under a name of the key, ``answers: [{"aid": 1, "atext": …}]``, keys under ``solution``."""
        names = self.columns.roles.get("answer", [])
        for name in () if self.columns.has_options() else sorted(names, key=lambda name: -self.filled[name]):
            values = [value for value in map(cells.unpacked, self._values(name)) if isinstance(value, list | dict)]
            if not values or len(values) < answers.MOST * self.filled[name]:
                continue
            read = [cells.read_options(value) for value in values]
            texts = any(len(text) > 1 for options in read for _, text in options.pairs)
            said = 5 * sum(options.right is not None for options in read) >= 4 * len(read)
            keyed = len(names) > 1 or said or all(map(cells.names_letters, values))
            if keyed and texts and self._share_of_options([name]) >= 0.5:
                self._take("options", [name], "content")
                self.columns.roles["answer"] = [column for column in names if column != name]
                self.columns.roles["answer"] or self.columns.roles.pop("answer")
                break
        for name in self.columns.roles.get("explanation", [])[:1] if "answer" not in self.columns.roles else ():
            if self._holds_letters(name) or all(map(answers.is_number, self._values(name))):  # {"solution": "B"}
                self._take("answer", [name], "content")
                self.columns.roles.pop("explanation")

    def _settle_stem(self) -> None:
        """Settle which of several columns is the stem; look for options in its text where none are elsewhere."""
        roles = self.columns.roles
        names = roles.get("stem", [])
        if len(names) > 1:
            weak = {plain_header(header) for header in vocabulary()["weak"]["stem"]}
            kinds = {name: len({*map(str, self._values(name))}) for name in names}  # a description may name a chapter
            told = [name for name in names if plain_header(name) not in weak or 10 * kinds[name] > max(kinds.values())]
            texts = [name for name in told if self._is_text(name)] or told
            strong = [name for name in texts if plain_header(name) not in weak] or texts
            pairs = [[(name, cells.string(row.get(name))) for name in strong] for row in self.rows]
            longest, *others = sorted(strong, key=self._length, reverse=True)
            longer = all(_LONGER * self._length(column) < self._length(longest) for column in others)
            if plain_header(longest) in weak and longer:
                strong, pairs = [longest], []  # text, and the topic that it is about
            filled = [{name: text for name, text in row if text} for row in pairs]
            differ = [row for row in filled if len(set(row.values())) > 1]
            if 2 * len(differ) > len(self.rows):
                (first, text), (second, more), *_ = differ[0].items()
                example = f"({first} = {text!r:.40}; {second} = {more!r:.40})"
                self._stop(f"the stem may be {first} or {second} {example}", "stem", first)
            # A weak name beside stems that are there is a column of its own: text, beside question; it may be both.
            lacking = [row for row in self.rows if not cells.text_of(row, strong)]
            self.columns.roles["stem"] = strong
            for name in [column for column in texts if column not in strong]:
                apart = sum(cells.filled(row.get(name)) for row in lacking)
                if apart and apart < self.filled[name]:
                    self._left_over_of(name, [row for row in self.rows if cells.text_of(row, strong)], least=0)
                self.columns.roles["stem"] += [name] * bool(apart)
        names = roles.get("stem", [])
        if names and 2 * sum(bool(options_of(row, self.columns).pairs) for row in self.rows) <= len(self.rows):
            bare = [row for row in self.rows if not options_of(row, self.columns).pairs]
            keys = self.columns.roles.get("answer", ())
            # Beside keys that are letters; other rows are of another kind: Name the bone of the thigh. | Femur
            lettered = [row for row in bare if answers.read_answer(cells.first(row, keys), cells.Options([]))]
            asked = lettered if len(self._letters_in(keys)) > 1 else bare
            cut = [cells.labelled(cut_stem(cells.text_of(row, names) or "")[1]).pairs for row in asked]
            runs = ["".join(label for label, _ in pairs) for pairs in cut]
            whole = [run for run in runs if len(run) > 2 and (LABELS + "|123456789").find(run) in (0, 12)]
            self.columns.options_in_stem = 2 * len(whole) > len(runs)

    def _settle_answer(self) -> None:
        """Settle which column is the key and how it is given."""
        names = self.columns.roles.pop("answer", [])
        if self.columns.roles.get("total"):
            names = [name for name in names if "right" not in roles_of(name)]
        read = {name: self._encoding(name) for name in names}
        sure = [name for name, (_, share) in read.items() if share >= answers.MOST]
        names = sure or [name for name, (_, share) in read.items() if share >= 0.5] or names
        clear = {name: encoding for name in names if isinstance(encoding := read[name][0], AnswerEncoding)}
        if not clear:
            self.problems += [encoding for name in names[:1] if isinstance(encoding := read[name][0], Unclear)]
            return
        self._require_agreement(clear)
        best = min(clear, key=lambda name: (clear[name] is AnswerEncoding.UNKNOWN, -self.filled[name]))
        self.columns.encoding = clear[best]
        same = [name for name in names if name != best and read[name][0] in (clear[best], AnswerEncoding.UNKNOWN)]
        self._take("answer", [best, *same], self.columns.found_by.get("answer", "name"))
        if best in self.columns.roles.get("right", ()):
            self.columns.roles["right"].remove(best)
        self._require_agreement({best: clear[best], **dict.fromkeys(self._later_keys(), AnswerEncoding.LETTERS)})
        # A few corrections under a name of the key do not tell how they are given: as the key is.
        for name in (column for column, (encoding, _) in read.items() if isinstance(encoding, Unclear)):
            self._require_agreement({best: clear[best], name: clear[best]})

    def _stop(self, problem: str, role: str, name: str | list[str], reason: str = "columns_unclear") -> None:
        self.problems.append(Unclear(reason, f"{problem}; write {role} = {name!r} in dataset.toml"))

    def _take(self, role: str, names: list[str], by: str) -> None:
        self.columns.roles[role], self.columns.found_by[role] = names, by

    def _take_options(self, names: Sequence[str] | Mapping[str, str], by: str) -> None:
        """Take columns of one option each, by letter, or the first as A."""
        labels = names if isinstance(names, Mapping) else dict(zip(LABELS, names, strict=False))
        self.columns.options, self.columns.found_by["options"] = dict(labels), by
        self.columns.roles.pop("options", None)

    def _encoding(self, name: str) -> tuple[AnswerEncoding | Unclear, float]:
        """Return the encoding of a column's answers and the share of its rows that can be read in it."""
        if self.columns.key_is_an_option:
            return AnswerEncoding.TEXTS, 1.0
        if not (given := self._given(name)):
            return AnswerEncoding.UNKNOWN, float(not self.filled[name])
        stated = self.declared.answer_as
        encoding = AnswerEncoding(stated) if stated else answers.encoding_of(given, printed=not self.columns.options)
        if isinstance(encoding, AnswerEncoding):
            return encoding, answers.readable_share(given, encoding)
        return Unclear("answers_unclear", f"{name} = {encoding} in dataset.toml"), 1.0

    def _require_agreement(self, encodings: Mapping[str, AnswerEncoding]) -> None:
        """Stop where two possible key columns contradict each other."""
        differs = sources.disagreements(self.rows, encodings, self.columns) if len(encodings) > 1 else []
        self.columns.keys |= encodings if differs else {}
        if len(differs) > sources.TOLERATED * len(self.rows):
            self._stop(f"two columns may be the key and differ: {differs[0][1]}", "answer", differs[0][0])

    def _by_content(self) -> None:
        """Give roles to columns whose cells leave no doubt, and report other columns that may matter."""
        if not self.columns.has_options():
            self._find_lists()
        if "answer" not in self.columns.roles and not self.problems:
            self._find_answer()
        if not self.columns.has_options():
            self._find_options()
        if "stem" not in self.columns.roles:
            self._find_stem()
        if self.problems:
            return
        if "stem" not in self.columns.roles:
            self._stop(f"no column is the stem; there are {self.shown}", "stem", "…", "no_stem")
        if not self.columns.has_options():
            how = 'write options = \'…\' in dataset.toml or options = ["…", "…"]'
            empty = [name for name in self.names if "options" in roles_of(name) and not self.filled[name]]
            problem = f"no column holds the options; there are {self.shown}; {how}"
            problem = f"{empty[0]} is empty in every row" if empty else problem
            self.problems.append(Unclear("no_options", problem))
        elif {*self.columns.found_by.values()} == {"content"} and (open_ := self._other_reading()):
            self._stop(*open_)

    def _find_answer(self) -> None:
        """Find a column of letters, or of texts each of which is an option's."""
        never = vocabulary()["words"]["no_key"]  # 考生答案, my_answer
        likely = [name for name in self._free() if not any(word in name.casefold() for word in never)]
        good = [name for name in likely if self._looks_like_key(name)]
        before = len(self.problems)
        self._require_agreement(dict.fromkeys(good, AnswerEncoding.UNKNOWN))
        if not good or len(self.problems) > before:
            return
        labels = {label for row in self.rows for label, _ in options_of(row, self.columns).pairs}
        used = self._letters_in(good[:1])
        # Beside headers that say what they are, a column of letters may be a reader's or a model's; so may few.
        sure = "name" not in self.columns.found_by.values() and self.filled[good[0]] >= _FEW
        sure = sure and not (used and labels and used[-1] != max(labels))
        if not sure and plain_header(good[0]) not in vocabulary()["words"]["told_key"]:
            holds = f"it holds {', '.join(used)}" if used else "it holds texts of options"
            problem = f"no column is named as the key; {good[0]} may be it ({holds}), or not"
            self._stop(problem, "answer", good[0])
            return
        self._take("answer", [good[0]], "content")
        self.columns.encoding = AnswerEncoding.LETTERS if used else AnswerEncoding.TEXTS

    def _find_lists(self) -> None:
        """Find lists, objects or texts that name the letter of each option; two columns of them may not differ."""
        # Else the one column of lists whose texts seldom repeat, as tags do, beside a key.
        columns = [name for name in self._free() if not roles_of(name)]
        listed = [name for name in columns if all(map(cells.names_letters, self._values(name)))]
        # Options under the name of one: {"q": "…", "a": ["甲", "乙"], "correct": 1}.
        alone = [name for name in columns if option_of(name)]
        listed = listed or [name for name in alone if {*map(type, map(cells.unpacked, self._values(name)))} <= {list}]
        bare = [column for column in columns if self._lists_texts(column, keyed="answer" in self.columns.roles)]
        listed = listed or (bare if len(bare) == 1 else [])
        if not listed:
            return
        heads = [isinstance(value, str) and cut_stem(value)[0].strip() for value in self._values(listed[0])]
        if "stem" not in self.columns.roles and 2 * sum(map(bool, heads)) > len(heads):  # 首选的是？A.甲 B.乙
            self._take("stem", listed[:1], "content")
            self.columns.options_in_stem = True
            return
        self._take("options", listed[:1], "content")
        filled = ([row[name] for name in listed if cells.filled(row.get(name))] for row in self.rows)
        read = [[cells.read_options(value).pairs for value in values] for values in filled]
        unlabelled = [[[cells.without_label(text, label) for label, text in pairs] for pairs in row] for row in read]
        if any(texts != row[0] for row in unlabelled for texts in row):  # ["A、甲", "B、乙"] says 甲, 乙
            self._stop(f"the options may be {' or '.join(listed)}", "options", listed[0])
        self._settle_encoding()

    def _find_options(self) -> None:
        """Find columns side by side, as many as the key has letters; or those in which the key's text is found."""
        columns = [name for name in self._free() if not roles_of(name)]
        answer = self.columns.roles.get("answer", [])
        texts = [*filter(self._is_text, columns)]  # oA, oB, oC under any word
        chosen = sources.numbered_texts(texts, self.rows) if "stem" in self.columns.roles else []
        if len(chosen) < 3 and (letters := self._letters_in(answer)):
            stem_first = None if "stem" in self.columns.roles else self._length
            texts = [name for name in texts if not self._looks_like_key(name)]
            beside = sources.side_by_side(texts, self.names, ord(letters[-1]) - 64, stem_first)
            chosen = beside if all(sources.looks_like(name, self.rows, beside) for name in beside) else []
        if len(chosen) > 1:
            self._take_options(chosen, "content")
            self._settle_encoding()

    def _settle_encoding(self) -> None:
        """Settle how the key is given, beside options found after it."""
        for name in self.columns.roles.get("answer", [])[:1]:
            encoding, _ = self._encoding(name)
            if isinstance(encoding, Unclear):
                self.problems.append(encoding)
            else:
                self.columns.encoding = encoding

    def _find_stem(self) -> None:
        """Find the one column of texts that nearly all differ, explain no key, and are longest by far."""
        if not self.columns.has_options() or not (key := self.columns.roles.get("answer")):
            return
        asked = [*map(self._asked, self.rows)]
        texts = {name: [cells.text_of(row, [name]) or "" for row in self.rows] for name in self._free()}
        texts = {name: said for name, said in texts.items() if self._is_text(name) and not roles_of(name)}
        names = [name for name, said in texts.items() if not passages.explains(zip(asked, said, strict=True))]
        longest, *others = sorted(names, key=self._length, reverse=True) or [""]
        ahead = [name for name in names if self.names.index(name) < self.names.index(key[0])]
        if others and (self._length(longest) < 2 * self._length(others[0]) or (ahead and longest not in ahead)):
            self._stop(f"the stem may be {longest} or {others[0]}", "stem", longest)
        elif names:
            self._take("stem", [longest], "content")
