"""Running text for programs: the corpora of a dataset, a file that becomes one, and the contexts of a sentence."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.exchange.receiving import BodyFile
from curation.exchange.uploads import import_upload
from curation.models import ImportBatch
from curation.views.api.base import InDataset
from curation.views.api.bodies import form_filled
from mlworkers.kinds.contexts.access import corpus_for
from mlworkers.kinds.contexts.forms import SentenceForm
from mlworkers.kinds.contexts.running_text import contexts_found, corpora_of
from mlworkers.runs.services import run_start
from mlworkers.runs.storage import artifact_path
from mlworkers.science.contexts.plan import INDEXING
from mlworkers.serializers import (
    AskedContextsSerializer,
    ContextSerializer,
    CorpusSerializer,
    RunningTextSerializer,
    RunSerializer,
)


class RunningText(InDataset, APIView):
    @extend_schema(responses=CorpusSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The corpora of the dataset, and those that will be, newest first."""
        rows = corpora_of(self.dataset())
        return Response(CorpusSerializer(rows, many=True).data)

    @extend_schema(
        parameters=[RunningTextSerializer],
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={202: RunSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Send a file of running text as the body of the request. The answer is the run that makes a corpus of it."""
        user: Any = request.user
        dataset = self.dataset()
        asked = RunningTextSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        told = asked.validated_data
        file = BodyFile(request._request, told["filename"])
        batch = import_upload(dataset=dataset, files=[file], by=user, kind=ImportBatch.Kind.CORPUS)
        language = told["language"] or dataset.language or "en"
        plan = {"dataset": slug, "batch": batch.pk, "language": language}
        plan |= {name: told[name] for name in ("form", "encoding")}
        run = run_start(kind=INDEXING, plan=plan, by=user, dataset=dataset)
        return Response(RunSerializer(run, context={"request": request}).data, 202)


class CorpusContexts(APIView):
    @extend_schema(parameters=[AskedContextsSerializer], responses=ContextSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        """The contexts of a sentence in a corpus, by the number of the corpus's run, as its page shows them."""
        user: Any = request.user
        made = corpus_for(user, pk).artifacts.filter(kind="corpus", removed_at=None).first()
        if made is None:
            raise NotFound
        form = form_filled(request.query_params.dict(), SentenceForm)
        found = contexts_found(artifact_path(made), form.cleaned_data["sentence"])
        return Response(ContextSerializer(found, many=True).data)
