"""The command line ``build-dataset``."""

import sys

from build_dataset.pipeline.cli.limits import too_little_memory


def main() -> None:
    """Run the command line, unless its libraries could not even be imported."""
    if told := too_little_memory():
        sys.stderr.write(f"error: {told}\n")
        sys.exit(2)
    from build_dataset.pipeline.cli.app import main as run

    run()
