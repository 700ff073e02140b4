"""The backlog: work that starts when its dependencies, limits and people allow."""
