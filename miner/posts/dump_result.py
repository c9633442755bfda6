"""What reading a dump brought, for a reader and for a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from faultatlas.miner.posts.dump_tally import Tally
from faultatlas.report.formatting import counted

_SHOWN = 5


@dataclass(frozen=True)
class FileRead:
    """One file, for questions, answers or comments."""

    name: str
    position: int
    digest: str
    tally: Tally
    is_complete: bool
    turn: int
    was_resumed: bool = False
    was_known: bool = False
    broken: str = ""
    has_changed: bool = False

    def problem(self) -> str:
        """Why it is not complete: the cause, then what to do."""
        if self.is_complete:
            return ""
        if self.has_changed:
            return (
                f"{self.name} was changed while it was read; what was read is stored; run the "
                "same command again when the file is complete"
            )
        why = self.broken or "it is cut"
        return (
            f"{self.name} has no end, {why}: the rows before byte {self.position:,} are stored; "
            "run the same command with the complete file, and it goes on from there"
        )

    def damages(self) -> list[str]:
        """Rows that were left out, by where they are."""
        tally = self.tally
        if not tally.damaged:
            return []
        named = [f"byte {position:,} ({reason})" for position, reason in tally.named[:_SHOWN]]
        more = f", and {tally.damaged - len(named):,} more" if tally.damaged > len(named) else ""
        verb = "is" if tally.damaged == 1 else "are"
        rows = f"{counted(tally.damaged, 'row')} of {self.name} cannot be read and {verb} left out"
        return [f"{rows}: {', '.join(named)}{more}"]


@dataclass(frozen=True)
class DumpRead:
    """A dump: its posts, and its comments if there are any."""

    questions: FileRead
    answers: FileRead | None
    comments: FileRead | None
    takes_all: bool  # whether every question of the file was asked for
    tags: tuple[str, ...] = ()  # what was asked for, each by its name

    @property
    def files(self) -> list[FileRead]:
        """What was read, one after the other."""
        return [each for each in (self.questions, self.answers, self.comments) if each]

    @property
    def is_complete(self) -> bool:
        """Whether everything that was asked for is stored."""
        return not self.problems()

    @property
    def was_known(self) -> bool:
        """Whether nothing was read but to see that it was read before."""
        return all(each.was_known for each in self.files)

    @property
    def left_out(self) -> dict[str, int]:
        """Posts that are neither questions nor answers, by what they are."""
        kinds = self.questions.tally.kinds
        known = ("question", "answer", "unreadable")
        return {kind: count for kind, count in sorted(kinds.items()) if kind not in known}

    @property
    def unknown_tags(self) -> list[str]:
        """Tags that no question has; of a file that is cut nobody knows."""
        tally = self.questions.tally
        if not self.questions.is_complete or (tally.kept and not tally.tags):
            return []
        return [tag for tag in self.tags if tag not in tally.tags]

    @property
    def strays(self) -> int | None:
        """Answers to questions that are not in the file; None where that is not known."""
        if self.answers is None or not self.takes_all:
            return None
        tally = self.answers.tally
        return tally.kinds.get("answer", 0) - tally.kept - tally.damaged  # damaged answers

    def problems(self) -> list[str]:
        """What is missing, and what to do; the two readings of one file say it once."""
        found = [each.problem() for each in self.files]
        for each in self.files:
            found += each.damages()
        return list(dict.fromkeys(filter(None, found)))

    def words(self) -> str:
        """For a reader."""
        seen, kept = self.questions.tally, self.questions.tally.kept
        said = (
            f"{self.questions.name}: {counted(seen.rows, 'row')}, of them "
            f"{counted(seen.kinds.get('question', 0), 'question')}; kept "
            f"{counted(kept, 'question')} ({seen.accepted:,} with an accepted answer)"
        )
        said += f", {counted(self.answers.tally.kept, 'answer')}" if self.answers else ""
        said += f", {counted(self.comments.tally.kept, 'comment')}" if self.comments else ""
        out = [f"{count:,} {kind}" for kind, count in self.left_out.items()]
        if self.strays:
            out.append(f"{counted(self.strays, 'answer')} to questions that are not in the file")
        return f"{said}; left out: {', '.join(out)}" if out else said

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "complete": self.is_complete,
            "known": self.was_known,
            "resumed": any(each.was_resumed for each in self.files),
            "file": self.questions.name,
            "bytes": self.questions.position,
            "blake3": self.questions.digest,
            "rows": self.questions.tally.rows,
            "questions": self.questions.tally.kinds.get("question", 0),
            "questions_kept": self.questions.tally.kept,
            "accepted": self.questions.tally.accepted,
            "answers_kept": self.answers.tally.kept if self.answers else None,
            "answers_without_question": self.strays,
            "comments_kept": self.comments.tally.kept if self.comments else None,
            "left_out": self.left_out,
            "damaged": [
                {"file": each.name, "byte": position, "reason": reason}
                for each in self.files
                for position, reason in each.tally.named
            ],
            "problems": self.problems(),
        }
