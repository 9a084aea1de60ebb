"""Nothing is cut off at its right edge: tables, charts and controls on every page that has them, wide and narrow, light
and dark, folded parts opened. Nor is any text too pale to read there.
"""

from datetime import timedelta
from itertools import product
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone
from playwright.sync_api import Page

from annotation.campaigns.machine_block import tuples_reserve
from annotation.campaigns.norming import norming_close, norming_start
from annotation.campaigns.quiz import Options, question_add
from annotation.campaigns.slider import raters_add, slider_start
from annotation.judging.norming import norming_comment, norming_submit
from annotation.judging.rating import rating_submit
from annotation.judging.settling import participation_stop
from annotation.models import Campaign, Flag
from curation.datasets.edits import Edit, edit_apply
from curation.exchange.duplicate_searches import search_ask
from curation.exchange.exporting import snapshot_create
from curation.exchange.importing import ImportOptions
from curation.exchange.uploads import import_apply, import_check, import_upload
from curation.files.drafts import Columns
from curation.models import DuplicateSearch, PairScore
from mlworkers.kinds.language.relatedness import PAPER
from mlworkers.models import WorkerHeartbeat
from mlworkers.runs.ratings import candidates_draw
from mlworkers.runs.storage import Curve
from mlworkers.science.linguistics.measures import DIVERSITY, MEASURES, Group
from mlworkers.science.linguistics.relatedness.names import ALL, DICE, OBJECTS, SUBJECTS
from mlworkers.science.paraphrasing.tags import TagBounds
from tests.browser.conftest import axe_findings, sideways_overflow
from tests.factories import (
    ArtifactFactory,
    EvaluationFactory,
    GeneratedPairFactory,
    MembershipFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
)
from tests.integration.annotation.crowd import CARELESS, STEADY, crowd_judge
from tests.integration.annotation.test_machines import machine_judge
from tests.integration.mlworkers.test_augmentation_pages import comparison as augmentations_compared
from tests.integration.mlworkers.test_augmentation_pages import profiled
from tests.integration.mlworkers.test_context_curve_pages import measured as curves_measured
from tests.integration.mlworkers.test_paraphrase_pages import labelled
from tests.integration.mlworkers.test_pre_fine_tuning_pages import comparison as pre_fine_tunings_compared
from tests.integration.mlworkers.test_requested_pages import requested
from tests.integration.mlworkers.test_round_trip_pages import labelled as round_trip_labels
from tests.integration.mlworkers.test_round_trip_pages import translated
from tests.scored_contexts import scored_run

pytestmark = pytest.mark.browser
Screens = list[tuple[int, str]]  # widths and colours
# A page is asked for once and looked at on both. Colours do not cut anything off, and hardly anything is paler on a
# narrow page. Axe takes longer than all else.
ON_SCREENS = pytest.mark.parametrize(
    ("screens", "with_axe"),
    [
        pytest.param([(390, "dark"), (1280, "light")], False, id="narrow and dark, wide and light"),
        pytest.param(
            [(390, "light"), (1280, "dark")], True, id="the other way, with axe", marks=pytest.mark.exhaustive
        ),
    ],
)
LONG_NAME = "annotator-of-the-second-week-with-a-long-name"
FIGURES = {"spearman": 0.845, "low": 0.826, "high": 0.862, "sd": 0.002}
DIFFERENCE = {
    "difference": 0.012, "difference_low": 0.003, "difference_high": 0.021, "difference_sd": 0.004,
    "p": 0.004, "p_holm": 0.024,
}  # fmt: skip

# What ends beyond the place it stands in, which would hide it or move it out of sight.
CUT = """() => {
    const shown = (part) => part.checkVisibility({visibilityProperty: true}) && !part.closest(".visually-hidden");
    const beyond = (part) => {
        const place = part.parentElement.closest(".table-wrap, .chart, .panel, main, body").getBoundingClientRect();
        const {left, right, width} = part.getBoundingClientRect();
        return width > 0 && (right > place.right + 1 || left < place.left - 1);
    };
    const scrolls = (part) => part.clientWidth > 0 && part.scrollWidth > part.clientWidth + 1;
    const say = (part) => [part.tagName, part.getAttribute("class"), part.textContent.trim().slice(0, 40)].join(" ");
    const parts = "main :is(table, th, td, svg, svg text, a, button, input, select, .tag, .interval)";
    return [
        ...[...document.querySelectorAll(parts)].filter(shown).filter(beyond),
        ...[...document.querySelectorAll(".table-wrap, figure, .tabs")].filter(shown).filter(scrolls),
    ].map(say);
}"""

