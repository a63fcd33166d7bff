"""What a cosine is worth for an embedding model: see __main__."""
