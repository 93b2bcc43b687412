"""The colours of ground truth, prediction and errors: they mean the same in the window and in a picture.

Told apart with every common colour blindness, and from grey.
"""

from __future__ import annotations

GT_ACCENT, PRED_ACCENT = "#00D3FF", "#FF8C1A"
SECOND_ACCENT = "#1A4AB0"
"""Of a second model's prediction beside the first: far from labels and errors, and still seen on black."""
TP_ACCENT, FN_ACCENT, FP_ACCENT, WRONG_ACCENT = "#009E73", "#8559FF", "#F4502C", "#F0E442"