# Text that is too pale for what lies behind it: below 4.5:1, of large text below 3:1 (WCAG 2.2, 1.4.3).
PALE = """() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const over = (colour, [r, g, b]) => {
        canvas.fillStyle = `rgb(${r} ${g} ${b})`;
        canvas.fillRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const behind = (part) => {
        const parts = [];
        for (let one = part; one; one = one.parentElement) parts.unshift(getComputedStyle(one).backgroundColor);
        return parts.reduce((below, colour) => over(colour, below), [255, 255, 255]);
    };
    const light = (colour) => {
        const [r, g, b] = colour.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const says = (part) => [...part.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    return [...document.querySelectorAll("body *")]
        .filter((part) => says(part) && part.checkVisibility({visibilityProperty: true}))
        .filter((part) => !part.closest("svg, .visually-hidden, .skip-link, :disabled, .unavailable"))
        .map((part) => {
            const style = getComputedStyle(part), back = behind(part), size = parseFloat(style.fontSize);
            const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
            return [part, ratio(light(over(style.color, back)), light(back)), large ? 3 : 4.5];
        })
        .filter(([, found, needed]) => found < needed)
        .map(([part, found]) => `too pale, ${found.toFixed(1)}: ${part.textContent.trim().slice(0, 40)}`);
}"""


def estimate(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.0125, "high": value + 0.0125}


def cross_validated() -> dict:
    """The result of a run with three protocols, six methods, two seeds and eight sources with long names."""
    sources = [f"headlines of the {number}th year" for number in range(8)]
    methods = ("dice", "static", "mean", "max", "cls", "fine-tuned")

    def method(name: str, value: float) -> dict:
        one = {"pairs": 6_172, "sd": 0.0125, **estimate(value)}
        figures = {
            "mean": one,
            "pooled": one,
            "by_fold": {"1": one, "2": one},
            "by_source": dict.fromkeys(sources, one),
        }
        return {"method": name, **figures, "unseen": figures}

    return {
        "pairs": 12_345,
        "protocols": [
            {
                "protocol": protocol,
                "folds": [{"fold": name, "pairs": 6_172, "leakage": 0.2} for name in ("1", "2")],
                "leakage": 0.2,
                "unseen_pairs": 9_876,
                "methods": [method(name, 0.5 + place / 16) for place, name in enumerate(methods)],
            }
            for protocol in ("random", "components", "sources")
        ],
        "sources": [{"source": name, "pairs": 1_543, "mean": 0.5, "deviation": 0.25} for name in sources],
        "trainings": [
            {
                "protocol": "components",
                "fold": "1",
                "seed": 42,
                "epochs": 2,
                "dev": [{"epochs": 2, "spearman": 0.8}, {"epochs": 4, "spearman": 0.7}],
                "training_pairs": 6_172,
            }
        ],
        "seeds": [42, 43],
        "seen_before": 1_234,
        "training_data": "12,345 sentences are known; not known of packaged:all-MiniLM-L6-v2",
        "ceiling": 0.875,
        "ceiling_source": "split-half reliability",
        "warnings": ["The protocol sources was left out."],
    }


def related() -> dict:
    """The result of an analysis with every feature; only Dice has nothing beside it to be compared with."""
    questions = dict.fromkeys(PAPER, "Q3a") | {name: "Q3b" for name in PAPER if name.endswith(" group")}
    questions |= {DICE: "Q1", ALL: "Q2", SUBJECTS: "Q4", OBJECTS: "Q4"}
    features = [
        {
            "name": name,
            "question": question,
            "pairs": 12_345,
            "without_vector": 0 if name == DICE else 678,
            "own": estimate(PAPER[name]),
            "overlap": estimate(PAPER[name]),
            "partial": None if name == DICE else estimate(PAPER[name] / 2),
            "common": estimate(PAPER[name]) if question != "Q3a" else None,
        }
        for name, question in questions.items()
    ]
    regressed = [{"name": name, "estimate": estimate(0.25), "inflation": 1.875} for name in (DICE, ALL)]
    regression = {"explained": estimate(0.5), "by_overlap": estimate(0.25), "coefficients": regressed}
    return {
        "pairs": 12_345,
        "common_pairs": 9_876,
        "features": features,
        "regression": [regression],
        "warnings": ["No spaCy pipeline was named, so parts of speech were left out."],
    }


