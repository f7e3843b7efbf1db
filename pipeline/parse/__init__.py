"""The parse stage: a pure function from lines to questions, in steps, each a module of its own.

``text`` and ``lines`` fold characters and drop running heads; ``marks``, ``keylines`` and ``leads`` say what a line
could be; ``numbering`` chooses the numbers that run contiguously; ``cut`` cuts items and gives every line one role;
``fields`` and ``options`` take an item apart; ``matching``, ``assemble``, ``kinds`` and ``setaside`` make drafts of
its questions; ``keys`` and ``pairing`` find, match and apply keys; ``gates`` doubts what is not sound; ``finish``
makes records. ``paper`` strings these together for one document, ``stage`` for all, ``rows`` reads tables.
"""
