"""Gives routes the event delivery that the composition root puts into the application's state."""

from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from app.realtime.hub import Hub
from app.realtime.reader import EventReader


def get_hub(connection: HTTPConnection) -> Hub:
    """Return the process's hub: `app.state.hub`."""
    hub: Hub = connection.app.state.hub
    return hub


def get_event_reader(connection: HTTPConnection) -> EventReader:
    """Return the process's reader of events: `app.state.event_reader`."""
    reader: EventReader = connection.app.state.event_reader
    return reader


HubDependency = Annotated[Hub, Depends(get_hub)]
EventReaderDependency = Annotated[EventReader, Depends(get_event_reader)]
