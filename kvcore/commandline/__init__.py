"""Engine command lines: read one into a request, write one from a request."""

from kvcore.commandline.read import CommandRead, read_command
from kvcore.commandline.write import engine_command

__all__ = ["CommandRead", "engine_command", "read_command"]
