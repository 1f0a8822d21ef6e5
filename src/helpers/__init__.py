"""How people judge language models: data, statistics, figures and verdicts."""

import sys

# Building the URI grammar of this module takes two seconds, and no notebook holds a URI
# to check.
sys.modules.setdefault("rfc3987_syntax", None)
