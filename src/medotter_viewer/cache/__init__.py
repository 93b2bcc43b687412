"""What need not be computed twice: facts about pairs of label maps, and scores derived from them."""
