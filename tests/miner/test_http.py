"""One exchange: a body is whole or the exchange is broken, and the reason says how."""

from __future__ import annotations

import gzip
import logging
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback.scripted import Entry, Reset, Scripted, Silence, answer, scripted

from faultatlas.data.errors import StudyError
from faultatlas.miner.http import Broken, Response, Transport, origin, relative_url

law = settings(max_examples=300)

TOKEN = "0123456789abcdef0123456789abcdef"  # noqa: S105  (made up)
API = "https://api.example.org/v3"
NOW = datetime(2026, 3, 4, 5, 6, 7)  # noqa: DTZ001  (as the study stores it: UTC, no zone)
DOCUMENT = b'{"title": "a document that is long enough to be cut in two"}'


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted() as served:
        yield served


@pytest.fixture
def transport() -> Iterator[Transport]:
    with closing(Transport(timeout_s=5, secret=None, in_url=False)) as made:
        yield made


def broken(transport: Transport, url: str) -> Broken:
    with pytest.raises(Broken) as error:
        transport.send("GET", f"{url}/repos?labels=bug", {})
    return error.value


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n", headers: str = "") -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    head = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n{headers}\r\n"
    return head.encode() + body + end


def zipped(data: bytes, **options: Any) -> bytes:
    return answer(body=data, headers={"Content-Encoding": "gzip"}, **options)


@pytest.mark.parametrize(
    "entry",
    [
        answer(body=DOCUMENT),
        zipped(gzip.compress(DOCUMENT)),
        chunked(DOCUMENT[:20], DOCUMENT[20:]),
        chunked(gzip.compress(DOCUMENT), headers="Content-Encoding: gzip\r\n"),
    ],
    ids=["plain", "gzip", "chunked", "chunked gzip"],
)
def test_a_whole_body_arrives(server: Scripted, transport: Transport, entry: bytes) -> None:
    server.answers(entry)
    found = transport.send("GET", server.url, {})
    assert (found.status, found.body) == (200, DOCUMENT)
    assert server.asked[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize(
    "entry",
    [
        answer(body=DOCUMENT[:30], length=len(DOCUMENT)),
        zipped(gzip.compress(DOCUMENT)[:30], length=len(gzip.compress(DOCUMENT))),
        zipped(gzip.compress(DOCUMENT)[:30]),
        zipped(gzip.compress(DOCUMENT)[:-9] + b"\x00" * 9),
        chunked(DOCUMENT[:30], end=b""),
        chunked(DOCUMENT[:30], end=b"ff\r\nabc"),
        chunked(gzip.compress(DOCUMENT)[:30], headers="Content-Encoding: gzip\r\n"),
        zipped(b"no gzip at all"),
        answer(body=DOCUMENT, headers={"Content-Encoding": "br"}),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=[
        "plain", "gzip", "gzip that claims to be whole", "gzip with a wrong checksum",
        "chunked", "in a chunk", "chunked gzip", "no gzip", "unknown coding", "odd chunk",
    ],
)  # fmt: skip
def test_a_part_of_a_body_is_no_body(server: Scripted, transport: Transport, entry: bytes) -> None:
    server.answers(entry)
    assert broken(transport, server.url).kind == "truncated"


def test_what_is_no_http(server: Scripted, transport: Transport) -> None:
    server.answers(b"220 mail.example.org ready\r\n\r\n")
    assert broken(transport, server.url).reason == "the answer is no HTTP"


def test_a_304_may_tell_the_length_of_what_it_does_not_send(
    server: Scripted, transport: Transport
) -> None:
    server.answers(answer(304, b"", {"ETag": '"abc"'}, length=500))
    assert transport.send("GET", server.url, {}).status == 304


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        (Reset(answer(body=DOCUMENT[:30], length=len(DOCUMENT))), "reset"),
        (Reset(b""), "reset"),
        (b"", "reset"),
        (Silence(), "timeout"),
    ],
    ids=["in mid-body", "before the answer", "closed without an answer", "silence"],
)
def test_a_lost_connection_is_told_by_its_kind(server: Scripted, entry: Entry, kind: str) -> None:
    server.answers(entry)
    with closing(Transport(timeout_s=0.1, secret=None, in_url=False)) as impatient:
        found = broken(impatient, server.url)
    assert found.kind == kind
    assert "127.0.0.1" not in found.reason