def worded() -> dict:
    """The result of a linguistic analysis: all generated pairs, and those of one target similarity."""
    figures = {name: estimate(0.375) for name in MEASURES}
    group = {"pairs": 12_345, "sentences": 24_690, "tokens": 345_678, "figures": figures,
             "at_own_size": dict.fromkeys(DIVERSITY, 0.125)}  # fmt: skip
    groups = [
        {"group": name, "differences": {} if name == Group.HUMAN else figures, **group} for name in Group
    ]
    return {"families": [{"target": target, "budget": 98_765, "groups": groups} for target in (None, 0.5)]}


@pytest.fixture
def changed(dataset):
    """A later snapshot that differs, and a search for duplicates that found some."""
    first, *others = dataset.pairs.all()[:4]
    snapshot_create(dataset=dataset)
    for pair in others:
        PairFactory(
            dataset=dataset, a=pair.b, b=pair.a, source="a-source-with-a-long-name", split="development"
        )
    edit_apply(dataset=dataset, edit=Edit("split", "development", pairs=(first.pk,)), by=None)
    snapshot_create(dataset=dataset)
    return search_ask(dataset=dataset, against=[], threshold=0.8, by=None)


@pytest.fixture
def campaign(dataset):
    """A campaign with everything its dashboard can show."""
    people = {"anna": STEADY, "ben": STEADY, LONG_NAME: STEADY, "eve": CARELESS}
    campaign = crowd_judge(dataset, people=people, required=5)
    campaign.repeat_every = 10
    campaign.save()
    eve = campaign.participations.get(user__username="eve")
    eve.gold_trials, eve.gold_right = 20, 9
    eve.save()
    participation_stop(
        participation=eve, reason="Of 20 answers whose best and worst were known, 9 were right.", exclude=True
    )
    question_add(
        campaign=campaign, text="> A: a\n\nRelated?", options=Options(("yes " * 40, "no"), 0), why="w " * 60
    )
    norming_discussed(campaign)
    norming_start(campaign=campaign, people=3, drawn=2)
    slider_rated(campaign)
    tuples_reserve(campaign=campaign, number=60)
    machine_judge(campaign, run=1, noise=0.4, silent=1)
    skipped = campaign.tuples.first()
    person = campaign.participations.first()
    Flag.objects.create(
        tuple=skipped,
        participation=person,
        kind="skip",
        reason="other",
        note="w " * 60,
        created_at=timezone.now(),
    )
    return campaign


@pytest.fixture
def runs(dataset):
    """A training with its curve, a comparison, and a worker."""
    WorkerHeartbeat.objects.create(name="gpu@host/1", queues=["gpu"], seen_at=timezone.now())
    plan = {
        "dataset": dataset.slug,
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "weighting": "realism",
    }
    encoder = ArtifactFactory(run__dataset=dataset, run__plan=plan, card={"label": "realism", "seed": 13})
    for step in range(1, 40):
        Curve(encoder.run_id).write(step * 25, loss=1 / step, dev=1 - 1 / (step + 1))
    labels = ("base", "plain", "filter", "random", "realism", "shuffle", "constant")
    result = {
        "encoders": dict.fromkeys(labels, FIGURES),
        "from_plain": {label: DIFFERENCE for label in labels if label != "plain"},
        "from_shuffle": {"realism": DIFFERENCE},
        "effective_pairs": dict.fromkeys(labels[1:], 1234.5),
        "pairs": 420, "training_pairs": 12_345, "seeds": [13, 14, 15, 16, 17], "unscored_as_human": 12,
    }  # fmt: skip
    comparison = RunFactory(
        kind="compare_weightings", dataset=dataset, state="succeeded", result=result, plan=plan
    )
    for run in (encoder.run, comparison):
        EvaluationFactory(run=run, artifact=encoder, suite="scenes, gold, test", label="realism")
    return encoder, comparison


