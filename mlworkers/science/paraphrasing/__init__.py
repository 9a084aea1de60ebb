"""Paraphrases of a chosen kind (Ogasa et al. 2024, ConPGS): similar in meaning and in wording to a chosen degree."""