def test_a_port_without_server_refuses(transport: Transport) -> None:
    with scripted() as gone:
        pass
    assert broken(transport, gone.url).kind == "refused"


def test_a_name_that_nobody_knows(transport: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_arguments: Any, **_options: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert broken(transport, "http://api.example.org").kind == "dns"


def test_a_certificate_that_nobody_vouches_for(transport: Transport, tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_self_signed(tmp_path / "own.pem"))
    with scripted(answer(), tls=context) as server:
        found = broken(transport, server.url)
    assert (found.kind, found.reason) == ("tls", "its certificate is not trusted")
    assert server.asked == []


@pytest.mark.parametrize(("entry", "kind"), [(answer(400), "tls"), (b"", "reset")])
def test_no_tls_is_told_from_a_connection_that_was_lost(
    server: Scripted, transport: Transport, entry: bytes, kind: str
) -> None:
    server.answers(entry)
    assert broken(transport, server.url.replace("http:", "https:")).kind == kind


def test_a_proxy_in_the_way_is_named_without_its_password(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted() as gone:
        pass
    monkeypatch.setenv("http_proxy", gone.url.replace("//", "//jane:s3cret@"))
    found = broken(transport, "http://api.example.org")
    assert found.kind == "proxy"
    assert "s3cret" not in repr(found) + str(found)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_body_beyond_the_limit_is_not_read(
    server: Scripted, pack: Callable[[bytes], bytes]
) -> None:
    body = pack(b" " * 3_000_000)
    server.answers(answer(body=body, headers={"Content-Encoding": "gzip" * (pack is not bytes)}))
    with (
        closing(Transport(timeout_s=5, secret=None, in_url=False, limit=2 * 1024**2)) as careful,
        pytest.raises(StudyError, match="larger than 2 MB"),
    ):
        careful.send("GET", server.url, {})


def test_no_password_of_netrc_is_sent(
    server: Scripted, transport: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login jane password s3cret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    server.answers(answer())
    transport.send("GET", server.url, {})
    assert "authorization" not in server.asked[0].headers


def test_cookies_are_not_kept(server: Scripted, transport: Transport) -> None:
    server.answers(answer(headers={"Set-Cookie": "session=1"}), answer())
    transport.send("GET", server.url, {})
    transport.send("GET", server.url, {})
    assert "cookie" not in server.asked[1].headers


@pytest.fixture
def signing() -> Iterator[Transport]:
    with closing(Transport(timeout_s=5, secret=TOKEN, in_url=True)) as made:
        yield made


def test_a_token_in_the_url_reaches_the_server_and_no_log(
    server: Scripted, signing: Transport, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.answers(answer(), answer(), Reset(answer(length=9)))
    signing.send("GET", f"{server.url}/repos?labels=bug", {})
    signing.send("GET", f"{server.url}/user", {})
    failure = broken(signing, server.url)
    assert [asked.target for asked in server.asked] == [
        f"/repos?labels=bug&access_token={TOKEN}",
        f"/user?access_token={TOKEN}",
        f"/repos?labels=bug&access_token={TOKEN}",
    ]
    assert "GET /repos?labels=bug HTTP/1.1" in caplog.text  # the log was listening
    assert TOKEN not in caplog.text
    assert TOKEN not in _all_words(failure)


def test_a_token_in_the_url_is_in_no_error_of_the_libraries(signing: Transport) -> None:
    with scripted() as gone:
        pass
    assert TOKEN not in _all_words(broken(signing, gone.url))


def test_a_token_in_the_url_goes_through_a_proxy(
    server: Scripted, signing: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    server.answers(answer())
    signing.send("GET", "http://gitee.example.org/api/v5/user", {})
    assert server.asked[0].target == (f"http://gitee.example.org/api/v5/user?access_token={TOKEN}")


def test_a_token_that_the_server_repeats_is_masked(server: Scripted, signing: Transport) -> None:
    server.answers(answer(body=f'{{"you": "{TOKEN}"}}', headers={"X-You": TOKEN}))
    found = signing.send("GET", server.url, {})
    assert found.body == b'{"you": "***"}'
    assert found.headers["x-you"] == "***"


def response(body: bytes = b"{}", **headers: str) -> Response:
    return Response(200, "/issues", "/issues", headers, body, NOW, API)


@pytest.mark.parametrize(
    ("link", "following"),
    [
        (f'<{API}/x?page=2>; rel="next", <{API}/x?page=9>; rel="last"', "/x?page=2"),
        (f'<{API}/x?page=1>; rel="prev",<{API}/x?after=Y3Vy%3D%3D&q=;a,b>;rel=next',
         "/x?after=Y3Vy%3D%3D&q=;a,b"),
        (f'<{API}/x>; title="<odd"; rel="last", <{API}/y>; rel="prev NEXT"', "/y"),
        ("</v3/x?page=2>; rel=next", "/x?page=2"),
        (f"<{API.upper().replace('/V3', ':443/v3')}/x>; rel=next", "/x"),
        (f"<{API}/x?page=2&access_token={TOKEN}>; rel=next", "/x?page=2"),
        (f'<{API}/x?page=2>; rel="last"', None),
        (f"<{API}/x?page=2", None),
        (">;<;rel=next", None),
        (",,,;;;" * 5_000, None),
        ("<" * 50_000, None),
        ("", None),
    ],
)  # fmt: skip
def test_the_next_page_is_relative_to_the_api(link: str, following: str | None) -> None:
    assert response(link=link).next_url == following


FOREIGN = [
    "https://evil.example.org/v3/x",
    "http://api.example.org/v3/x",
    "https://api.example.org:8443/v3/x",
    "https://api.example.org@evil.example.org/v3/x",
    "https://api.example.org.evil.example.org/v3/x",
    "https://api.example.org\\@evil.example.org/v3/x",
    "https://api.example.org/login",
    "https://api.example.org/v33/x",
    "https://api.example.org/v3//evil.example.org/x",
    "https://api.example.org:99999/v3/x",
    "https://[::1/v3/x",
    "//evil.example.org/v3/x",
    "javascript:alert(1)",
    "x?page=2",
    "",
]


@pytest.mark.parametrize("url", FOREIGN)
def test_a_next_page_elsewhere_is_refused_not_taken_for_the_end(url: str) -> None:
    with pytest.raises(StudyError, match="outside of its API"):
        _ = response(link=f"<{url}>; rel=next").next_url


@law
@given(st.text(alphabet="/:@?#\\.[]%&=; \tapi.example.orgv3htps"))
def test_no_url_leads_out_of_the_api(url: str) -> None:
    try:
        found = relative_url(url, API)
    except StudyError:
        return
    assert origin(API + found) == origin(API)
    assert found.startswith("/")
    assert not found.startswith("//")


@pytest.mark.parametrize(
    ("headers", "last"),
    [
        ({"link": f'<{API}/x?page=2>; rel="next", <{API}/x?page=34>; rel="last"'}, 34),
        ({"link": f'<{API}/x?per_page=5&page=034>; rel="last"'}, 34),
        ({"link": f'<{API}/x?page=-1>; rel="last"'}, None),
        ({"link": f'<{API}/x?page=1e9>; rel="last"'}, None),
        ({"link": f'<{API}/x?page={"9" * 5_000}>; rel="last"'}, None),
        ({"link": '<https://[::1/x?page=3>; rel="last"'}, None),
        ({"link": f'<{API}/x?page=2>; rel="next"'}, None),
        ({"total_page": "12"}, 12),
        ({}, None),
    ],
)
def test_the_number_of_the_last_page(headers: dict[str, str], last: int | None) -> None:
    assert response(**headers).last_page == last


def test_a_document_and_its_etag() -> None:
    found = response(b'{"a": [1]}', etag='W/"abc"')
    assert found.json() == {"a": [1]}
    assert found.etag == 'W/"abc"'
    assert response().etag is None


@pytest.mark.parametrize(
    "body", [b"<html>", b"", b"[NaN]", b"\xff\xfe[", b"[" * 200_000, b"9" * 5_000]
)
def test_what_is_no_document_is_an_error_with_a_next_step(body: bytes) -> None:
    with pytest.raises(StudyError) as error:
        response(body).json()
    assert error.value.hint


def _all_words(error: BaseException) -> str:
    """What an error and everything it came from could tell a reader."""
    words = ""
    following: BaseException | None = error
    while following is not None:
        words += repr(following) + str(following) + repr(vars(following))
        following = following.__cause__ or following.__context__
    return words


def _self_signed(file: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file