def slider_rated(campaign: Campaign) -> None:
    """A slider arm in which three people rated every pair, the scale with long words."""
    long = "not related to each other at all, not even"[:40]
    arm = slider_start(
        campaign=campaign,
        question="How close? " * 20,
        low_label=long,
        high_label="w" * 40,
        ratings_per_pair=3,
    )
    users = [MembershipFactory(dataset=campaign.dataset, user__username=f"rater{n}").user for n in range(3)]
    people = raters_add(arm=arm, chosen=[user.pk for user in users])
    at = timezone.now()
    for person in people:
        for item in arm.pairs.order_by("pair"):
            at += timedelta(seconds=6)
            value = (7 * item.pair_id + person.pk) % 101
            rating_submit(person=person, item=item, value=value, client_id=uuid4(), at=at)


def norming_discussed(campaign: Campaign) -> None:
    """A norming session that three people judged twice, with a long comment."""
    session = norming_start(campaign=campaign, people=3, drawn=2)
    people = list(campaign.participations.exclude(state="stopped").order_by("pk")[:3])
    for number in (1, 2):
        for row, person in product(session.tuples.all(), people):
            chosen = {"best": 0, "worst": 1, "client_id": uuid4(), "at": timezone.now()}
            norming_submit(person=person, row=row, number=number, **chosen)
    norming_comment(
        person=people[0], row=session.tuples.first(), text="w" * 80 + " why " * 40, at=timezone.now()
    )
    norming_close(session=session, at=timezone.now())


IMPORTED = (
    "sentence1,sentence2,score,split\n"
    f"A dog runs.,A dog is running {'w' * 60}.,4.5,train\n"
    f"A cat sleeps.,{'A cat is asleep and nobody knows why. ' * 8},0.5,test\n"
    ",Nothing before this.,3,train\n"
)


@pytest.fixture
def imports(dataset, owner) -> list[str]:
    """The addresses of an upload, of one that was checked, and of two that were imported: new pairs, and changes."""
    guessed = Columns(a="sentence1", b="sentence2", score="score", split="split")
    steps = []
    for text, apply in [(IMPORTED, True), (IMPORTED.replace("train", "dev"), True), (IMPORTED, False)]:
        file = ContentFile(text.encode(), "pairs-of-the-second-week-with-a-long-name.csv")
        batch = import_upload(dataset=dataset, files=[file], by=owner)
        import_check(batch=batch, options=ImportOptions(columns=guessed, scale=(0, 5)))
        if apply:
            import_apply(batch=batch, by=owner)
        steps.append(batch.pk)
    many = ",".join(f"column {number}" for number in range(8))
    file = ContentFile(f"{many}\n{'A sentence.,' * 7}1\n".encode(), "many.csv")
    steps.append(import_upload(dataset=dataset, files=[file], by=owner).pk)
    return [f"/datasets/{dataset.slug}/import/{pk}/" for pk in steps]


def selected() -> dict[str, object]:
    """A selection in which some cells have too few."""
    bounds = TagBounds()
    cells = [
        (split, sim.name, lexical.name, 92_600, 95_000, 95_000 - 700 * place)
        for split in ("train", "dev", "test")
        for sim in bounds.similarity
        for place, lexical in enumerate(bounds.lexical)
    ]
    return {"cells": cells, "labels_from": "STS-B", "tags": bounds.as_dict()}


