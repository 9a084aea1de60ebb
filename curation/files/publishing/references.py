"""The papers that a published folder cites, for Markdown and for LaTeX."""

from typing import NamedTuple


class Reference(NamedTuple):
    """key: of BibTeX; short: as a text cites it, without brackets; whole: the entry of a list of references."""

    key: str
    short: str
    whole: str
    bibtex: str


BEST_WORST = Reference(
    "louviere1991",
    "Louviere and Woodworth, 1991",
    "Jordan J. Louviere and George G. Woodworth. 1991. Best-worst scaling: A model for the largest "
    "difference judgments. Working paper, University of Alberta.",
    "@techreport{louviere1991, author={Louviere, Jordan J. and Woodworth, George G.}, title={Best-worst "
    "scaling: A model for the largest difference judgments}, institution={University of Alberta}, "
    "year={1991}}",
)
RELIABILITY = Reference(
    "kiritchenko2017",
    "Kiritchenko and Mohammad, 2017",
    "Svetlana Kiritchenko and Saif M. Mohammad. 2017. Best-Worst Scaling More Reliable than Rating "
    "Scales: A Case Study on Sentiment Intensity Annotation. In Proceedings of ACL 2017 (Volume 2: Short "
    "Papers), pages 465–470.",
    "@inproceedings{kiritchenko2017, author={Kiritchenko, Svetlana and Mohammad, Saif M.}, "
    "title={Best-Worst Scaling More Reliable than Rating Scales: A Case Study on Sentiment Intensity "
    "Annotation}, booktitle={Proceedings of ACL 2017 (Volume 2: Short Papers)}, pages={465--470}, "
    "year={2017}}",
)
COUNTING = Reference(
    "orme2009",
    "Orme, 2009",
    "Bryan Orme. 2009. MaxDiff Analysis: Simple Counting, Individual-Level Logit, and HB. Sawtooth Software.",
    "@techreport{orme2009, author={Orme, Bryan}, title={MaxDiff Analysis: Simple Counting, "
    "Individual-Level Logit, and HB}, institution={Sawtooth Software}, year={2009}}",
)
MAXDIFF = Reference(
    "marley2005",
    "Marley and Louviere, 2005",
    "Anthony A. J. Marley and Jordan J. Louviere. 2005. Some probabilistic models of best, worst, and "
    "best–worst choices. Journal of Mathematical Psychology 49(6), pages 464–480.",
    "@article{marley2005, author={Marley, Anthony A. J. and Louviere, Jordan J.}, title={Some "
    "probabilistic models of best, worst, and best--worst choices}, journal={Journal of Mathematical "
    "Psychology}, volume={49}, number={6}, pages={464--480}, year={2005}}",
)
BRADLEY_TERRY = Reference(
    "bradley1952",
    "Bradley and Terry, 1952",
    "Ralph A. Bradley and Milton E. Terry. 1952. Rank Analysis of Incomplete Block Designs: I. The Method"
    " of Paired Comparisons. Biometrika 39(3/4), pages 324–345.",
    "@article{bradley1952, author={Bradley, Ralph A. and Terry, Milton E.}, title={Rank Analysis of "
    "Incomplete Block Designs: {I}. The Method of Paired Comparisons}, journal={Biometrika}, volume={39},"
    " number={3/4}, pages={324--345}, year={1952}}",
)
DINO = Reference(
    "schick2021",
    "Schick and Schütze, 2021",
    "Timo Schick and Hinrich Schütze. 2021. Generating Datasets with Pretrained Language Models. In "
    "Proceedings of EMNLP 2021, pages 6943–6951.",
    '@inproceedings{schick2021, author={Schick, Timo and Sch{\\"u}tze, Hinrich}, title={Generating '
    "Datasets with Pretrained Language Models}, booktitle={Proceedings of EMNLP 2021}, "
    "pages={6943--6951}, year={2021}}",
)
DATA_STATEMENTS = Reference(
    "bender2018",
    "Bender and Friedman, 2018",
    "Emily M. Bender and Batya Friedman. 2018. Data Statements for Natural Language Processing: Toward "
    "Mitigating System Bias and Enabling Better Science. Transactions of the ACL 6, pages 587–604.",
    "@article{bender2018, author={Bender, Emily M. and Friedman, Batya}, title={Data Statements for "
    "Natural Language Processing: Toward Mitigating System Bias and Enabling Better Science}, "
    "journal={Transactions of the ACL}, volume={6}, pages={587--604}, year={2018}}",
)
OF_METHODS = {"counting": COUNTING, "maxdiff": MAXDIFF, "bradley-terry": BRADLEY_TERRY}
