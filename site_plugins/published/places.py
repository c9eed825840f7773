"""Where published data lies. A change that breaks readers gets a new version; the old address keeps the old form."""

FORMAT = 1
DATA = f"data/v{FORMAT}"
MODELS = f"{DATA}/models.json"
REQUEST_SCHEMA = f"{DATA}/request.schema.json"
REPORT_SCHEMA = f"{DATA}/report.schema.json"
MODELS_SCHEMA = f"{DATA}/models.schema.json"
FLEET_SCHEMA = f"{DATA}/deployments.schema.json"
CHANGES_SCHEMA = f"{DATA}/changes.schema.json"
CHANGES = f"{DATA}/changes.json"
CALCULATORS = f"{DATA}/calculators.json"
FEED = "changes.xml"
LLMS = "llms.txt"


def model_data(model: str) -> str:
    """Returns the folder of a model's report and layout."""
    return f"{DATA}/models/{model}"


def fleet_data(gpu: str) -> str:
    """Returns the file of every model on one kind of GPU; without a GPU the folder of these files."""
    return f"{DATA}/deployments/{gpu}.json" if gpu else f"{DATA}/deployments/"
