"""Builds the connection to forges from the operator's file."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.composition.tools import Tools
from app.db.engine import Sessions
from app.forges.github import GitHub
from app.forges.github_polling import GitHubPolling
from app.forges.github_reviews import GitHubReviews
from app.forges.gitlab import GitLab
from app.forges.gitlab_polling import GitLabPolling
from app.forges.gitlab_reviews import GitLabReviews
from app.forges.operator_file import ForgeEntry, ForgesFile
from app.forges.polling import PollForge
from app.forges.repositories import Members
from app.forges.rest import ReadToken, forge_client
from app.forges.reviews import ReviewForge
from app.schemas.forges import ForgeOrigin
from app.schemas.workspaces import GitSource, WorkspaceSource
from app.services.backlog.items import BacklogService
from app.services.chores.schedule import Chore
from app.services.control.cancelling import CancelService
from app.services.control.sprints import OriginOf, SprintService
from app.services.execute.trees import RunTrees
from app.services.forges.backlog_issues import BacklogIssueService
from app.services.forges.inbox import ForgeDeliveryChore, ForgeInbox
from app.services.forges.issues import IssueService
from app.services.forges.membership import MembershipChore
from app.services.forges.merge_queue import MergeQueue
from app.services.forges.merges import MergeChore
from app.services.forges.offers import OfferService
from app.services.forges.polls import PollChore
from app.services.forges.pushes import PushService
from app.services.forges.reports import ForgeReportService
from app.services.forges.returns import ReturnService
from app.services.forges.reviews import ReviewChore
from app.services.forges.rounds import RoundService
from app.services.forges.wishes import WishService
from app.services.read.runs import RunQueries
from app.services.review.escalations import EscalationService
from app.services.review.merging import MergeService
from app.services.review.rechecks import RecheckService
from app.services.review.results import ResultService

MEMBERSHIP_SECONDS = 5.0
REPORT_SECONDS = 2.0
DELIVERY_SECONDS = 1.0
POLL_SECONDS = 5.0
REVIEW_SECONDS = 2.0
MERGE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The services that forges need."""

    sessions: Sessions
    sprints: SprintService
    backlog: BacklogService
    queries: RunQueries
    results: ResultService
    merges: MergeService
    rechecks: RecheckService
    trees: RunTrees
    escalations: EscalationService
    cancels: CancelService


@dataclass(frozen=True, slots=True)
class ForgeServices:
    """The services of one process that use forges, and its worker's chores for them."""

    issues: IssueService
    backlog_issues: BacklogIssueService
    inbox: ForgeInbox
    chores: tuple[Chore, ...]


def origin_of(members: Members) -> OriginOf:
    """Return a function that finds the place of a source on a forge."""

    def find(source: WorkspaceSource) -> ForgeOrigin | None:
        member = members.of_url(source.url) if isinstance(source, GitSource) else None
        if member is None:
            return None
        return ForgeOrigin(forge=member.repository.forge, repository=member.repository.name)

    return find


def build_forges(tools: Tools, parts: Parts) -> ForgeServices:
    """Build the services that use forges; without repositories they have nothing to do."""
    file, credentials = tools.forges, tools.sources.credentials
    members, adapters = Members(file), _adapters(file, tools)
    issues = IssueService(parts.sprints, members, adapters)
    wishes = WishService(parts.sessions, members, adapters, issues, parts.escalations, parts.cancels)
    queue = MergeQueue(parts.sessions, parts.rechecks, parts.trees)
    rounds = RoundService(parts.sessions, parts.sprints, queue)
    reports = ForgeReportService(
        parts.sessions,
        members,
        adapters,
        parts.queries,
        parts.results,
        queue,
        OfferService(parts.sessions, parts.trees, parts.merges, tools.sources),
        ReturnService(parts.sessions, rounds),
    )
    followed = {name: _reviews(file.forges[name], adapter, tools) for name, adapter in adapters.items()}
    pushes = PushService(parts.sessions, parts.results, parts.trees, parts.rechecks, tools.sources)
    reviews = ReviewChore(parts.sessions, members, adapters, followed, rounds, pushes)
    merges = MergeChore(parts.sessions, members, adapters, parts.trees, tools.sources)
    polls = PollChore(
        parts.sessions, members, {name: _polling(file.forges[name], tools) for name in adapters}
    )
    chores = (
        Chore("forge repositories", MEMBERSHIP_SECONDS, MembershipChore(parts.sessions, members)),
        Chore("forge reports", REPORT_SECONDS, reports),
        Chore("forge deliveries", DELIVERY_SECONDS, ForgeDeliveryChore(parts.sessions, wishes)),
        Chore("forge polls", POLL_SECONDS, polls),
        Chore("reviews", REVIEW_SECONDS, reviews),
        Chore("merges", MERGE_SECONDS, merges),
    )
    inbox = ForgeInbox(parts.sessions, file, credentials)
    backlog_issues = BacklogIssueService(parts.sessions, parts.backlog, members, adapters)
    return ForgeServices(issues, backlog_issues, inbox, chores if file.repositories else ())


def _adapters(file: ForgesFile, tools: Tools) -> Mapping[str, GitHub | GitLab]:
    return {name: _adapter(file, entry, tools) for name, entry in file.forges.items()}


def _adapter(file: ForgesFile, entry: ForgeEntry, tools: Tools) -> GitHub | GitLab:
    token = _token(entry, tools)
    match entry.kind:
        case "github":
            as_app = file.credentials[entry.credential].app is not None
            return GitHub(forge_client, entry.api, token, as_app=as_app)
        case "gitlab":
            return GitLab(forge_client, entry.api, token)


def _polling(entry: ForgeEntry, tools: Tools) -> PollForge:
    make = GitHubPolling if entry.kind == "github" else GitLabPolling
    return make(forge_client, entry.api, _token(entry, tools))


def _reviews(entry: ForgeEntry, adapter: GitHub | GitLab, tools: Tools) -> ReviewForge:
    if isinstance(adapter, GitHub):
        return GitHubReviews(forge_client, entry.api, _token(entry, tools), adapter)
    return GitLabReviews(forge_client, entry.api, _token(entry, tools), adapter)


def _token(entry: ForgeEntry, tools: Tools) -> ReadToken:
    async def read() -> str:
        return (await tools.sources.credentials.login(entry.credential, "forges.credential")).secret

    return read
