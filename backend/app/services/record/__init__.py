"""What is recorded of runs: rows and events, written in a transaction of the caller."""
