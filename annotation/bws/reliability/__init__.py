"""How far can scores be trusted: would other judgements give the same ones?"""
