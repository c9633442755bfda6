"""A Label Studio server as push and pull need it, with its errors in the user's words.

Nothing is ever sent twice by itself: a lost answer may belong to a request that was carried out,
so that whoever sends again must look first. What the server says in an error is not repeated
whole: it holds a session cookie.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from ssl import SSLContext

_ONCE: Any = {"max_retries": 0}
_TIMEOUT_S = 120.0
_PAGE = 1000
_PAGE_OF_TEXTS = 100
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServerError(StudyError):
    """The server did not do what it was asked for."""


class GoneError(ServerError):
    """What was asked for is not there (any more)."""


class ChangedError(GoneError):
    """What was asked for is not what we made."""


@dataclass(frozen=True, slots=True)
class RemoteTask:
    """A task of a project: which item it shows, with which content."""

    task_id: int
    item_id: str | None  # None: nothing that we sent
    sent: str  # the content that it says it was sent with
    content: str  # what it has; empty unless asked for
    is_labelled: bool


@dataclass(frozen=True)
class RemoteProject:
    """A project, as far as we have made it."""

    description: str
    config: str


@dataclass(frozen=True)
class RemoteUser:
    """An account."""

    user_id: int
    email: str


@cache
def _certificates(*, trusts_environment: bool) -> SSLContext:
    """Whom to believe; all of them are read, so once for all servers."""
    import httpx

    return httpx.create_ssl_context(trust_env=trusts_environment)


class Remote:
    """A server with a token."""

    def __init__(
        self, name: str, url: str, token: str, public_url: str = "", *, is_own: bool = False
    ) -> None:
        import httpx

        self.name = name  # how the study's tables call it
        self.is_own = is_own  # the study's
        self.url = url.rstrip("/")
        self.public_url = public_url or self.url  # where raters reach it
        # No proxy stands between us and this machine.
        self.trusts_environment = urlsplit(url).hostname not in _LOOPBACK
        client = httpx.Client(
            timeout=_TIMEOUT_S,
            follow_redirects=True,
            trust_env=self.trusts_environment,
            verify=_certificates(trusts_environment=self.trusts_environment),
        )
        with self._asking("the token"):
            from label_studio_sdk import LabelStudio

            self._api: Any = LabelStudio(  # type: ignore[no-untyped-call]  # it ships few types
                base_url=self.url, api_key=token, httpx_client=client
            )
        self._http = client

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def me(self) -> RemoteUser:
        """Whose token it is."""
        with self._asking("who we are"):
            found = self._api.users.whoami(request_options=_ONCE)
        return RemoteUser(int(found.id or 0), str(found.email or ""))

    def users(self) -> list[RemoteUser]:
        """All accounts."""
        with self._asking("the list of users"):
            found = self._api.users.list(request_options=_ONCE)
        return [RemoteUser(int(user.id or 0), str(user.email or "")) for user in found]

    def invite_path(self) -> str:
        """The page where new raters sign up, with a token, below the server's address."""
        with self._asking("an invite link"):
            found = self._api.organizations.invites.get_invite_link(request_options=_ONCE)
        return str(found.invite_url)

    def projects(self) -> dict[int, str]:
        """The descriptions of all projects."""
        with self._asking("the list of projects"):
            found = self._api.projects.list(
                include="id,description", page_size=_PAGE, request_options=_ONCE
            )
            return {int(each.id or 0): str(each.description or "") for each in found}

    def project(self, project_id: int) -> RemoteProject:
        """One project."""
        with self._asking(f"project {project_id}"):
            found = self._api.projects.get(project_id, request_options=_ONCE)
        return RemoteProject(str(found.description or ""), str(found.label_config or ""))

    def put_page_back(self, project_id: int, *, description: str, config: str) -> None:
        """Give a project the page that we made for it."""
        with self._asking(f"the labelling page of project {project_id}"):
            self._api.projects.update(
                project_id, description=description, label_config=config, request_options=_ONCE
            )

    def create_project(self, *, title: str, description: str, config: str) -> int:
        """A new project."""
        with self._asking(f"a new project {title!r}"):
            made = self._api.projects.create(
                title=title,
                description=description,
                label_config=config,
                sampling="Sequential sampling",  # the rater's own order is that of the tasks
                show_skip_button=False,  # "unclear" is an answer, a skipped item is none
                show_collab_predictions=False,
                show_annotation_history=False,
                enable_empty_annotation=False,
                request_options=_ONCE,
            )
        return int(made.id or 0)

    def tasks(self, project_id: int, *, with_content: bool = False) -> list[RemoteTask]:
        """All tasks of a project, in their order; if asked for, with what they have now."""
        more = ",data" if with_content else ""
        with self._asking(f"the tasks of project {project_id}"):
            found = self._api.tasks.list(
                project=project_id,
                include=f"id,meta,total_annotations,cancelled_annotations{more}",
                page_size=_PAGE_OF_TEXTS if with_content else _PAGE,
                request_options=_ONCE,
            )
            tasks = [_task(each, with_content=with_content) for each in found]
        return sorted(tasks, key=lambda task: task.task_id)

    def task_data(self, task_id: int) -> dict[str, Any]:
        """What a task shows."""
        with self._asking(f"task {task_id}"):
            found = self._api.tasks.get(str(task_id), request_options=_ONCE)
        return dict(found.data or {})

    def import_tasks(self, project_id: int, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Send tasks, once."""
        with self._asking(f"tasks for project {project_id}"):
            self._api.projects.import_tasks(
                project_id, request=[dict(task) for task in tasks], request_options=_ONCE
            )

    def update_task(self, task_id: int, data: dict[str, Any], meta: dict[str, Any]) -> None:
        """Give a task new content."""
        with self._asking(f"task {task_id}"):
            self._api.tasks.update(str(task_id), data=data, meta=meta, request_options=_ONCE)

    def delete_task(self, task_id: int) -> None:
        """Remove a task."""
        with self._asking(f"task {task_id}"):
            self._api.tasks.delete(str(task_id), request_options=_ONCE)

    def labelled(self, project_id: int) -> list[dict[str, Any]]:
        """The tasks that somebody has labelled, with their annotations."""
        with self._asking(f"the labels of project {project_id}"):
            chunks = self._api.projects.exports.download_sync(
                project_id, export_type="JSON", request_options=_ONCE
            )
            text = b"".join(chunks)
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, list):
            raise ServerError(
                f"{self.url} sent no labels of project {project_id}, but something else",
                "Is it a Label Studio server, of the open-source edition?",
            )
        return found

    @contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        import httpx
        from label_studio_sdk.core.api_error import ApiError
        from pydantic import ValidationError

        try:
            yield
        except ApiError as error:
            raise self._refusal(error.status_code or 0, what) from None
        except httpx.TimeoutException:
            raise ServerError(
                f"{self.url} did not answer in {_TIMEOUT_S:.0f} s when asked for {what}",
                "Run this again: what has arrived is found there, nothing is doubled.",
            ) from None
        except httpx.TransportError:
            raise ServerError(
                f"{self.url} does not answer",
                "Start it (annotation serve), or check --url. Then run this again: what has "
                "arrived is found there, nothing is doubled.",
            ) from None
        except (httpx.InvalidURL, ValidationError, json.JSONDecodeError, UnicodeDecodeError):
            raise ServerError(
                f"{self.url} does not answer like Label Studio when asked for {what}",
                "Check --url: it is the address of the server's first page.",
            ) from None

    def _refusal(self, status: int, what: str) -> ServerError:
        if status in {401, 403} and self.is_own:
            return ServerError(
                f"{self.url} does not accept the token that the study has for it",
                "Somebody has reset it there. Start the server again, which sets it: "
                "annotation serve --stop, then annotation serve",
            )
        if status in {401, 403}:
            return ServerError(
                f"{self.url} does not accept the token",
                "Set LABEL_STUDIO_API_KEY to the access token of your account there "
                "(Account & Settings).",
            )
        if status == 404:
            return GoneError(f"{self.url} has no {what}")
        return ServerError(
            f"{self.url} refused {what} (HTTP {status})",
            "Run this again; if it stays so, the log of the server says more.",
        )


def in_one_line(error: StudyError) -> str:
    """What is wrong, and what to do."""
    return f"{error.message}. {error.hint}" if error.hint else f"{error.message}."


def _task(found: Any, *, with_content: bool) -> RemoteTask:
    from faultatlas.annotation.bridge.page.tasks import content_hash

    meta = found.meta if isinstance(found.meta, dict) else {}
    given = (found.total_annotations or 0) + (found.cancelled_annotations or 0)
    item = meta.get("item_id")
    return RemoteTask(
        task_id=int(found.id),
        item_id=item if isinstance(item, str) else None,
        sent=str(meta.get("content", "")),
        content=content_hash(found.data) if with_content else "",
        is_labelled=given > 0,
    )
