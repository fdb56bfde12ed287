"""Costs, measured side by side in one run, since a number alone says little on a machine that others use too. Nothing asserts a time."""
