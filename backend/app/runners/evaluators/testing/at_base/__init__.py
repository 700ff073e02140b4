"""What the base's tests do at the base: baseline, endless tests, who is at fault for a broken run."""
