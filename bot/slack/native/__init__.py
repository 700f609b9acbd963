"""What Slack's own surface for agents has beside a thread. Nothing depends on it."""
