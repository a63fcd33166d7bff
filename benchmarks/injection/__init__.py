"""What injection tells and misses when the questions of locomo-dev are put to its conversations."""
