"""The `softmodes` command: a file for each subcommand, and what they share."""
