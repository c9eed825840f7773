"""Read: what does this checkpoint say about itself?"""

from kvcore.config.model_config import ModelConfig, read_config
from kvcore.config.parse import parse_config

__all__ = ["ModelConfig", "parse_config", "read_config"]
