"""The command line ``build-dataset``."""


def main() -> None:
    """Run the command line."""
    from pipeline.cli.app import main as run

    run()
