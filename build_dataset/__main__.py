"""``python -m build_dataset``: the command line."""

from build_dataset import main

if __name__ == "__main__":
    main()
