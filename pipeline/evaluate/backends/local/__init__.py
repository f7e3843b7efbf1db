"""Models on this machine, by transformers: planning of batches is pure, torch is imported by ``engine`` alone."""
