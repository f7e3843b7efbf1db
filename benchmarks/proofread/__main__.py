"""``python -m benchmarks.proofread``."""

from benchmarks.proofread.measure import main

main()
