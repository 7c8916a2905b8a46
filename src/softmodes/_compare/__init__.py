"""How good and how stable partitions are: every method here beside every installed rival.

A cell is one contender on one table at one setting: some runs that are measured by known classes,
or fits on parts of the rows that are compared with each other. Cells are run into a journal
(`runner.py`), summed up (`summary.py`), judged (`bar.py`) and written down (`report.py`).
"""
