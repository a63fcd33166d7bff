"""The agent's tools: what each is called with, and one module for the answers of each."""
