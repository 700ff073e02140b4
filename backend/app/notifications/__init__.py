"""Notifications to people: the operator's file, formats of chats and e-mail, and signed links."""
