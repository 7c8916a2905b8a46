"""Partitions of every method here beside those of every rival, over many tables."""
