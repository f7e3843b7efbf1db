"""Models on this machine, by transformers: ``batches`` is pure, torch is imported where a model is loaded."""
