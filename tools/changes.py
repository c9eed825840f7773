"""Writes what changed since an earlier build into the list of changes, before a release.

``python -m tools.changes OLD_MODELS_JSON "why"`` compares a published ``data/v1/models.json`` with the one of ``site/`` and
adds an entry for the models that came, for those that went, and for each figure that moved, with its value before and after.
"""

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from site_plugins.published.moves import moves
from site_plugins.published.places import CHANGES, MODELS
from tools.build_site import ROOT, SITE

_ABSENT = ("", (), None)


def main(before: Path, why: str, after: Path = SITE / MODELS, changes: Path = ROOT / "docs" / CHANGES) -> int:
    """Adds the entries and returns how many there are.

    Args:
        before: The older ``models.json``.
        why: What made figures move, in a sentence.
        after: The newer one.
        changes: The list to add to.
    """
    today = datetime.now(UTC).date().isoformat()
    found = moves(json.loads(before.read_text("utf-8")), json.loads(after.read_text("utf-8")), today, why)
    known = json.loads(changes.read_text("utf-8"))
    ids = {item["id"] for item in known}
    fresh = [
        {key: value for key, value in asdict(change).items() if value not in _ABSENT}
        for change in found
        if change.id not in ids
    ]
    changes.write_text(json.dumps([*known, *fresh], ensure_ascii=False, indent=2) + "\n", "utf-8")
    return len(fresh)


if __name__ == "__main__":
    print(f"{main(Path(sys.argv[1]), sys.argv[2])} entries added")