@pytest.fixture
def addresses(dataset, campaign, runs, changed, imports) -> list[str]:
    scored = ScoreSetFactory(dataset=dataset, name="people: Relatedness of the first campaign, counting")
    for number, pair in enumerate(dataset.pairs.all()):
        PairScore.objects.create(score_set=scored, pair=pair, value=number / 40)
    generated = GeneratedPairFactory(dataset=dataset, p_d=0.2, intended=0.5)
    encoder, comparison = runs
    person = campaign.participations.get(user__username="eve")
    parts = [
        "",
        "analysis/",
        "machines/",
        "publish/",
        "guidelines/",
        "guidelines/examples/",
        "norming/",
        "norming/1/",
        "norming/2/",
        "norming/2/judge/",
        "slider/",
        "slider/comparison/",
        "quiz/",
        "judge/quiz/",
        "scores/",
        "design/",
        "gold/",
        "gold/suggest/",
        "gold/new/",
        "crowd/",
        "inbox/",
        "judgements/",
        "grow/",
        "spend/",
        f"annotators/{person.pk}/",
    ]
    folds = RunFactory(
        kind="cross_validate_encoder", dataset=dataset, state="succeeded", result=cross_validated()
    )
    of_scorer = {
        f"{name}{ending}": 0.8 - 0.0125 * sign
        for name in ("difference", "pearson", "spearman")
        for ending, sign in (("", 0), ("_low", 1), ("_high", -1))
    }
    measures = RunFactory(
        kind="compare_scorers",
        dataset=dataset,
        state="succeeded",
        result={"scorers": [{"scorer": f"bertscore:packaged:{n}", **of_scorer} for n in range(3)]},
    )
    relatedness, language = (
        RunFactory(kind=kind, dataset=dataset, state="succeeded", result=result)
        for kind, result in (("analyse_relatedness", related()), ("analyse_language", worded()))
    )
    selection = RunFactory(kind="select_paraphrases", dataset=dataset, state="succeeded", result=selected())
    paraphrases, corpora = augmentations_compared(dataset), profiled(dataset)
    candidates = translated(dataset)
    round_trip_labels(candidates)
    contexts = scored_run(dataset)
    of_contexts = PairScore.objects.filter(score_set__run_ref=contexts.pk).earliest("pk").pair_id
    for number, score in enumerate(PairScore.objects.filter(score_set__parameters__label="contexts-raw")):
        PairScore.objects.create(score_set=scored, pair=score.pair, value=number / 20)
    candidates_draw(run=candidates, most=2)
    snapshot = snapshot_create(dataset=dataset)
    of_dataset = [
        "",
        "?columns=source,origin,overlap,words,nonsense",
        "?search=nothing+has+these+words",
        "compose/",
        "compose/pairs/",
        "splits/",
        "score-sets/",
        "settings/",
        f"pairs/{generated.pk}/",
        "members/",
        "invitations/",
        "webhooks/",
        "snapshots/",
        "snapshots/1/?since=2",
        "snapshots/2/?since=1",
        "duplicates/?threshold=0.8",
        "publish/",
        "export/",
        "import/",
        "log/",
        "edits/",
        "search/",
        "running-text/",
    ]
    similarity = ScoreSetFactory(dataset=dataset, name="run 31: similarity", kind="model", low=0, high=100)
    for number, pair in enumerate(dataset.pairs.all()):
        PairScore.objects.create(score_set=similarity, pair=pair, value=60 + number % 40)
    return [
        *(f"/campaigns/{campaign.pk}/{part}" for part in parts),
        *(f"/datasets/{dataset.slug}/{part}" for part in of_dataset),
        *(
            "/judge/",
            "/judge/data/",
            "/campaigns/",
            "/datasets/",
            "/runs/",
            "/models/",
            "/compare/",
            f"/compare/paraphrases/{paraphrases.pk}/",
            f"/compare/pre-fine-tuning/{pre_fine_tunings_compared(dataset).pk}/",
            f"/corpora/{corpora.pk}/",
            "/review/",
            f"/review/{dataset.slug}/",
        ),
        *(f"/runs/{encoder.run_id}/", f"/runs/{comparison.pk}/", f"/compare/{comparison.pk}/"),
        f"/models/{encoder.pk}/",
        f"/cross-validation/{folds.pk}/",
        f"/paraphrases/{dataset.slug}/?first={similarity.pk}&second={scored.pk}",
        f"/requested/{requested(dataset).pk}/",
        f"/paraphrases/?labels={labelled(dataset, 32)[0].pk}&by=origin",
        f"/selections/{selection.pk}/",
        f"/contexts/{contexts.pk}/?scores={scored.pk}",
        f"/contexts/{contexts.pk}/pairs/{of_contexts}/",
        *(f"/round-trips/{candidates.pk}/{part}" for part in ("", "ratings/", "rate/")),
        f"/context-curves/{curves_measured(dataset).pk}/",
        f"/relatedness/{relatedness.pk}/",
        f"/language/{language.pk}/",
        *(f"/runs/{run.pk}/" for run in (folds, measures)),
        f"/datasets/{dataset.slug}/publish/{snapshot.number}/methods/",
        "/runs/start/cross_validate_encoder/?dataset=" + dataset.slug,
        "/accounts/tokens/",
        "/accounts/sessions/",
        "/accounts/second-factor/",
        *imports,
    ]


