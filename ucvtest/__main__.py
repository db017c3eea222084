"""``python -m ucvtest`` does what the command ``ucvtest`` does."""

from ucvtest.cli import main

if __name__ == "__main__":
    main()
