"""The program that runs tests. It stands alone, for an interpreter with pytest and none of our packages."""
