"""The embedded Postgres server: packaged binaries, started and stopped by this package.

Each user of the server holds a shared lock on one file. A second lock serialises starting. A detached
*reaper* waits for an exclusive lock on the first file, which it gets once the last user has ended, for
whatever reason, and then stops the server. The server and all its processes inherit a third lock: while it is
held, processes of a server are left, whatever the process ids say.
"""

from app.db.embedded.server import Lease, ServerStatus, ensure_running, server_status

__all__ = ["Lease", "ServerStatus", "ensure_running", "server_status"]
