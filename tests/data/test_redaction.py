"""Secrets are masked, and nothing else is."""

from __future__ import annotations

import json
import string
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from growth import grows_like_its_text
from hypothesis import example, given, settings
from hypothesis import strategies as st

from faultatlas.data import redaction
from faultatlas.data.redaction import (
    MASK,
    is_secret_name,
    redact,
    redact_arguments,
    redact_bytes,
    remember_secret,
)

law = settings(max_examples=250)

SECRET = "a1B2c3D4e5F6g7H8i9J0k1L2"  # noqa: S105  (made up)
SHA = "3f786850e387550fdab836ed7e6dc881de23001b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # GitHub, GitLab, OpenAI, Slack, JSON Web Token
        (f"gave up on ghp_{SECRET}.", f"gave up on {MASK}."),
        (f"gho_{SECRET} ghs_{SECRET}", f"{MASK} {MASK}"),
        (f"github_pat_{SECRET}_{SECRET}", MASK),
        (f"'glpat-{SECRET}'", f"'{MASK}'"),
        (f"key sk-proj-{SECRET}", f"key {MASK}"),
        ("xoxb-0123456789-abc", MASK),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123", MASK),
        # Headers
        (f"Authorization: Bearer {SECRET}", f"Authorization: Bearer {MASK}"),
        (f"{{'authorization': 'bearer {SECRET}'}}", f"{{'authorization': 'bearer {MASK}'}}"),
        (f"Authorization: token {SHA}", f"Authorization: token {MASK}"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {MASK}"),
        # URLs
        ("https://jane:s3cret@git.example.org/x", f"https://{MASK}@git.example.org/x"),
        ("https://jane:p@ss@git.example.org/x", f"https://{MASK}@git.example.org/x"),
        (f"git clone https://{SECRET}@github.com/o/r", f"git clone https://{MASK}@github.com/o/r"),
        ("http://h/x?access_token=abc&page=2", f"http://h/x?access_token={MASK}&page=2"),
        ("http://h/x?page=2&key=abc#top", f"http://h/x?page=2&key={MASK}#top"),
        ("http://h/x?private_token=abc", f"http://h/x?private_token={MASK}"),
        ("http://h/x?CLIENT_SECRET=abc def", f"http://h/x?CLIENT_SECRET={MASK} def"),
    ],
)
def test_a_secret_is_masked(text: str, expected: str) -> None:
    assert redact(text, {}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "high priority",
        "token classification fails with CUDA 12.1",
        "Basic functionality: the tokenizer's basic understanding of bearer authentication.",
        "a token bert-base-uncased does not know; see token tests/test_tokenizer.py",
        SHA,
        f"git:keras-team/keras@{SHA}",
        f"https://github.com/pytorch/pytorch/commit/{SHA}",
        "github:pytorch/pytorch#123 and doi:10.1145/3377811.3380395",
        "https://stackoverflow.com/questions/47267612/keras?noredirect=1&lq=1#comment_3",
        "data/evidence/labels-2024_final.v2.csv",
        "sk-learn-compatible-estimators",
        "C:\\Users\\jane\\study\\out",
        "jane@example.org",
        "SELECT key, token FROM results WHERE value > 0.05 -- ***",
    ],
)
def test_ordinary_text_survives(text: str) -> None:
    assert redact(text, {"PATH": "/usr/bin", "TOKENIZERS_PARALLELISM": text}) == text


def test_the_value_of_a_secret_variable_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "correct horse")
    assert redact("it said: correct horse!") == f"it said: {MASK}!"


def test_the_longer_of_two_secrets_leaves_no_rest() -> None:
    environment = {"GITHUB_TOKEN": "correct horse", "API_KEY": "correct horse battery staple"}
    assert redact("correct horse battery staple", environment) == MASK


def test_a_short_value_of_a_secret_variable_would_mask_ordinary_words() -> None:
    assert redact("the data", {"DB_PASSWORD": "data"}) == "the data"


