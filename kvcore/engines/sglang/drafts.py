"""Speculative decoding in SGLang: how many tokens are drafted, and how many layers the drafter keeps."""

from dataclasses import dataclass

from kvcore.catalog.models import find_model
from kvcore.config import ModelConfig, read_config
from kvcore.engines.sglang import architectures as known
from kvcore.engines.sglang.model import ServedModel
from kvcore.errors import InputError, refusal
from kvcore.request import Request

EAGLE_LIKE = frozenset({"EAGLE", "EAGLE3", "NEXTN", "STANDALONE"})
EAGLE_HEAD_LAYERS = 1
NGRAM_TOKENS = 12
"""Tokens NGRAM drafts where none are given (SGLang 0.5.23 `_handle_ngram`)."""

NGRAM_BREADTH = 10
"""Branches NGRAM searches (SGLang 0.5.23 `ServerArgs.speculative_ngram_max_bfs_breadth`)."""

DEFAULT_CHAIN = (3, 1, 4)
DEFAULT_TREE = (5, 4, 8)
DEFAULT_RUNNING_REQUESTS = 48
"""``max_running_requests`` where drafts are used and it is not given (SGLang 0.5.23 `_handle_eagle_family`)."""

_FIELDS = ("speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens")


@dataclass(frozen=True, kw_only=True)
class Drafts:
    """Speculative decoding after defaults.

    Attributes:
        algorithm: SGLang's name; NEXTN is EAGLE.
        num_steps: Steps of the drafter.
        topk: Branches of the draft tree.
        num_draft_tokens: Tokens verified at once.
        num_branches: Branches SGLang checks pages for: ``topk``, or the breadth NGRAM searches.
        num_layers: Drafter layers billed in the token pool; 0: none.
        inside: The drafter is part of the model's own checkpoint.
        assumed: The drafter's checkpoint is not known: one layer is assumed, as EAGLE heads are published.
    """

    algorithm: str
    num_steps: int
    topk: int
    num_draft_tokens: int
    num_branches: int
    num_layers: int
    inside: bool = False
    assumed: bool = False


def resolve_drafts(request: Request, model: ServedModel) -> Drafts | None:
    """Speculative decoding of a request; None where none is asked for.

    Raises:
        EngineRefusal: SGLang refuses the combination, or kvcore does not know the algorithm's pools.
    """
    if request.speculative_algorithm is None:
        _refuse_leftovers(request)
        return None
    algorithm = request.speculative_algorithm.upper()
    algorithm = "EAGLE" if algorithm == "NEXTN" else algorithm
    if algorithm == "NGRAM":
        tokens = request.speculative_num_draft_tokens or NGRAM_TOKENS
        if model.is_deepseek_v4:
            rule = "SGLang drafts for DeepSeek-V4 with EAGLE and one branch only"
            raise refusal("speculative_algorithm", algorithm, rule, "Use EAGLE.")
        return Drafts(
            algorithm=algorithm,
            num_steps=tokens,
            topk=1,
            num_draft_tokens=tokens,
            num_branches=NGRAM_BREADTH,
            num_layers=0,
        )
    if algorithm not in EAGLE_LIKE:
        rule = "kvcore knows the pools of EAGLE, EAGLE3, NEXTN, STANDALONE and NGRAM"
        raise refusal("speculative_algorithm", request.speculative_algorithm, rule, "Use one of them.")
    steps, topk, tokens = _sizes(request, model, algorithm)
    if model.is_deepseek_v4 and (algorithm != "EAGLE" or topk != 1):
        rule = "SGLang drafts for DeepSeek-V4 with EAGLE and one branch only"
        raise refusal("speculative_eagle_topk", topk, rule, "Use EAGLE with speculative_eagle_topk 1.")
    drafter = _drafter(request)
    assumed = drafter is None and request.speculative_draft_model_path is not None
    if assumed and algorithm == "STANDALONE":
        rule = "the catalogue does not know this drafter"
        remedy = "Give its config.json as speculative_draft_config."
        raise refusal("speculative_draft_model_path", request.speculative_draft_model_path, rule, remedy)
    return Drafts(
        algorithm=algorithm,
        num_steps=steps,
        topk=topk,
        num_draft_tokens=tokens,
        num_branches=topk,
        num_layers=EAGLE_HEAD_LAYERS if assumed else _draft_layers(model, drafter, algorithm),
        inside=drafter is None and not assumed,
        assumed=assumed,
    )


