"""The bodies of requests and responses of the HTTP API."""
