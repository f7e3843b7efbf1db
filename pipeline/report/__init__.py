"""The page that a person opens first: what came in, what became of it, what to look at before trusting the result."""