def unfolded(page: Page) -> None:
    page.evaluate("document.querySelectorAll('main details').forEach((part) => (part.open = true))")


@pytest.mark.exhaustive
@ON_SCREENS
def test_no_table_chart_or_control_is_cut_off_and_no_text_too_pale(
    open_as, owner, addresses, screens: Screens, with_axe: bool
) -> None:
    assert cut_on(open_as(owner), addresses, screens, with_axe=with_axe) == {}


@ON_SCREENS
def test_nothing_is_cut_off_on_pages_of_staff(
    open_as, staff, workers, screens: Screens, with_axe: bool
) -> None:
    assert cut_on(open_as(staff), workers, screens, with_axe=with_axe) == {}


@pytest.fixture
def workers(dataset) -> list[str]:
    """The page of workers in every state, and that of a run that others go before."""
    at = timezone.now()
    device = {
        "device": "NVIDIA H100 80GB HBM3",
        "devices": 8,
        "version": "0.1.0",
        "started_at": at,
        "seen_at": at,
    }
    held = RunFactory(
        kind="train_encoder",
        dataset=dataset,
        queue="gpu",
        state="running",
        worker=f"gpu@{'node-' * 8}7",
        heartbeat_at=timezone.now() + timedelta(seconds=4),
        claimed_at=at,
    )
    search = {
        "task": "curation.duplicates",
        "about": DuplicateSearch.objects.create(dataset=dataset, threshold=0.8).pk,
        "seconds": 75,
    }
    for name, about in {
        f"{held.worker}/12345": {"queues": ["gpu"], "work": [{**search, "task": "mlworkers.execute"}]},
        "default@host/1": {"queues": ["default"], "work": [search], "drain_at": at},
        "playground-default-gpu@host/2": {
            "queues": ["playground", "default"],
            "drain_at": at,
            "is_closed": True,
        },
        "gpu@host/3": {"queues": ["gpu"], "seen_at": at - timedelta(minutes=4)},
    }.items():
        WorkerHeartbeat.objects.create(name=name, **{**device, **about})
    waiting = RunFactory.create_batch(2, dataset=dataset)[1]
    return ["/runs/workers/", f"/runs/{waiting.pk}/"]


def cut_on(page: Page, addresses: list[str], screens: Screens, *, with_axe: bool) -> dict[str, list[str]]:
    """What is wrong on each of the pages."""
    cut: dict[str, list[str]] = {}
    for address in addresses:
        answer = page.goto(address)
        if answer is None or answer.status >= 500:
            cut[address] = ["the page failed"]
            continue
        unfolded(page)
        for width, colours in screens:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=colours, reduced_motion="reduce")
            found = [*page.evaluate(CUT), *page.evaluate(PALE)][:5]
            if pixels := sideways_overflow(page):
                found.append(f"the page scrolls by {pixels} pixels")
            if with_axe:
                found.extend(axe_findings(page))
            if found:
                cut.setdefault(address, []).extend(f"{width} {colours}: {what}" for what in found)
    return cut


def test_what_one_does_with_an_annotator_stands_with_their_name(owner_page: Page, campaign) -> None:
    owner_page.goto(f"/campaigns/{campaign.pk}/")

    names = owner_page.get_by_role("region", name="Annotators").get_by_role("rowheader")
    assert names.get_by_role("link", name=f"Stop {LONG_NAME}").is_visible()
    assert names.get_by_role("button", name="Reinstate eve").is_visible()


def test_the_labels_of_a_chart_can_be_read_on_a_telephone(open_as, owner, campaign) -> None:
    page = open_as(owner, width=390)
    page.goto(f"/campaigns/{campaign.pk}/analysis/")

    heights = page.evaluate("""() => [...document.querySelectorAll(".chart svg text")].map((text) => {
        const svg = text.ownerSVGElement;
        return parseFloat(getComputedStyle(text).fontSize) * svg.clientWidth / svg.viewBox.baseVal.width;
    })""")
    assert len(heights) > 20
    assert min(heights) >= 9.5
