"""How many secrets the guard finds, and what it takes for one that is none."""
