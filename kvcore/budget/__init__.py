"""Budget: how many bytes are there for the cache on each GPU?"""

from kvcore.budget.budget import Budget, resolve_budget

__all__ = ["Budget", "resolve_budget"]
