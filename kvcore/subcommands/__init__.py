"""The commands of ``kvcore``, one module each; every module adds its own parser and runs its own answer."""
