"""The Home tab: what waits for a person, their runs, and what was decided lately."""
