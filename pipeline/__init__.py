"""The stages and their order: the stages, their catalogue, the runner, the store, the command line."""

import os

# onnxruntime reports its use to its maker over the network; workers inherit this. What we read is nobody's business.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
