"""`python -m softmodes` is the command `softmodes`."""

from softmodes.cli import main

if __name__ == "__main__":
    main()
