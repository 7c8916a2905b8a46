"""ROCK: clustering by links."""
