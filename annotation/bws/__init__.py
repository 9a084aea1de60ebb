"""Best-Worst Scaling, values in and values out: a room for each question, and `judgements` below them."""
