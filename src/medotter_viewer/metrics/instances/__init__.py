"""How well single objects are found: detection at IoU thresholds, panoptic quality, AJI, and which object failed how.

`match_instances` reads two instance masks once; everything else is a function of the small table it returns.
"""

from medotter_viewer.metrics.instances.detection import CURVE_THRESHOLDS, Detection, detections, matched_pairs
from medotter_viewer.metrics.instances.jaccard import aji, aji_plus
from medotter_viewer.metrics.instances.losses import AjiLosses, aji_losses
from medotter_viewer.metrics.instances.overlap import InstanceOverlap, match_instances
from medotter_viewer.metrics.instances.rows import Matcher, MatchRows
from medotter_viewer.metrics.instances.table import InstanceMatch, match_table

__all__ = [
    "CURVE_THRESHOLDS",
    "AjiLosses",
    "Detection",
    "InstanceMatch",
    "InstanceOverlap",
    "MatchRows",
    "Matcher",
    "aji",
    "aji_losses",
    "aji_plus",
    "detections",
    "match_instances",
    "match_table",
    "matched_pairs",
]
