"""The parse stage: a pure function from lines to questions, pass after pass.

======================== ==============================================================================================
pass                     modules
======================== ==============================================================================================
1. pieces                ``lines``: ``running`` heads dropped, characters folded (``text``) and mended (``script``)
2. what a line may be    ``numbers``, ``heads``, ``keylines``: every habit of printing, a table each; ``answerlines``
                         finds the key, ``cloze`` the blanks of items
3. what a line is        ``cut``: ``weights`` weighs the numbers, ``numbering`` chooses those that run contiguously,
                         ``leads`` finds stems before their number; ``outline`` puts every line where its role says
4. drafts                ``assemble``: ``fields`` and ``answers`` split an item, ``options`` finds its options,
                         ``reading`` holds both; ``matching`` and ``parts`` take items of several questions apart;
                         ``kinds`` and ``setaside`` say what it is
5. keys                  ``keys`` finds and applies them, ``appeals`` reads notes, ``pairing`` matches key documents
6. judgement             ``joint`` shares answers out; ``gates``, ``examine`` and ``unread`` doubt what is not sound
7. records               ``finish``, with the reasons of every cut (``tracing``)
======================== ==============================================================================================

``paper`` runs 1–6 for one document, ``stage`` 5–7 for all; ``rows`` and ``cells`` read tables. docs/parsing.md says
where a new habit belongs.
"""
