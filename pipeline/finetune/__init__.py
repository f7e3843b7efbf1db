"""The papers' fine-tuned baselines: adapters over causal models and multiple-choice heads over encoders."""
