"""The HTTP routes, a module for each resource."""
