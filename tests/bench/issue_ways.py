"""Ways to get all issues with their comments: programs that `issue_peers` measures.

`python issue_ways.py WAY URL TOKEN` prints how many there are and a hash of their numbers and
ids. Perceval's runs in an environment that has nothing of ours.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator

OWNER, NAME = "example", "large"
Found = tuple[int, list[int]]  # an issue's number, and the ids of its comments


def _pygithub(url: str, token: str) -> Iterator[Found]:
    import github

    # Its default waits a quarter of a second after each request: that is not what is measured.
    client = github.Github(base_url=url, auth=github.Auth.Token(token), seconds_between_requests=0)
    for issue in client.get_repo(f"{OWNER}/{NAME}").get_issues(state="all"):
        comments = issue.get_comments() if issue.comments else []
        yield issue.number, [comment.id for comment in comments]


def _perceval(url: str, token: str) -> Iterator[Found]:
    from perceval.backends.core.github import GitHub

    backend = GitHub(owner=OWNER, repository=NAME, api_token=[token], base_url=url)
    for item in backend.fetch():
        data = item["data"]
        yield data["number"], [comment["id"] for comment in data.get("comments_data", [])]


_WAYS = {"pygithub": _pygithub, "perceval": _perceval}


def told(found: list[Found]) -> str:
    """The counts and a hash: the same for the same issues and comments."""
    whole = sorted((number, sorted(ids)) for number, ids in found)
    digest = hashlib.sha256(repr(whole).encode()).hexdigest()[:16]
    return f"{len(whole)} {sum(len(ids) for _number, ids in whole)} {digest}"


if __name__ == "__main__":
    print(told(list(_WAYS[sys.argv[1]](*sys.argv[2:]))))
