"""Gives routes what event delivery needs; the composition root puts it into the application's state."""

from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from app.realtime.hub import Hub
from app.realtime.reader import EventReader


def get_hub(connection: HTTPConnection) -> Hub:
    """The process's hub: `app.state.hub`."""
    hub: Hub = connection.app.state.hub
    return hub


def get_event_reader(connection: HTTPConnection) -> EventReader:
    """The process's reader of events: `app.state.event_reader`."""
    reader: EventReader = connection.app.state.event_reader
    return reader


HubDependency = Annotated[Hub, Depends(get_hub)]
EventReaderDependency = Annotated[EventReader, Depends(get_event_reader)]
