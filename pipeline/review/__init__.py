"""Review: what is sent to experts, what comes back, and the labels and patches that it adds up to."""
