"""``python -m cotree`` is the command line."""

from cotree.cli import main

if __name__ == "__main__":
    main()
