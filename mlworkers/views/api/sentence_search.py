"""Search by meaning for programs: a sentence, answered by the playground's worker."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.people.access import dataset_for
from mlworkers.kinds.encoders.access import sentence_search_for
from mlworkers.kinds.encoders.forms import SentenceSearchForm
from mlworkers.kinds.encoders.sentence_search import indexes_of, sentences_found
from mlworkers.models import Run
from mlworkers.serializers import SearchedSentenceSerializer, SentenceSearchSerializer
from mlworkers.views.sentence_search import search_start


class SentenceSearch(APIView):
    @extend_schema(request=SearchedSentenceSerializer, responses={202: SentenceSearchSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Ask for the sentences of a dataset that are nearest to a sentence. The answer has their address, where they
        soon are.
        """
        user: Any = request.user
        dataset = dataset_for(user, slug, may="read")
        asked = SearchedSentenceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        rows = indexes_of(dataset)
        if not rows:
            raise ValidationError(
                {"index": ["The dataset has no index of its sentences; start the run index_sentences."]}
            )
        form = SentenceSearchForm(
            {name: str(value) for name, value in asked.validated_data.items() if value}, rows=rows
        )
        if not form.is_valid():
            raise ValidationError(
                {name: [str(each) for each in errors] for name, errors in form.errors.items()}
            )
        run = search_start(dataset, form, user)
        return Response(_answer(run, request), 202)


class SentenceSearchAnswer(APIView):
    @extend_schema(responses=SentenceSearchSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """The nearest sentences, each with its cosine and some of its pairs; only you see what you asked."""
        user: Any = request.user
        return Response(_answer(sentence_search_for(user, pk)[0], request))


def _answer(run: Run, request: Request) -> Any:
    return SentenceSearchSerializer(run, context={"request": request, "found": sentences_found}).data
