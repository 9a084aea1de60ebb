"""Which pairs of sentences to annotate, by the strategies of the STR paper (Abdalla et al. 2021, appendix A)."""
