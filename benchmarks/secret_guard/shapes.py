"""Secrets made at run time, as providers give them out and as people note them.

Each is drawn anew for a seed and none has ever opened anything. No whole prefix of a provider
stands in this file next to what could be a key: those that scanners look for are joined here.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGITS
URL = ALNUM + "-_"
HEX = DIGITS + "abcdef"
CAPITALS = UPPER + DIGITS
SMALL = LOWER + DIGITS
BASE64 = ALNUM + "+/"


@dataclass(frozen=True, slots=True)
class Sample:
    shape: str
    text: str
    secrets: tuple[str, ...]  # what must not be left of the text
    stays: tuple[str, ...] = ()  # what must


class Maker:
    """Draws the parts of secrets; equal seeds draw equal parts."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        return "".join(self._random.choice(alphabet) for _ in range(length))

    def key(self, *parts: str | tuple[str, int]) -> str:
        """Parts in a row: literal text, or (alphabet, length)."""
        return "".join(part if isinstance(part, str) else self.of(*part) for part in parts)

    def uuid(self) -> str:
        return "-".join(self.of(HEX, n) for n in (8, 4, 4, 4, 12))

    def password(self) -> str:
        """As people make one: a word, digits, and at times a sign."""
        word = self.choice(("tiger", "Sommer", "blaueKuh", "montaña", "River", "kermit", "Zebra"))
        return word + self.of(DIGITS, self.choice((2, 3, 4))) + self.choice(("", "!", "#x", "?z"))

    def choice(self, items: Sequence[T]) -> T:
        return self._random.choice(items)

    def armor(self, label: str, lines: int) -> tuple[str, list[str]]:
        body = [self.of(BASE64, 64) for _ in range(lines)] + [self.of(BASE64, 22) + "=="]
        end = f"-----END {label}-----"
        return "\n".join((f"-----BEGIN {label}-----", *body, end)), body


