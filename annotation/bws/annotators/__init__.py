"""How well does each annotator judge?"""
