"""Machines that judge tuples of a campaign: the plan, what a chat model is asked, and what its answer means. Pure."""
