"""The parse stage: a pure function from lines to questions, pass after pass.

=========================== ===========================================================================================
pass                        modules
=========================== ===========================================================================================
1. lines                    ``lines``: ``running`` heads dropped, characters folded (``folding``) and mended
2. what a line may be       ``heads``: numbers and heads in every style of printing, what they announce;
                            ``labels`` of options; ``keylines`` finds the key
3. what a line is           ``cut``: ``numbering`` weighs the numbers and chooses those that run contiguously;
                            ``outline`` puts every line where its role says
4. drafts                   ``assemble``: ``fields`` splits an item, ``options`` finds its options,
                            ``draft`` holds both; ``parts`` takes items of several questions apart
5. keys                     ``keys`` finds and applies them and reads notes, ``pairing`` matches key documents
6. judgement                ``judge``: the table of ``checks``, of questions, papers and layout
7. records                  ``paper``, with the reasons of every cut
=========================== ===========================================================================================

``stage`` runs 1–7; ``rows`` and ``cells`` read tables. docs/parsing.md says where a new style belongs.
"""
