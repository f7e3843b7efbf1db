"""Keys that are wrong: evidence from explanations, copies, models and people, weighed question by question."""
