"""The parse stage: a pure function from lines to questions, in steps, each a module of its own.

``text`` folds characters and ``script`` mends traditional ones, ``running`` drops heads and feet of pages, ``lines``
makes pieces of lines; ``marks``, ``keylines`` and ``leads`` say what a line could be, ``answerlines`` where answers
stand; ``weights`` says how likely a number opens a question and ``numbering`` chooses the numbers that run
contiguously; ``cut`` gives every line one role and ``outline`` puts it where its role says; ``fields``, ``blanks``
and ``options`` take an item apart; ``matching``, ``parts``, ``assemble``, ``kinds`` and ``setaside`` make drafts of
its questions; ``keys``, ``appeals`` and ``pairing`` find, correct, match and apply keys; ``joint`` shares answers
out and ``gates`` doubts what is not sound; ``tracing`` says why, ``finish`` makes records. ``paper`` strings these
together for one document, ``stage`` for all; ``rows`` and ``cells`` read tables.
"""