def test_a_remembered_secret_is_masked_wherever_it_stands() -> None:
    text = "sent 'correct horse' to http://h/x?t=correct horse"
    assert redact(text, {}) == text
    remember_secret("correct horse")
    assert redact(text, {}) == f"sent '{MASK}' to http://h/x?t={MASK}"
    assert redact_arguments({"label": ["correct horse"]}) == {"label": [MASK]}


def test_a_remembered_secret_and_a_variable_leave_no_rest_of_each_other() -> None:
    remember_secret("correct horse battery staple")
    environment = {"GITHUB_TOKEN": "correct horse"}
    assert redact("correct horse battery staple, correct horse", environment) == f"{MASK}, {MASK}"


def test_a_secret_is_known_as_an_address_spells_it() -> None:
    environment = {"GITEE_TOKEN": "pa+ss/word"}
    assert redact("https://h/x?t=pa%2Bss%2Fword", environment) == f"https://h/x?t={MASK}"


def test_a_body_loses_the_secrets_that_were_given_to_use_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remember_secret("pa\udcffssword")  # a variable need not be UTF-8
    monkeypatch.setenv("SOME_TOKEN_HOST", "github.com")
    assert redact_bytes(b"pa\xffssword of github.com") == b"*** of github.com"


@pytest.mark.parametrize("value", ["", "1234567"])
def test_a_secret_that_is_too_short_is_not_remembered_in_silence(value: str) -> None:
    with pytest.raises(ValueError, match="short") as refused:
        remember_secret(value)
    assert not value or value not in str(refused.value)
    assert redact("1234567 ordinary words", {}) == "1234567 ordinary words"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("token", True),
        ("GITHUB_TOKEN", True),
        ("api_key", True),
        ("api-key", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("db_password", True),
        ("token_file", False),
        ("GITHUB_TOKEN_FILE", False),
        ("cookie_path", False),
        ("tokenizer", False),
        ("keywords", False),
        ("project", False),
    ],
)
def test_a_secret_is_known_by_its_name(name: str, expected: bool) -> None:  # noqa: FBT001  (a case)
    assert is_secret_name(name) is expected


def test_arguments_become_plain_values() -> None:
    given_ = {
        "token": "abc",
        "password": "",
        "study": Path("study"),
        "size": 384,
        "margin": 0.05,
        "pulls": True,
        "since": None,
        "label": ("high priority", f"ghp_{SECRET}"),
        "options": {"api_key": "abc", 1: {"cookie": "abc", "page": 2}},
    }
    assert redact_arguments(given_) == {
        "token": MASK,
        "password": "",
        "study": "study",
        "size": 384,
        "margin": 0.05,
        "pulls": True,
        "since": None,
        "label": ["high priority", MASK],
        "options": {"api_key": MASK, "1": {"cookie": MASK, "page": 2}},
    }


