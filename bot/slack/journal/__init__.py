"""What happened in a run, for whoever may know it."""
