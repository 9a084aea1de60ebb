"""How high does each item stand, and which items are distinguishable?"""
