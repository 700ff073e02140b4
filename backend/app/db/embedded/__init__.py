"""The embedded Postgres server: packaged binaries, with our own life cycle.

Each user of the server holds a shared lock on one file. Starting is serialised by a second lock. A detached
*reaper* waits for an exclusive lock on the first file, which it gets when the last user is gone, whatever
ended it, and then stops the server. The server and all its processes inherit a third lock: as long as it is
taken there is something left of a server, whatever the process ids say.
"""

from app.db.embedded.server import Lease, ServerStatus, ensure_running, server_status

__all__ = ["Lease", "ServerStatus", "ensure_running", "server_status"]
