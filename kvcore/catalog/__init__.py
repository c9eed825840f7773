"""The catalogue: models and GPUs as data files, with their evidence."""

from kvcore.catalog.gpus import Gpu, find_gpu, load_gpus
from kvcore.catalog.models import ModelEntry, ModelSource, find_model, load_models

__all__ = ["Gpu", "ModelEntry", "ModelSource", "find_gpu", "find_model", "load_gpus", "load_models"]
