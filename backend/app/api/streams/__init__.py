"""Live events: WebSocket and Server-Sent Events."""
