"""The scikit-learn face: parameters in, attributes out, no algorithm."""
