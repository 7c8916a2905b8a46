"""Plant small faults in the floors of the package, one at a time, and see the tests find them."""
