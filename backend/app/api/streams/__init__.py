"""Events as they happen: WebSocket and Server-Sent Events."""
