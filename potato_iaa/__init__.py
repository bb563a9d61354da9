"""How far do the annotators of a Potato project agree on the spans?"""

from potato_iaa.corpus import Corpus
from potato_iaa.measures.agreement import Agreement, measure
from potato_iaa.measures.chance import AnnotatorAgreementScenario
from potato_iaa.version import __version__

__all__ = ["Agreement", "AnnotatorAgreementScenario", "Corpus", "__version__", "measure"]
