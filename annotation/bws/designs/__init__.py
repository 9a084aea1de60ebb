"""Which items are judged together?"""
