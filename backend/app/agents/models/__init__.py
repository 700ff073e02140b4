"""Language models: how they are made, how they are asked, and how they fail."""
