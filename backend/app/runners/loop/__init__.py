"""Director-evaluator loops: their parts, and the steps that connect them."""
