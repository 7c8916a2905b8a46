"""The `softmodes` command: a file for each subcommand."""
