"""Tables of what differs between releases of an engine, and of what an upgrade does to a deployment."""
