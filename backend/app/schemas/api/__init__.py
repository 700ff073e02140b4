"""What the HTTP API speaks: bodies of requests and responses."""
