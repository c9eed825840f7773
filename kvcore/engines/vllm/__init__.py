"""vLLM: its settings, its ways of storing caches, its planner."""
