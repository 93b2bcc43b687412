"""The process in which one side of a row is measured: inputs from a file, numbers into a file.

Warm: the same is done on small arrays first. One run gives the numbers and the memory, which includes masks that the
peer wants; then some more give the time. Runs of what takes more than three seconds are not repeated. Where this
package is installed too, ours is timed on the same arrays in the same process.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from measuring import forget_high_water, high_water_mb, run, timed
from results import released
from rows import ROWS, Row, tiny_inputs
from side import Side
from work import Work

NOT_INSTALLED = 3  # exit status


def main() -> int:
    """Measure: arguments are row, side, file of inputs, file for the outcome."""
    key, name, inputs_path, outcome_path = sys.argv[1:]
    row = next(row for row in ROWS if row.key == key)
    side = next(side for side in row.sides if side.name == name)
    warnings.simplefilter("ignore")  # of the peers, about their own dependencies
    try:
        for module in side.modules:
            importlib.import_module(module)
    except ImportError as error:
        print(error, file=sys.stderr)
        return NOT_INSTALLED
    outcome = measure(row, side, Path(inputs_path))
    Path(outcome_path).write_text(json.dumps(outcome), encoding="utf-8")
    return 0


def measure(row: Row, side: Side, inputs_path: Path) -> dict[str, Any]:
    """Return versions, numbers, times and memory of one side."""
    with forced(side.engine):
        tiny = tiny_inputs(row.inputs)
        side.values(tiny, run(lambda: side.steps(tiny, None))[0])
        inputs = load(row.inputs, inputs_path)
        parts = side.parts.get(row.inputs)
        forget_high_water()
        before = high_water_mb()
        results, cpu_s, wall_s = run(lambda: side.steps(inputs, parts))
        peak_mb = high_water_mb() - before
        values = side.values(inputs, results)
        del results
        timing = timed(lambda: side.steps(inputs, parts), first=(cpu_s, wall_s))
    outcome: dict[str, Any] = {
        "version": released(side.packages) if side.packages else "",
        "values": {region: {q: float(v) for q, v in numbers.items()} for region, numbers in values.items()},
        "peak_mb": peak_mb,
        **asdict(timing),
    }
    ours = row.sides[0]
    if not side.environment and not side.is_ours:
        with forced(ours.engine):
            run(lambda: ours.steps(tiny, None))
            run(lambda: ours.steps(inputs, None))
            outcome["ours"] = asdict(timed(lambda: ours.steps(inputs, None)))
    return outcome


def forced(engine: str) -> Any:
    """Force an engine for a block; where the compiled one cannot be had, the plain one is ours."""
    if not engine:
        return nullcontext()
    from medotter_viewer.engine import choice

    if engine == "compiled" and not os.environ.get("BENCH_COMPILED"):
        engine = "plain"
    return choice.using(engine)  # type: ignore[arg-type]


def save(inputs: Any, path: Path) -> None:
    """Write arrays and facts, uncompressed: memory order is kept."""
    if isinstance(inputs, Work):
        np.savez(path, gt=inputs.gt, pred=inputs.pred, facts=json.dumps([inputs.spacing, dict(inputs.regions)]))
    else:
        np.savez(path, rings=np.stack(inputs.rings))


def load(name: str, path: Path) -> Any:
    """Read them back."""
    with np.load(path) as file:
        if name == "contours":
            from other_sides import Contours

            return Contours(name, [*file["rings"]])
        spacing, regions = json.loads(str(file["facts"]))
        ids = {region: tuple(ids) for region, ids in regions.items()}
        return Work(name, file["gt"], file["pred"], tuple(spacing), ids)


if __name__ == "__main__":
    sys.exit(main())
