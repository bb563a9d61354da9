"""``python -m potato_iaa`` is ``potato-iaa``."""

from potato_iaa.cli import main

if __name__ == "__main__":
    main()
