"""The program that runs tests: it stands alone, for an interpreter that has pytest and nothing of ours."""
