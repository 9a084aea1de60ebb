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
    "@techreport{orme2009, author={Orme, Bryan}, title={{MaxDiff} Analysis: Simple Counting, "
    "Individual-Level Logit, and {HB}}, institution={Sawtooth Software}, year={2009}}",
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
INTRACLASS = Reference(
    "shrout1979",
    "Shrout and Fleiss, 1979",
    "Patrick E. Shrout and Joseph L. Fleiss. 1979. Intraclass Correlations: Uses in Assessing Rater Reliability. "
    "Psychological Bulletin 86(2), pages 420–428.",
    "@article{shrout1979, author={Shrout, Patrick E. and Fleiss, Joseph L.}, title={Intraclass Correlations: "
    "Uses in Assessing Rater Reliability}, journal={Psychological Bulletin}, volume={86}, number={2}, "
    "pages={420--428}, year={1979}}",
)
ALPHA = Reference(
    "krippendorff2004",
    "Krippendorff, 2004",
    "Klaus Krippendorff. 2004. Content Analysis: An Introduction to Its Methodology. Second edition. Sage.",
    "@book{krippendorff2004, author={Krippendorff, Klaus}, title={Content Analysis: An Introduction to Its "
    "Methodology}, edition={2}, publisher={Sage}, year={2004}}",
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
SENTIMENT = Reference(
    "kiritchenko2016",
    "Kiritchenko and Mohammad, 2016",
    "Svetlana Kiritchenko and Saif M. Mohammad. 2016. Capturing Reliable Fine-Grained Sentiment Associations by "
    "Crowdsourcing and Best–Worst Scaling. In Proceedings of NAACL-HLT 2016, pages 811–817.",
    "@inproceedings{kiritchenko2016, author={Kiritchenko, Svetlana and Mohammad, Saif M.}, title={Capturing "
    "Reliable Fine-Grained Sentiment Associations by Crowdsourcing and Best--Worst Scaling}, "
    "booktitle={Proceedings of NAACL-HLT 2016}, pages={811--817}, year={2016}}",
)
BEST_WORST_BOOK = Reference(
    "louviere2015",
    "Louviere et al., 2015",
    "Jordan J. Louviere, Terry N. Flynn, and Anthony A. J. Marley. 2015. Best-Worst Scaling: Theory, Methods and "
    "Applications. Cambridge University Press.",
    "@book{louviere2015, author={Louviere, Jordan J. and Flynn, Terry N. and Marley, Anthony A. J.}, "
    "title={Best-Worst Scaling: Theory, Methods and Applications}, publisher={Cambridge University Press}, "
    "year={2015}}",
)
RELATEDNESS = Reference(
    "abdalla2023",
    "Abdalla et al., 2023",
    "Mohamed Abdalla, Krishnapriya Vishnubhotla, and Saif M. Mohammad. 2023. What Makes Sentences Semantically "
    "Related? A Textual Relatedness Dataset and Empirical Study. In Proceedings of EACL 2023.",
    "@inproceedings{abdalla2023, author={Abdalla, Mohamed and Vishnubhotla, Krishnapriya and Mohammad, Saif M.}, "
    "title={What Makes Sentences Semantically Related? {A} Textual Relatedness Dataset and Empirical Study}, "
    "booktitle={Proceedings of EACL 2023}, year={2023}}",
)
RISE = Reference(
    "kim2022",
    "Kim et al., 2022",
    "Taehee Kim, ChaeHun Park, Jimin Hong, Radhika Dua, Edward Choi, and Jaegul Choo. 2022. Reweighting Strategy "
    "Based on Synthetic Data Identification for Sentence Similarity. In Proceedings of COLING 2022.",
    "@inproceedings{kim2022, author={Kim, Taehee and Park, ChaeHun and Hong, Jimin and Dua, Radhika and Choi, Edward "
    "and Choo, Jaegul}, title={Reweighting Strategy Based on Synthetic Data Identification for Sentence "
    "Similarity}, booktitle={Proceedings of COLING 2022}, year={2022}}",
)
SENTENCE_BERT = Reference(
    "reimers2019",
    "Reimers and Gurevych, 2019",
    "Nils Reimers and Iryna Gurevych. 2019. Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks. In "
    "Proceedings of EMNLP-IJCNLP 2019, pages 3982–3992.",
    "@inproceedings{reimers2019, author={Reimers, Nils and Gurevych, Iryna}, title={Sentence-{BERT}: Sentence "
    "Embeddings using Siamese {BERT}-Networks}, booktitle={Proceedings of EMNLP-IJCNLP 2019}, "
    "pages={3982--3992}, year={2019}}",
)
OF_METHODS = {"counting": COUNTING, "maxdiff": MAXDIFF, "bradley-terry": BRADLEY_TERRY}
BY_KEY = {
    each.key: each
    for each in (
        *(BEST_WORST, RELIABILITY, COUNTING, MAXDIFF, BRADLEY_TERRY, DINO, DATA_STATEMENTS, SENTIMENT),
        *(BEST_WORST_BOOK, RELATEDNESS, RISE, SENTENCE_BERT, INTRACLASS, ALPHA),
    )
}
