"""What is the score of each item, and which items are distinguishable?"""
