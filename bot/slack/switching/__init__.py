"""Kill switches in Slack: the owners turn them, and every full member sees how they stand."""
