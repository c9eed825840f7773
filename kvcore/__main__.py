"""``python -m kvcore``."""

import sys

from kvcore.cli import main

sys.exit(main())