# Shapes: one example for each rule, put together here, so that no scanner takes them for real ones.
R = "a1B2c3D4e5F6g7H8i9J0" * 5
HEX = "0123456789abcdef" * 5
EXAMPLES = {
    "github": "ghp_" + R[:36],
    "github-fine-grained": "github_pat_" + R[:40],
    "gitlab": "glpat-" + R[:20],
    "atlassian": "ATATT3" + R[:60],
    "npm": "npm_" + R[:36],
    "pypi": "pypi-AgEIcHlwaS5vcmc" + R[:60],
    "rubygems": "rubygems_" + HEX[:48],
    "docker": "dckr_pat_" + R[:27],
    "artifactory": "AKCp" + R[:69],
    "openai": "sk-proj-" + R[:40],
    "hugging-face": "hf_" + R[:34],
    "replicate": "r8_" + R[:37],
    "groq": "gsk_" + R[:52],
    "perplexity": "pplx-" + R[:48],
    "nvidia": "nvapi-" + R[:64],
    "langsmith": "lsv2_pt_" + HEX[:32] + "_0123456789",
    "pinecone": "pcsk_" + R[:60],
    "databricks": "dapi" + HEX[:32],
    "kaggle": "KGAT_" + HEX[:32],
    "prefect": "pnu_" + HEX[:36],
    "aws": "AKIA" + "ABCDEFGHIJ234567",
    "google-key": "AIza" + R[:35],
    "google-oauth": "ya29." + R[:60],
    "azure-storage": "AccountKey=" + R[:86] + "==",
    "azure-client": "abc8Q~" + R[:34],
    "digitalocean": "dop_v1_" + HEX[:64],
    "heroku": "HRKU-" + HEX[:36],
    "netlify": "nfp_" + R[:36],
    "vault": "hvs." + R[:90],
    "terraform": R[:14] + ".atlasv1." + R[:67],
    "supabase": "sbp_" + HEX[:40],
    "planetscale": "pscale_tkn_" + R[:43],
    "slack": "xoxe-1-" + R[:40],
    "slack-webhook": "https://hooks.slack.com/services/T0000/B0000/" + R[:24],
    "discord": "M" + R[:23] + "." + R[:6] + "." + R[:38],
    "discord-webhook": "https://discord.com/api/webhooks/123456789/" + R[:68],
    "telegram": "123456789:A" + R[:34],
    "twilio": "SK" + HEX[:32],
    "sendgrid": "SG." + R[:22] + "." + R[:43],
    "mailgun": "key-" + HEX[:32],
    "mailchimp": HEX[:32] + "-us12",
    "stripe": "sk_live_" + R[:24],
    "shopify": "shpat_" + HEX[:32],
    "square": "sq0atp-" + R[:22],
    "grafana": "glc_" + R[:60],
    "sentry": "sntrys_" + R[:60],
    "new-relic": "NRAK-" + "ABCDEFGHI" * 3,
    "postman": "PMAK-" + HEX[:24] + "-" + HEX[:34],
    "linear": "lin_api_" + R[:40],
    "notion": "ntn_" + R[:46],
    "json-web-token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123",
    "private-key": f"-----BEGIN RSA PRIVATE KEY-----\\n{R}\\n{R}\\n-----END RSA PRIVATE KEY-----",
    "age": "AGE-SECRET-KEY-1" + "ABCDEFGHI2" * 6,
    "password": "password=hunter2.x",
    "assignment": "WANDB_API_KEY=" + HEX[:40],
    "header": "Bearer " + R[:30],
    "parameter": "http://h/x?sig=" + R[:20],
    "user": "https://jane:s3cret@git.example.org/x",
}


def test_every_rule_has_an_example() -> None:
    rules = (files("faultatlas.data") / "secret_patterns.toml").read_text(encoding="utf-8")
    assert tomllib.loads(rules).keys() == EXAMPLES.keys()


@pytest.mark.parametrize("rule", EXAMPLES)
def test_a_secret_of_each_shape_is_masked_in_a_sentence(rule: str) -> None:
    shown = redact(f"It fails with {EXAMPLES[rule]} since yesterday", {})
    assert MASK in shown
    assert not any(part in shown for part in (R[:14], HEX[:12], "hunter", "s3cret", "ABCDEFGHI"))
    assert shown.startswith("It fails with ")
    assert shown.endswith(" since yesterday")
    assert redact(shown, {}) == shown


@pytest.mark.parametrize(
    "text",
    [
        'db: {"password": "hunter2"}', "DB_PASSWORD='hunter2'", "Password: hunter2", "pwd=hunter2",
        f'client_secret: "{HEX[:20]}"', f"export HF_TOKEN={R[:20]}", f"api-key = {R[:20]}",
        f"{{'secret_key': '{R[:20]}'}}", f"-----BEGIN PRIVATE KEY-----\\n{R}",
    ],
)  # fmt: skip
def test_an_assigned_secret_is_masked(text: str) -> None:
    shown = redact(text, {})
    assert "hunter" not in shown
    assert R[:14] not in shown
    assert HEX[:12] not in shown
    assert MASK in shown