def _refuse_leftovers(request: Request) -> None:
    for name in (*_FIELDS, "speculative_draft_model_path", "speculative_draft_config"):
        if name in request.given:
            rule = "it has a meaning only with speculative_algorithm"
            raise refusal(name, getattr(request, name), rule, "Give speculative_algorithm, or leave this out.")


def _sizes(request: Request, model: ServedModel, algorithm: str) -> tuple[int, int, int]:
    """Steps, branches and tokens (SGLang 0.5.23 `_auto_choose_speculative_params`)."""
    steps, topk, tokens = (getattr(request, name) for name in _FIELDS)
    if steps is None:
        if topk is not None or tokens is not None:
            rule = "SGLang chooses steps, branches and tokens together unless the steps are given"
            raise refusal("speculative_num_steps", None, rule, "Give speculative_num_steps too, or none of the three.")
        is_tree = algorithm != "STANDALONE" and model.architecture in known.TREE_DRAFTS
        return DEFAULT_TREE if is_tree else DEFAULT_CHAIN
    if topk is None:
        rule = "SGLang needs the branches where the steps are given"
        raise refusal("speculative_eagle_topk", None, rule, "Give speculative_eagle_topk, 1 for a chain.")
    if topk == 1:
        return steps, topk, steps + 1
    if tokens is None:
        rule = "SGLang needs the number of verified tokens of a tree"
        raise refusal("speculative_num_draft_tokens", None, rule, "Give speculative_num_draft_tokens.")
    return steps, topk, tokens


def _draft_layers(model: ServedModel, drafter: ModelConfig | None, algorithm: str) -> int:
    """Layers billed for the drafter (SGLang 0.5.23 `_resolve_eagle_aux_hidden_state`).

    A drafter inside a checkpoint whose config states no ``num_nextn_predict_layers`` is not billed at all: its pool then
    comes out of the memory left outside the static share.
    """
    if drafter is None:
        if algorithm == "STANDALONE":
            rule = "STANDALONE drafts with a model of its own"
            raise refusal("speculative_draft_model_path", None, rule, "Give the drafter's id or its config.json.")
        if model.is_deepseek_v4:
            return 1
        if model.num_nextn_predict_layers is None and model.architecture in known.DRAFTS_INSIDE:
            rule = "the checkpoint is its own drafter, but its config does not say how many layers that has"
            raise refusal("num_nextn_predict_layers", None, rule, "Add num_nextn_predict_layers from the model's card.")
        return model.num_nextn_predict_layers or 0
    if drafter.architecture in known.HYBRID_WINDOW or drafter.architecture in known.STATES:
        rule = "kvcore has not read how SGLang bills a drafter with windows or states"
        raise refusal("speculative_draft_model_path", drafter.architecture, rule, "Use another drafter.")
    stated = drafter.optional_integer("num_nextn_predict_layers")
    return drafter.num_hidden_layers if stated is None else stated


def _drafter(request: Request) -> ModelConfig | None:
    """The drafter's checkpoint: its config.json, or a catalogue model of its name; None where neither is known."""
    if request.speculative_draft_config is not None:
        return read_config(request.speculative_draft_config)
    if request.speculative_draft_model_path is None:
        return None
    try:
        return read_config(find_model(request.speculative_draft_model_path).config)
    except InputError:
        return None
