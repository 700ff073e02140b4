"""The command line, a client of the API."""
