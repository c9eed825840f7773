"""The element type a checkpoint asks for its recurrent state."""

from kvcore.config import ModelConfig
from kvcore.dtypes import canonical
from kvcore.errors import config_error

STATE_DTYPES = ("float32", "float16", "bfloat16")
"""Element types a state can have (vLLM 0.33.0 `config.cache.MambaDType`)."""


def state_dtype(config: ModelConfig, key: str, default: str | None) -> str | None:
    """The recurrent state's element type by a config key.

    Args:
        config: The checkpoint.
        key: Config key that names the type.
        default: Type where the key is absent; None: that of the convolution state.

    Returns:
        The type, or None for that of the convolution state.

    Raises:
        ConfigError: The key names no element type of a state.
    """
    stated = config.get(key, default)
    if stated is None or stated == "auto":
        return None
    if not isinstance(stated, str) or canonical(stated) not in STATE_DTYPES:
        rule = f"the recurrent state is stored in one of {', '.join(STATE_DTYPES)}"
        raise config_error(config.path(key), stated, rule, "Give the config.json unchanged.")
    return canonical(stated)