KEYS: Mapping[str, Callable[[Maker], str]] = {
    "Anthropic": lambda m: m.key("sk-a", "nt-api03-", (URL, 93), "AA"),
    "OpenAI project": lambda m: m.key("sk-p", "roj-", (URL, 74), "T3Blbk", "FJ", (URL, 74)),
    "OpenAI classic": lambda m: m.key("sk", "-", (ALNUM, 20), "T3Blbk", "FJ", (ALNUM, 20)),
    "OpenRouter": lambda m: m.key("sk-o", "r-v1-", (HEX, 64)),
    "DeepSeek": lambda m: m.key("sk", "-", (HEX, 32)),
    "Langfuse": lambda m: m.key("sk-l", "f-", m.uuid()),
    "GitHub classic": lambda m: m.key("gh", "p_", (ALNUM, 36)),
    "GitHub app": lambda m: m.key("gh", "s_", (ALNUM, 36)),
    "GitHub fine-grained": lambda m: m.key("github", "_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "GitLab": lambda m: m.key("gl", "pat-", (URL, 20)),
    "GitLab runner": lambda m: m.key("gl", "rt-", (URL, 20)),
    "Slack bot": lambda m: m.key("xo", "xb-", (DIGITS, 12), "-", (DIGITS, 12), "-", (ALNUM, 24)),
    "Slack app": lambda m: m.key("xa", "pp-1-A", (CAPITALS, 10), "-", (DIGITS, 12), "-", (HEX, 64)),
    "AWS key id": lambda m: m.key("AK", "IA", (CAPITALS, 16)),
    "Google API": lambda m: m.key("AI", "za", (URL, 35)),
    "Google OAuth": lambda m: m.key("ya", "29.", (URL, 120)),
    "Google client": lambda m: m.key("GOC", "SPX-", (URL, 28)),
    "Stripe live": lambda m: m.key("sk", "_live_", (ALNUM, 99)),
    "Stripe restricted": lambda m: m.key("rk", "_live_", (ALNUM, 24)),
    "Stripe webhook": lambda m: m.key("wh", "sec_", (ALNUM, 32)),
    "npm": lambda m: m.key("np", "m_", (ALNUM, 36)),
    "PyPI": lambda m: m.key("py", "pi-AgEIcHlwaS5vcmc", (URL, 120)),
    "Hugging Face": lambda m: m.key("h", "f_", (ALNUM, 34)),
    "Groq": lambda m: m.key("gs", "k_", (ALNUM, 52)),
    "xAI": lambda m: m.key("xa", "i-", (ALNUM, 80)),
    "Perplexity": lambda m: m.key("pp", "lx-", (ALNUM, 48)),
    "Replicate": lambda m: m.key("r", "8_", (ALNUM, 37)),
    "Tavily": lambda m: m.key("tv", "ly-dev-", (ALNUM, 32)),
    "Firecrawl": lambda m: m.key("f", "c-", (HEX, 32)),
    "Pinecone": lambda m: m.key("pc", "sk_", (ALNUM, 6), "_", (ALNUM, 62)),
    "LangSmith": lambda m: m.key("lsv", "2_pt_", (HEX, 32), "_", (HEX, 10)),
    "SendGrid": lambda m: m.key("S", "G.", (URL, 22), ".", (URL, 43)),
    "Twilio": lambda m: m.key("S", "K", (HEX, 32)),
    "Mailgun": lambda m: m.key("ke", "y-", (HEX, 32)),
    "Mailchimp": lambda m: m.key((HEX, 32), "-us", (DIGITS, 2)),
    "DigitalOcean": lambda m: m.key("do", "p_v1_", (HEX, 64)),
    "Databricks": lambda m: m.key("da", "pi", (HEX, 32)),
    "Vault": lambda m: m.key("hv", "s.", (URL, 90)),
    "Terraform": lambda m: m.key((ALNUM, 14), ".atl", "asv1.", (URL, 67)),
    "Docker": lambda m: m.key("dck", "r_pat_", (URL, 27)),
    "Notion": lambda m: m.key("nt", "n_", (ALNUM, 46)),
    "Linear": lambda m: m.key("lin", "_api_", (ALNUM, 40)),
    "Figma": lambda m: m.key("fi", "gd_", (URL, 40)),
    "Airtable": lambda m: m.key("pa", "t", (ALNUM, 14), ".", (HEX, 64)),
    "HubSpot": lambda m: m.key("pa", "t-eu1-", m.uuid()),
    "Supabase": lambda m: m.key("sb", "p_", (HEX, 40)),
    "Tailscale": lambda m: m.key("ts", "key-auth-", (ALNUM, 17), "-", (ALNUM, 32)),
    "New Relic": lambda m: m.key("NR", "AK-", (CAPITALS, 27)),
    "Shopify": lambda m: m.key("shp", "at_", (HEX, 32)),
    "Telegram": lambda m: m.key((DIGITS, 10), ":A", "A", (URL, 33)),
    "Discord": lambda m: m.key("M", (ALNUM, 25), ".G", (ALNUM, 5), ".", (URL, 38)),
    "age": lambda m: m.key("AGE-SEC", "RET-KEY-1", (CAPITALS, 58)),
    "Nostr": lambda m: m.key("ns", "ec1", (SMALL, 58)),
    "JWT": lambda m: m.key("ey", "J", (URL, 33), ".ey", "J", (URL, 80), ".", (URL, 43)),
    "dotted": lambda m: m.key("sk-s", "p-", (CAPITALS, 20), ".", (SMALL, 16), "_", (URL, 14), "9Z"),
    "unheard-of prefix": lambda m: m.key(m.of(LOWER, 4), "_v1_", (ALNUM, 40)),
}
FRAMES = (
    "{}",
    "My key is {}, do not share it.",
    "- `{}`",
    "| service | {} |",
    "# Login {}",
    "[console](https://example.org/?k={})",
    "[[Keys/{}]]",
    "---\ntitle: {}\n---\n",
    "> {}\n> and on",
    'curl -H "x-key: {}" https://example.org',
    "密钥是{}。",
    "notes/{}.md",
)
# How a value without a prefix is told to be a secret.
NAMED = (
    "API_KEY={}",
    "export SERVICE_API_KEY='{}'",
    "MAPS_KEY={}",
    'api_key: "{}"',
    '{{"apiKey": "{}"}}',
    '{{"client_secret":"{}","x":1}}',
    '"access_token" => "{}"',
    "secret_key: {}",
    "X-Auth-Token: {}",
    "Authorization: Bearer {}",
    "https://example.org/data?api_key={}&page=2",
    "The API key for the weather station is {}.",
    "Der API-Schlüssel lautet {}",
    "API 密钥：{}",
    "アクセスキー：{}",
    "mycli --token {} --verbose",
    "<token>{}</token>",
    "Deepgram: {}",
)
VALUES: Mapping[str, Callable[[Maker], str]] = {
    "hex": lambda m: m.of(HEX, 40),
    "base64": lambda m: base64.b64encode(m.of(ALNUM, 30).encode()).decode(),
    "letters and digits": lambda m: m.of(ALNUM, 32),
    "with dots": lambda m: ".".join(m.of(ALNUM, 12) for _ in range(3)),
}
PASSWORDS = (
    "password: {}",
    "Password = {}",
    "**Password:** `{}`",
    "| password | {} |",
    "DB_PASSWORD={}",
    "the wifi password is {}",
    "Das Passwort für den Router lautet {}",
    "Passwort: {}",
    "Das Kennwort ist {}.",
    "La contraseña del wifi es {}",
    "Contraseña: {}",
    "Le mot de passe est {}",
    "A senha do servidor é {}",
    "密码：{}",
    "WiFi密码是{}。",
    "パスワード：{}",
    "パスワードは{}です。",
    "비밀번호: {}",
    "Пароль: {}",
    '{{"user": "anna", "password": "{}"}}',
    "login:\n  user: anna\n  password: {}\n",
    "user: anna\npassword: {}\n",
    "postgres://anna:{}@db.example.org/x",
    "https://anna:{}@git.example.org/x.git",
    "Server=db;Uid=anna;Pwd={};",
    "machine example.org login anna password {}",
    "curl -u anna:{} https://example.org",
    "mysql --password={} shop",
)


def samples(seed: int, rounds: int) -> Iterator[Sample]:
    """Every shape `rounds` times, each time with other values and in the next frame."""
    maker = Maker(seed)
    for turn in range(rounds):
        for index, (shape, make) in enumerate(KEYS.items()):
            frame = FRAMES[(index + turn) % len(FRAMES)]
            key = make(maker)
            yield Sample(shape, frame.format(key), (key,))
        for shape, make in VALUES.items():
            for frame in NAMED:
                value = make(maker)
                if shape == "hex" and frame.startswith("Deepgram"):
                    continue  # the name of a service before a hash says nothing
                yield Sample(f"named, {shape}", frame.format(value), (value,))
        for frame in PASSWORDS:
            password = maker.password()
            yield Sample("password", frame.format(password), (password,))
        yield from _hidden(maker)
        yield from _blocks(maker)
        yield from _addresses(maker)


def _hidden(maker: Maker) -> Iterator[Sample]:
    """Keys of known shapes with something in between, or right behind a word."""
    for shape in ("Anthropic", "GitHub classic", "AWS key id", "Google API", "Stripe restricted"):
        key = KEYS[shape](maker)
        for sign in ("\u200b", "\u2060", "\u00ad", "\ufeff"):
            split = sign.join((key[:7], key[7:15], key[15:]))
            yield Sample("split by zero width", f"it is {split} now", (key,))
        yield Sample("behind letters", f"Schluessel{key} und", (key,))
        yield Sample("behind an underscore", f"prod_{key} und", (key,))
    key = KEYS["GitHub fine-grained"](maker)
    yield Sample("escaped Markdown", "key: " + key.replace("_", "\\_"), (key,))


def _blocks(maker: Maker) -> Iterator[Sample]:
    for label in ("RSA PRIV" + "ATE KEY", "OPENSSH PRIV" + "ATE KEY", "PRIV" + "ATE KEY"):
        block, lines = maker.armor(label, 12)
        text = f"before\n\n{block}\n\nafter that"
        yield Sample("key block", text, tuple(lines), ("before", "after that"))
        cut = len(block) // 2
        yield Sample("key block, first half", f"before\n{block[:cut]}", tuple(lines[:5]))
        yield Sample("key block, second half", f"{block[cut:]}\nafter", tuple(lines[8:-1]))
        quoted = block.replace("\n", "\\n")
        yield Sample("key block in a string", f'{{"k": "{quoted}"}}', tuple(lines))


def _addresses(maker: Maker) -> Iterator[Sample]:
    account = maker.key((BASE64, 86), "==")
    yield Sample(
        "Azure connection string",
        "DefaultEndpointsProtocol=https;AccountName=depot;"
        f"AccountKey={account};EndpointSuffix=core.windows.net",
        (account,),
        ("AccountName=depot", "core.windows.net"),
    )
    bus = maker.key((BASE64, 43), "=")
    yield Sample(
        "Azure bus",
        f"Endpoint=sb://x.example.net/;SharedAccessKeyName=Root;SharedAccessKey={bus}",
        (bus,),
    )
    signature = maker.of(ALNUM, 44) + "%3D"
    yield Sample("signed address", f"https://x.example.net/b?sv=2024&sig={signature}", (signature,))
    hook = f"{maker.key('T', (CAPITALS, 9))}/{maker.key('B', (CAPITALS, 9))}/{maker.of(ALNUM, 24)}"
    yield Sample("Slack webhook", "https://hooks.slack.com/ser" + f"vices/{hook}", (hook,))
    hook = f"{maker.of(DIGITS, 18)}/{maker.of(URL, 68)}"
    yield Sample("Discord webhook", "https://discord.com/api/web" + f"hooks/{hook}", (hook,))
    key_id, secret = KEYS["AWS key id"](maker), maker.of(BASE64, 40)
    pair = f"[default]\naws_access_key_id = {key_id}\naws_secret_access_key = {secret}\n"
    yield Sample("AWS pair", pair, (key_id, secret))
    yield Sample("AWS pair in a table", f"| {key_id} | {secret} |", (key_id, secret))
    auth = base64.b64encode(f"anna:{maker.password()}".encode()).decode()
    yield Sample("basic", f"Authorization: Basic {auth}", (auth,))
    yield Sample("docker login", f'{{"auths": {{"x": {{"auth": "{auth}"}}}}}}', (auth,))
    crypt = maker.key("$2b$12$", (ALNUM + "./", 53))
    yield Sample("hashed password", f"anna:{crypt}", (crypt,))


def look_alikes(seed: int, rounds: int) -> Iterator[Sample]:
    """What must stay: nothing in these is a secret."""
    maker = Maker(seed)
    for _ in range(rounds):
        for text in (
            f"commit {maker.of(HEX, 40)}",
            f"fixed in {maker.of(HEX, 7)} and {maker.of(HEX, 12)}",
            f"sha256: {maker.of(HEX, 64)}",
            f"md5 {maker.of(HEX, 32)}",
            f'integrity="sha512-{maker.key((BASE64, 86), "==")}"',
            f"image@sha256:{maker.of(HEX, 64)}",
            f"id: {maker.uuid()}",
            f"id: {maker.of(SMALL, 23)}",
            f"session 20250714_{maker.of(DIGITS, 6)}_{maker.of(HEX, 6)}",
            f"doi:10.1{maker.of(DIGITS, 3)}/j.cell.2024.07.{maker.of(DIGITS, 3)}",
            f"https://doi.org/10.1038/s41586-0{maker.of(DIGITS, 2)}-{maker.of(DIGITS, 5)}-3",
            f"https://www.youtube.com/watch?v={maker.of(URL, 11)}",
            f"https://docs.google.com/document/d/1{maker.of(URL, 43)}/edit",
            f"![](data:image/png;base64,iVBORw0KGgo{maker.of(BASE64, 300)})",
            f"model vega-chat-{maker.of(DIGITS, 1)}-{maker.of(DIGITS, 1)}-20250714",
            "sentence-transformers/all-MiniLM-L6-v2, token budget 2000, max_tokens: 4096",
            "a desk-based-approach-to-everything-we-do, task-management, fly-fishing-trips-in-2024",
            f"ISBN 978-3-16-{maker.of(DIGITS, 6)}-0, tel. +49 30 {maker.of(DIGITS, 8)}",
            f"IBAN-free invoice 2024-{maker.of(DIGITS, 6)}, order AB-{maker.of(DIGITS, 8)}-XY",
            f"version 1.{maker.of(DIGITS, 2)}.{maker.of(DIGITS, 2)}+build.{maker.of(HEX, 8)}",
            f"MAC 00:1b:{maker.of(HEX, 2)}:{maker.of(HEX, 2)}, IPv6 2001:db8::{maker.of(HEX, 4)}",
            "The password manager 1Password8 keeps the password; ask Anna for the token.",
            "Der Token wird im Passwort-Manager abgelegt, das Passwort steht im Tresor.",
            "密码管理：请使用密码管理器，不要写下密码。パスワードは安全です。",
            "api_key: ${API_KEY}, password: <your password>, token: YOUR_TOKEN_HERE",
            "The secret of good soup: 3 onions. Key: G major. Token ring 16 Mbit.",
        ):
            yield Sample("look-alike", text, (), (text,))
