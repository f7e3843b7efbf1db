"""The calibrate stage: how far annotators' labels can be trusted, and what they cost."""
