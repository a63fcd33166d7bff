"""What is put behind the user's message: which blocks are due, what they say, in what time."""
