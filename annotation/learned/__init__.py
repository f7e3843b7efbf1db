"""A classifier of questions that learns from labels which experts have reviewed."""
