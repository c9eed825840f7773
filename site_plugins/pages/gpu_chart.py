"""One model on many cards: where the memory of each goes."""

from kvcore.report.charts import memory_bars
from kvcore.report.document import Chart
from site_plugins.pages.answers import Ask

PLACE = "gpus"
"""The page the chart stands on."""

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
LENGTH = 32_768
GPUS = ("T4", "L4", "RTX 4090", "RTX 5090", "A100 40GB", "L40S", "H100", "H200", "B200", "B300")
"""Cards that people ask for, the smallest first; the model's weights are larger than the first."""


def gpu_chart(ask: Ask) -> Chart | None:
    """Returns the chart; ``None`` where the catalogue has no such model.

    Args:
        ask: Answers a request.
    """
    series = {gpu: ask({"model": MODEL, "gpu": gpu, "max_model_len": LENGTH}) for gpu in GPUS}
    return memory_bars({gpu: report for gpu, report in series.items() if not report.errors})
