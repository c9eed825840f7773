"""Permalinks: a question and what was answered, in one address."""

from kvcore.permalink.link import Link, read_link, write_link
from kvcore.permalink.then_and_now import Difference, ThenAndNow, then_and_now

__all__ = ["Difference", "Link", "ThenAndNow", "read_link", "then_and_now", "write_link"]
