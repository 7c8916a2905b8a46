"""Random tables, damaged model files and odd CSV files against slow and obvious references.

`python -m fuzz --cases 1000` runs so many cases of each kind; `--only tables --case 17` runs one
of them again. A case depends on the seed, its kind and its number alone.
"""
