"""What people say to each other, on its way to an agent: quoted, and never as something that is wanted of it."""
