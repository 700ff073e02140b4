"""What a terminal shows: a pure state made of events, and the ways to render it."""
