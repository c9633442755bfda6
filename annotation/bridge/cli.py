"""Raters and their accounts in Label Studio."""

from __future__ import annotations

from typing import Annotated

import typer

from faultatlas.report.old.command import old_command
from faultatlas.report.old.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")]
UrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="An existing server, with your token in LABEL_STUDIO_API_KEY; not the study's own.",
    ),
]


@old_command("serve")
def serve(
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Port on this machine.", show_default="the last one, or 8080"
        ),
    ] = None,
    own_server: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RATER",
            help="A server for this rater alone (strict blindness); repeated: one for each.",
        ),
    ] = None,
    own_servers: Annotated[
        str | None,
        typer.Option(metavar="ROUND", help="A server for each rater of this round."),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where raters reach it: the https address of your reverse proxy. It is "
            "remembered; '' forgets it.",
        ),
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Return when it runs; end it with --stop.")
    ] = False,
    stop: Annotated[bool, typer.Option("--stop", help="End the servers of this study.")] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Start the study's own Label Studio on this machine, until Ctrl-C.

    The first start installs Label Studio into an environment of its own in your cache folder
    (1 GB, needs the network once); later starts take seconds. It listens on the loopback
    interface only, and its data, accounts and secrets are in `label-studio/` of the study.

    Examples:

        annotation serve

        annotation serve --own-servers pilot --port 8100

        annotation serve --stop
    """
    from faultatlas.annotation.bridge import commands as bridge
    from faultatlas.annotation.bridge import serving, view

    output = Output(as_json, quiet, verbose)
    if stop:
        stopped = bridge.stop_servers(study)
        output.document({"stopped": stopped})
        output.show(view.stopped_line(stopped))
        return
    every = [
        *(own_server or ()),
        *(bridge.raters_of_round(study, own_servers) if own_servers else ()),
    ]
    started = bridge.start_servers(
        study, output, port=port, raters=list(dict.fromkeys(every)), public_url=public_url
    )
    document = bridge.serve_document(started)
    output.document(document)
    view.print_lines(output, view.serve_lines(document, detached=detach))
    if not detach:
        serving.watch(started)
        output.tell("Label Studio has ended")


@old_command("rater add")
def add_rater(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the study calls the rater.")],
    email: Annotated[
        str | None,
        typer.Option(
            help="Login of the account; an account that the server has becomes the rater's."
        ),
    ] = None,
    url: UrlOption = None,
    invite: Annotated[
        bool, typer.Option("--invite", help="Make no account, but a link to sign up with.")
    ] = False,
    new_password: Annotated[
        bool,
        typer.Option(
            "--new-password", help="Also if there is an account (on the study's own server)."
        ),
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Make a rater known, with an account on the server, and print the login once.

    Without --url it is the study's own server, if it runs. A rater needs only a browser: the
    address of the server, the account and the password.

    Examples:

        annotation rater add ana

        annotation rater add ben --email ben@example.org --url https://labels.example.org

        annotation rater add eva --invite
    """
    from faultatlas.annotation.bridge import commands as bridge
    from faultatlas.annotation.bridge import view

    output = Output(as_json, quiet, verbose)
    added = bridge.add_rater(
        open_study(study, output), name, output, email=email, url=url, invite=invite,
        renew=new_password,
    )  # fmt: skip
    output.document(view.added_document(name, added))
    # The link and the password are what this command is for: they are not masked.
    view.print_lines(output, view.added_lines(name, added, url), may_show_secrets=True)


@old_command("rater list")
def list_raters(
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """List the raters with their accounts and how much they have labelled.

    Example:

        annotation rater list
    """
    from faultatlas.annotation.bridge import view
    from faultatlas.annotation.bridge.accounts import list_raters as found_raters
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    with open_study(study, output).reading() as reader:
        found = found_raters(reader)
    output.document({"raters": found})
    output.show(console_table(view.raters_table(found)))


@old_command("push")
def push(
    round_name: RoundArgument,
    rater: Annotated[
        list[str] | None,
        typer.Option(metavar="RATER", help="Only for this rater; repeated: for these."),
    ] = None,
    url: UrlOption = None,
    own_servers: Annotated[
        bool, typer.Option("--own-servers", help="To each rater's own server (strict blindness).")
    ] = False,
    version: Annotated[
        str,
        typer.Option(
            metavar="V", help="What is to be labelled again in this version of the taxonomy."
        ),
    ] = "",
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Make deleted projects anew; send removed tasks again; put changed pages back; "
            "move projects from another server, whose labels are pulled first.",
        ),
    ] = False,
    abandon: Annotated[
        bool,
        typer.Option(
            "--abandon", help="With --again: leave the other server although it cannot be pulled."
        ),
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would be sent; ask no server.")
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Send a round to Label Studio: a project for each rater, in the rater's own order.

    It can be repeated and interrupted at any point: what is there is found, nothing is doubled.
    Items that were added since are sent. A task whose artifact has changed is updated, unless a
    rater of the round has labelled the item: then all raters get the text that was labelled.

    Examples:

        annotation push pilot

        annotation push pilot --url https://labels.example.org --rater ana

        annotation push pilot --version 2.0.0
    """
    from faultatlas.annotation.bridge import commands as bridge
    from faultatlas.annotation.bridge import view
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    if plan:
        planned = bridge.plan_round(opened, round_name, rater or (), version)
        output.document(planned)
        output.show(console_table(view.plan_table(planned)))
        return
    found = bridge.push_round(
        opened, round_name, output, url=url, raters=rater or (), own=own_servers, again=again,
        version=version, abandon=abandon,
    )  # fmt: skip
    output.document(found)
    output.show(console_table(view.pushed_table(found)))
    view.print_lines(output, view.address_lines(found))
    output.end(view.remarks(found), is_whole=found["complete"])


@old_command("pull")
def pull(
    round_name: RoundArgument,
    rater: Annotated[
        str | None, typer.Option(metavar="RATER", help="Only the labels of this rater.")
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Bring the labels of a round back from Label Studio, of all stages.

    Every label is checked: the rater's own, with codes of the taxonomy. What is not is named and
    left on the server, and the exit code is 1; all else is stored. It can be repeated and
    interrupted at any point. A changed label is a new answer; the one before is kept.

    Example:

        annotation pull pilot
    """
    from faultatlas.annotation.bridge import commands as bridge
    from faultatlas.annotation.bridge import view
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    found = bridge.pull_round(open_study(study, output), round_name, output, rater=rater)
    output.document(found)
    output.show(console_table(view.pulled_table(found), with_aside=verbose))
    output.end(view.remarks(found), is_whole=found["complete"])
