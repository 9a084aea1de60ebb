"""How well does each annotator judge, and what would the scores be without some of them?"""
