"""What people say to runs in their threads, and what follows from it."""
