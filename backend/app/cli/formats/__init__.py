"""Reports of an evaluation in the formats that other programs read."""
