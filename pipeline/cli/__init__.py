"""The command line ``build-dataset``."""


def main() -> None:
    """Run the command line."""
    from build_dataset.pipeline.cli.app import main as run

    run()
