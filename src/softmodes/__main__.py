"""`python -m softmodes` is the command `softmodes`."""

from softmodes._cli.main import main

if __name__ == "__main__":
    main()