@pytest.mark.parametrize(
    "text",
    [
        "tokenizer.pad_token = tokenizer.eos_token", "use_auth_token=True, token=None",
        'pad_token="<pad>"', "tokens = [101, 2023, 2003, 102]", "num_tokens=128000",
        "api_key=os.environ['OPENAI_API_KEY']", "password=getpass()", "password = None",
        "password=$DB_PASSWORD", "password=<yours>", "Password: required", "the key=lambda x: x",
        "torch.manual_seed(1234567890123456)", "ssh-keygen -t ed25519", "model-us12",
        "SKIP_TESTS=1", "hf_hub_download(repo_id)", "pypi-publish", "npm_config_registry",
        "token=get_token_from_environment2()", "0x7f84f8b774d00x7f84f8b774d0", "sk_live",
    ],
)  # fmt: skip
def test_code_about_tokens_and_passwords_survives(text: str) -> None:
    assert redact(text, {}) == text


@pytest.mark.parametrize(
    "unit",
    ["eyJ-", "eyJa.", "sk-", "password", "password=", "token=", "-----BEGIN PRIVATE KEY-----", "a.",
     "M" * 24 + ".", "key: ", "A" * 40, "://", "a@", "?key", "abc8Q~", "AKIA", "_token=a1"],
)  # fmt: skip
def test_masking_takes_as_long_as_the_text_is(unit: str) -> None:
    grows_like_its_text(lambda text: redact(text, {}), "", unit, 40_000)


def test_the_environment_is_read_once_and_again_when_it_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIRST_TOKEN", "correct horse")
    assert redact("correct horse, battery staple") == f"{MASK}, battery staple"
    names: list[str] = []
    monkeypatch.setattr(redaction, "is_secret_name", lambda name: bool(names.append(name)))
    assert redact("correct horse, battery staple") == f"{MASK}, battery staple"
    assert names == []
    monkeypatch.undo()
    monkeypatch.setenv("FIRST_TOKEN", "battery staple")
    assert redact("correct horse, battery staple") == f"correct horse, {MASK}"
    monkeypatch.delenv("FIRST_TOKEN")
    assert redact("correct horse, battery staple") == "correct horse, battery staple"


# Laws

WORDS = st.sampled_from(
    ["token ", "Bearer ", "basic ", "ghp_", "sk-", "eyJ", "https://", "ab://", "?key=", "&token=",
     "?access_token=", "@", "/", "&", "#", "=", ".", " ", "\n", "-", "***", SECRET, SHA, "word"]
)  # fmt: skip
HOSTILE = st.lists(WORDS | st.text(max_size=3), max_size=12).map("".join)
VALUES = st.text(st.characters(exclude_characters="*"), max_size=20)
ENVIRONMENT = st.dictionaries(st.sampled_from(["GITHUB_TOKEN", "API_KEY", "HOME"]), VALUES)


@law
@given(HOSTILE | st.text(), ENVIRONMENT)
@example("ab://x?key=a/b&c@d", {})
@example("correct horse battery", {"GITHUB_TOKEN": "correct horse", "API_KEY": "horse battery"})
def test_redacting_twice_is_redacting_once(text: str, environment: dict[str, str]) -> None:
    once = redact(text, environment)
    assert redact(once, environment) == once


@law
@given(HOSTILE, HOSTILE, st.text(string.ascii_letters + string.digits, min_size=20, max_size=60))
def test_no_secret_survives_wherever_it_stands(before: str, after: str, secret: str) -> None:
    assert f"ghp_{secret}" not in redact(f"{before} ghp_{secret}{after}", {})
    assert secret not in redact(f"{before}{secret}{after}", {"GITHUB_TOKEN": secret})
    assert secret not in redact(f"{before} https://jane:{secret}@example.org/{after}", {})
    assert secret not in redact(f"{before} http://h/?access_token={secret} {after}", {})


@law
@given(st.text(string.ascii_lowercase + " "), st.text("0123456789abcdef"))
def test_words_and_hashes_survive(words: str, sha: str) -> None:
    assert redact(words, {}) == words
    assert redact(sha, {}) == sha


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
PLAIN = st.recursive(
    SCALARS | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=5,
)


@settings(law, max_examples=100)
@given(st.dictionaries(st.text(), PLAIN, max_size=3))
def test_arguments_always_become_json_that_can_be_stored(arguments: dict[str, Any]) -> None:
    plain = redact_arguments(arguments)
    assert json.loads(json.dumps(plain)) == plain
    assert redact_arguments(plain) == plain
