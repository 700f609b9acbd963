"""What the store costs, beside the least that its databases could do."""
