"""Looking into the tables. Judgements and leases change by their verbs alone, so they are read here."""

from functools import partial

from annotation.models import (
    Campaign,
    Crowd,
    Flag,
    Guideline,
    Judgement,
    JudgementRevision,
    Lease,
    Participation,
    Tuple,
)
from curation.admin import looked_at

looked = partial(looked_at, list_per_page=100)
# Judgements deleted here would leave the counters of tuples untrue.
looked(Campaign, "name dataset state created_at", filters="state", search="name dataset__name")
looked(
    Tuple, "campaign number is_gold repeats_id phase round required collected leased", filters="is_gold phase"
)
looked(
    Participation, "campaign user state excluded rates gold_right gold_trials", filters="state excluded rates"
)
looked(Guideline, "campaign version created_at")
looked(Lease, "tuple_id participation_id state turn expires_at", filters="state")
looked(Judgement, "tuple_id participation_id best_slot worst_slot status submitted_at", filters="status")
looked(JudgementRevision, "tuple_id participation_id revised_at")
# Who a crowd's people are stays on the crowd's own pages.
looked(Crowd, "campaign is_open screens places")
looked(Flag, "tuple_id participation_id kind reason created_at resolved_at", filters="kind reason")
