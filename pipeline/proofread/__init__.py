"""The proofread stage: a second reader that points at what is doubtful and writes nothing."""
