"""Linguistic measures of groups of sentence pairs: wording in common, variety of the words, and their frequencies."""
