"""The runner and what it gives every stage: store, executor, progress, fingerprints, atomic publishing."""
