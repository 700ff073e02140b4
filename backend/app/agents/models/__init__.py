"""Language models: which there are, how they are asked, and how they fail."""
