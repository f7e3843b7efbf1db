"""The words that a text is read as, one character each: ``<ANSWER>`` in a pattern stands for its character."""

import re
from enum import StrEnum


class Token(StrEnum):
    """A kind of word, sign or mention; the words of each are rows of ``patterns.toml``."""

    ANSWER = "K"  # 答案, the correct answer
    NO_ANSWER = "Z"  # 干扰项, the wrong answer
    CHOOSE = "C"  # 故选, I would go with
    ASKED = "S"  # 正确的是, 只有
    BEST = "M"  # the most likely diagnosis
    ALL = "A"  # 以上都是
    EXCEPT = "E"  # 除…外
    OTHERS = "O"  # 其余
    RIGHT = "R"
    WRONG = "W"
    UNASKED = "U"  # 错误的是
    STATEMENT = "D"  # 的说法, before a verdict
    EXCLUDE = "X"  # 排除
    NOT = "n"
    IF = "q"
    SOMEBODY = "o"  # 有人, many students
    AT_FIRST = "p"
    PERHAPS = "h"
    RETRACT = "V"  # 不对, wait
    RATHER = "B"  # 更正为, but rather
    BUT = "b"
    BETTER = "G"
    FIRST_CHOICE = "F"  # 为首选
    BEATS = ">"  # 优于
    LOSES = "<"  # 不如
    HENCE = "c"
    IS = "i"
    SUGGESTS = "s"  # 提示, is classic for
    COMMA = ","
    STOP = "."
    LINE = "/"
    COLON = ":"
    LETTERS = "L"  # a mention by letter
    TEXT = "T"  # a mention by an option's text
    SMALL = "l"  # the same where it may be an ordinary word
    ORDINARY = "t"
    SHORT = "x"  # a few other characters
    LONG = "y"  # more


NAMES = {token.name: re.escape(token.value) for token in Token}
