"""Compare this package's numbers with those of other libraries on random cases; one line for each.

Exit status 0 when all that are installed agree, 1 on any difference, and when nothing could be compared.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import warnings
from importlib.metadata import version

from peers import PEERS, Peer


def main() -> int:
    """Run every comparison and print its line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=240, help="cases for each peer (default 240)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the peers, about their own dependencies
    outcomes = [compare(peer, options.cases) for peer in PEERS]
    return 1 if False in outcomes or not any(outcomes) else 0


def compare(peer: Peer, n: int) -> bool | None:
    """Print the line of one peer; return whether all numbers agree, None where it is not installed."""
    try:
        importlib.import_module(peer.module)
    except ImportError as error:
        print(f"{peer.name:<22} skipped: {error}", flush=True)
        return None
    largest, worst, quantities, done = 0.0, "", {}, 0
    for number, case in enumerate(peer.cases(n)):
        done += 1
        for quantity, ours, theirs in peer.check(case):
            quantities[quantity.partition(" at ")[0]] = None
            difference = abs(ours - theirs) / max(1.0, abs(theirs))
            if not difference < math.inf:  # NaN, which is never larger than anything
                difference = math.inf
            if difference > largest:
                largest, worst = difference, f"{quantity} of case {number}: {ours!r} here, {theirs!r} there"
    agree = largest <= peer.allowed
    released = version(peer.package) if peer.package else "restated"
    line = f"{peer.name:<22} {released:<9} {done} cases  largest difference {largest:.1e} (allowed {peer.allowed:g})"
    print(f"{line}  {', '.join(quantities)}" if agree else f"{line}  DIFFERS: {worst}", flush=True)
    return agree


if __name__ == "__main__":
    sys.exit(main())
