"""Secret-shaped text is masked to its end; what only looks like it stays."""

from __future__ import annotations

import json
import random
import string
import sys
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.redaction import KINDS, find, mask, redact, redact_part, secret_lines
from cortex.vault.frontmatter import secret_spans
from shared import CHECKOUT

sys.path.append(str(CHECKOUT))  # for benchmarks

# No whole key stands in this file: each is joined from pieces.
CAPITALS = string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits


def made(prefix: str, length: int, alphabet: str = ALNUM) -> str:
    choose = random.Random(prefix)
    return prefix + "".join(choose.choice(alphabet) for _ in range(length - 2)) + "A1"


KEYS = [
    made("sk" + "-", 48),
    made("sk" + "-proj-", 64, ALNUM + "-_"),
    made("sk" + "-ant-api03-", 64, ALNUM + "-_"),
    made("sk" + "-", 32, "0123456789abcdef"),
    made("ghp" + "_", 36),
    made("gho" + "_", 36),
    made("ghs" + "_", 36),
    made("github" + "_pat_", 60, ALNUM + "_"),
    made("glpat" + "-", 20, ALNUM + "-_"),
    made("xoxb" + "-", 40, string.digits + "-"),
    made("AKIA", 16, string.ascii_uppercase + string.digits),
    made("ASIA", 16, string.ascii_uppercase + string.digits),
    made("AIza", 35, ALNUM + "-_"),
    made("ya29" + ".", 60, ALNUM + "-_"),
    made("npm" + "_", 36),
    made("pypi" + "-", 80, ALNUM + "-_"),
    made("hf" + "_", 34),
    made("SG" + ".", 22) + "." + made("", 43, ALNUM + "-_"),
    made("key" + "-", 30, "0123456789abcdef").replace("A1", "") + "0a1b",
    made("sk" + "_live_", 24),
    made("rk" + "_live_", 24),
    made("whsec" + "_", 32),
    made("gsk" + "_", 40),
    made("sbp" + "_", 40, "0123456789abcdef"),
    made("ATAT" + "T3x", 60, ALNUM + "-_") + "=" + made("", 8, "0123456789ABCDEF"),
    made("AGE-SECRET" + "-KEY-1", 58, string.ascii_uppercase + string.digits),
    ".".join((made("eyJ", 20), made("eyJ", 40), made("", 43, ALNUM + "-_"))),
    "1234567890:" + made("AA", 33, ALNUM + "-_"),
    ".".join((made("M", 24), made("", 6), made("", 38, ALNUM + "-_"))),
]


@pytest.mark.parametrize("key", KEYS, ids=[key[:8] for key in KEYS])
def test_a_key_of_a_known_shape_is_masked_wherever_it_stands(key: str) -> None:
    for frame in ("{}", "use {}.", "`{}`", '"{}",', "KEY={}\nnext", "(see {})", "密钥：{}。"):
        masked, count = redact(frame.format(key))
        assert count == 1
        assert key[-6:] not in masked
        assert masked.startswith(frame.partition("{}")[0])
        assert masked.endswith(frame.partition("{}")[2])


def test_the_mask_says_what_it_hides() -> None:
    assert redact("key " + KEYS[0] + " end") == ("key [REDACTED:api_key] end", 1)
    finding = find("key " + KEYS[0])[0]
    assert (finding.start, finding.end, finding.kind) == (4, 4 + len(KEYS[0]), "api_key")


def test_a_key_is_masked_to_its_end_over_dots_and_dashes() -> None:
    key = made("sk" + "-sp-", 20) + "." + "wxyzabcd11223344_KLM-5544332211"
    assert redact(f"api_key: {key}\n\nand on") == ("api_key: [REDACTED:api_key]\n\nand on", 1)
    assert redact(f"It is {key}. Then") == ("It is [REDACTED:api_key]. Then", 1)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password: hunter2x", "password: [REDACTED:password]"),
        ("**Password:** `Summer2024!`", "**Password:** `[REDACTED:password]`"),
        ("| password | Tr0ub4dor&3 |", "| password | [REDACTED:password] |"),
        ("DB_PASSWORD=s3cr3t,pw.x", "DB_PASSWORD=[REDACTED:password]"),
        ("password: password: s3cretpw", "password: password: [REDACTED:password]"),
        ("Passwort: Hallo123", "Passwort: [REDACTED:password]"),
        ("密码：abc12345", "密码：[REDACTED:password]"),
        ('{"client_secret": "aB3dE5gH7jK9mN1p"}', '{"client_secret": "[REDACTED:api_key]"}'),
        (
            "aws_secret_access_key = wJalr/XUtnF9+K7MD",
            "aws_secret_access_key = [REDACTED:api_key]",
        ),
        ("X-Api-Key: 0a1b2c3d4e5f6a7b", "X-Api-Key: [REDACTED:api_key]"),
        (
            "AccountKey=Zm9vYmFyYmF6cXV4MTIz==;Endpoint=x",
            "AccountKey=[REDACTED:api_key];Endpoint=x",
        ),
        ("Server=db;Password=p4ssw0rd;Port=1", "Server=db;Password=[REDACTED:password];Port=1"),
        ("x?lang=en&token=9f8e7d6c5b4a3210&z=1", "x?lang=en&token=[REDACTED:api_key]&z=1"),
        (
            "postgres://anna:p4ssw0@db.example.org/x",
            "postgres://anna:[REDACTED:password]@db.example.org/x",
        ),
        (
            "https://0a1b2c3d4e5f6a7b8c9d0a1b@git.example.org",
            "https://[REDACTED:token]@git.example.org",
        ),
        ("Authorization: Bearer abcDEF1234567890", "Authorization: Bearer [REDACTED:token]"),
        ("Authorization: Basic YW5uYTpnZWhlaW0x", "Authorization: Basic [REDACTED:token]"),
        ("curl -u anna:geheim99 x", "curl -u anna:[REDACTED:password] x"),
        (
            "https://hooks.slack.com/services/" + "T0AB12CD3/B0AB12CD3/abcDEF123456",
            "https://hooks.slack.com/services/[REDACTED:webhook]",
        ),
    ],
)
def test_a_value_with_a_telling_name_is_masked(text: str, masked: str) -> None:
    assert redact(text) == (masked, 1)


@pytest.mark.parametrize(
    "frame",
    [
        "pw: {}",
        "pass: {}",
        "pwd={}",
        "DB_PASS={}",
        'db_pass: "{}"',
        "wifi pass: {} (guests)",
        "dbPass = {}",
        "passw0rd: {}",
        "Passwort für Router: {}",
        "Password for the router: {}",
        "**Password for the router:** {}",
        "Password (router): {}",
        "WLAN pw Gäste: {}",
        "Password for the files: {}",
        "password_hash: {}",
        "my password is {}.",
        "password is: {}",
        "The password for the router is {}, they say",
        "Das Passwort lautet {}",
        "Password:\n{}",
        "Password:\r\n\r\n{}\r\n",
        "- Password:\n  - `{}`\n- next",
        "1. **Password:**\n   1) **{}**",
        "> password:\n> {}\n> and on",
        "Password:\n```text\n{}\n```",
    ],
)
def test_a_password_is_masked_however_people_note_it(frame: str) -> None:
    before, after = frame.split("{}")
    for password in ("hunter2X99", "Tr0ub4dor&3"):
        assert redact(before + password + after) == (f"{before}[REDACTED:password]{after}", 1)


def test_a_code_of_digits_is_a_password() -> None:
    assert redact("password: 482913, pw: 48291377, my pwd is 482913") == (
        "password: [REDACTED:password], pw: [REDACTED:password], my pwd is [REDACTED:password]",
        3,
    )


@pytest.mark.parametrize(
    "frame",
    [
        "La contraseña del wifi es {}",
        "Le mot de passe est {}",
        "A senha do servidor é {}",
        "Das Passwort für den Router im Keller ist {}",
        "密码是{}。",
        "WiFi密码为{}，请勿外传",
        "パスワードは{}です。",
        "비밀번호는 {}",
        "Пароль: {}",
        "hasło: {}",
        "Password → {}",
        "password – {}",
        "Passwort（Gäste）：{}",
        "“password”: “{}”",
        '\\"password\\": \\"{}\\"',
        "<password>{}</password>",
        "machine x login anna password {} port 1",
        "mysql --password={} shop",
    ],
)
def test_a_password_is_masked_in_other_languages_and_notations(frame: str) -> None:
    before, after = frame.split("{}")
    for password in ("hunter2X99", "Tr0ub4dorX3"):
        assert redact(before + password + after) == (f"{before}[REDACTED:password]{after}", 1)


@pytest.mark.parametrize(
    "sign", ["\u200b", "\u200d", "\u2060", "\u00ad", "\ufeff", "\U000e0041", "\x07"]
)
@pytest.mark.parametrize("key", KEYS[:12], ids=[key[:8] for key in KEYS[:12]])
def test_a_key_is_masked_though_invisible_characters_split_it(key: str, sign: str) -> None:
    split = sign.join((key[:5], key[5:11], key[11:]))
    assert redact(f"it is {split} now") == (f"it is {mask(find(key)[0].kind)} now", 1)


def test_a_key_is_masked_where_an_editor_escaped_its_signs() -> None:
    key = made("github" + "_pat_", 60, ALNUM + "_")
    assert redact(f"it is {key.replace('_', chr(92) + '_')}.") == ("it is [REDACTED:api_key].", 1)


def test_a_key_right_behind_letters_is_masked() -> None:
    for key in (made("ghp" + "_", 36), made("sk" + "-ant-api03-", 64), made("AKIA", 16, CAPITALS)):
        assert redact(f"Schluessel{key} und") == ("Schluessel[REDACTED:api_key] und", 1)
        assert redact(f"prod_{key} und")[0].removeprefix("prod_") == "[REDACTED:api_key] und"


def test_both_halves_of_a_pair_are_masked() -> None:
    key_id, secret = made("AKIA", 16, CAPITALS), made("", 40, ALNUM + "+/")
    assert redact(f"| {key_id} | {secret} |") == ("| [REDACTED:api_key] | [REDACTED:api_key] |", 2)
    assert redact(f"| {secret} |") == (f"| {secret} |", 0)


def test_the_words_of_a_wallet_and_codes_to_get_back_in_are_masked() -> None:
    words = " ".join(["abandon", "ability", "able", "about", "above", "absent"] * 2)
    assert redact(f"Seed phrase: {words}.") == ("Seed phrase: [REDACTED:password].", 1)
    assert (
        redact("The recovery: " + "we went home and the dog was glad to see us all there ")[1] == 0
    )
    codes = "Recovery codes:\n- a1b2c-d3e4f\n- 9x8y7-z6w5v\n- k2l3m-n4o5p\n"
    assert redact(codes)[1] == 3


def test_the_beginning_of_a_file_name_is_masked_and_its_ending_stays() -> None:
    assert redact(f"Keys/{KEYS[4]}.md") == ("Keys/[REDACTED:api_key].md", 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_mask_that_stands_in_a_text_is_never_found_again(kind: str) -> None:
    for frame in ("{}", "password: {}", "token={}x1", "://a:{}@b", "{}{}", "Bearer {}", "密码是{}"):
        text = frame.replace("{}", mask(kind))
        assert redact(redact(text)[0]) == (redact(text)[0], 0)
    key = KEYS[4]
    assert (
        redact(f"password: {mask(kind)} {key}")[0] == f"password: {mask(kind)} [REDACTED:api_key]"
    )
    # ... but only what reads exactly so is a mask.
    assert redact(f"password: [REDACTED:{key}]")[1] == 1


@pytest.mark.parametrize("seed", [11, 12])
def test_shapes_that_nobody_wrote_down_are_found_and_their_look_alikes_stay(seed: int) -> None:
    from benchmarks.secret_guard.command import judge
    from benchmarks.secret_guard.shapes import look_alikes, samples

    told = [judge(find, sample) for sample in samples(seed, 4)]
    found, missed, alarms = (sum(column) for column in zip(*told, strict=True))
    assert found > 1000 and missed <= found / 100 and alarms == 0
    assert [sample.text for sample in look_alikes(seed, 8) if judge(find, sample)[2]] == []


def test_a_long_value_is_masked_to_its_end() -> None:
    value = "aB3-" * 300
    assert redact(f"token: {value}end here") == ("token: [REDACTED:api_key] here", 1)


@pytest.mark.parametrize(
    "text",
    [
        "a desk-based-approach-to-everything-we-do",
        "task-management-for-beginners",
        "sk-learn-based-pipelines-in-practice",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "token budget 2000, token budget: 2000, max_tokens: 4096",
        "model name lark-verse-7-2-20250714",
        "the word password, and password: ask Anna",
        "password = os.environ['DB_PASSWORD_1']",
        "password: ${DB_PASS1}, API key = `YOUR_API_KEY_123`, token: <token-42>",
        "secret: /run/secrets/db_password1",
        "token: 2024-05-01, password_changed_at: 2024-05-01T10:00:00Z",
        "tokenizer: sentence-transformers/all-MiniLM-L6-v2, token_model: gpt-4o-mini-2024",
        "api key: see [[Keys 2024]]",
        "The secret: 3 eggs and flour. Secret: chapter-12-notes",
        "npm_config_registry_of_the_team and key-value-store",
        "https://example.org/a:b@c and meet at 10:30@home",
        "| token | description |\n|---|---|\n| secret | 100% |",
        "postgres://user:password@localhost/db",
        "![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk)",
        "Begin the file with `-----BEGIN PRIVATE KEY-----` and end it as usual.",
        "\n".join("0123456789abcdef" * 4 for _ in range(5)),
        "pass: yes, pass: the salt, pw: see vault, passport: Swiss, passed: 120394 tests",
        "pass the 2nd exam: room12b, pass-through: eth0abc1, bypass: valve2b3c, compass: n0rth-1x",
        "Gotthard pass: 2,106m. First pass: 10:30am, second pass: 2023/24a",
        "password manager: 1Password7, Passwort-Manager: 1Password8, password length: 128000",
        "The password is stored in KeePass2023, and a password is case-sensitive.",
        "The password was stolen. Case: AB12345",
        "Password:\nSection2 begins here",
        "password:\n  user1:\n  - [ ] change in 2024",
        "Password:\n\n## Section2\n\nPassword:\n[[Logins2024]]",
        'integrity="sha512-' + "aB3/" * 21 + 'aB==", sha256-' + "Zk9+" * 10 + "aBc=",
        "revisionId: ALm37BV3G90dCjq-4xSDe4eewOgNPntU9JdB3VZsCCSJQLpEoeQUzygshLwDxSNwZ1HeI7CkfJw",
        "airtableId: reciz0oHN7PxEAbE0, id: iq3xlpxmmp1ph9mrpxr6y1l",
        "fly-fishing-for-beginners-in-2024-part-2, ops_team_weekly_meeting_notes_2024_final_v2",
        "ghp" + "_" + "x" * 36 + ", key_of_the_house_in_the_mountains_2024",
        "github: 3f786850e387550fdab836ed7e6dc881de23001b, sentry: see the page",
        "Password: required, password: swordfish is a film, PIN 4821 letters, pin: 12 mm",
        "The clave is 3/2 in Cuban music: 16 beats. Clave: Son2",
        "| Plan | Password | Tokens |\n|---|---|---|\n| Pro | 12+ chars | 128000 |",
        "| Token | Use |\n|---|---|\n| --space-4x | gap |\n| color-blue-500 | text |",
        "## Password\n\nWe use KeePassXC for all of it.\n\nPasswords\nWindows10\n",
        "Login: https://example.org/a1b2, login: bo / 14:30, credentials: see wiki/Page2",
        "Set the password to something strong & unique. Mail bo1@example.org as the password.",
        "Connect PIN 4 to PIN 21. Exit code: 137. Error code: 404. Dress code: 2024",
        "Serial 1234-5678; product XK-2300-A1-B2; TLR4-TRIF-RIPK1-FADD-CASP8 is a key path",
        "Backup codes are stored in 2 places: safe-1 and bank-2. TOTP: time based, 30 seconds",
        "['password', 'username1'], {'name': 'token', 'value': 'word2vec'}",
        "set timeout 300000, mysql -u root -p, redis-cli -a $PASS, R&amp;D, a*b*c, H<b>2</b>O",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == (text, 0)


def armor(which: str, label: str = "RSA PRIV" + "ATE KEY") -> str:
    return f"-----{which} {label}-----"


LINES = [f"{i:02d}Q" + made(str(i), 61, ALNUM + "+/") for i in range(24)]
BLOCK = "\n".join((armor("BEGIN"), *LINES, "AbC1x+Q=", armor("END")))


@pytest.mark.parametrize(
    "label",
    [
        "RSA PRIV" + "ATE KEY",
        "PRIV" + "ATE KEY",
        "OPENSSH PRIV" + "ATE KEY",
        "PGP PRIV" + "ATE KEY BLOCK",
    ],
)
def test_a_private_key_is_one_mask(label: str) -> None:
    block = BLOCK.replace("RSA PRIV" + "ATE KEY", label)
    assert redact(f"before\n\n{block}\n\nafter") == (
        "before\n\n[REDACTED:private_key]\n\nafter",
        1,
    )


@pytest.mark.parametrize("indent", ["", "    ", "> "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("border", range(0, len(BLOCK), 97))
def test_a_private_key_that_a_border_cuts_is_masked_on_both_sides(
    border: int, end: str, indent: str
) -> None:
    for piece in (BLOCK[:border], BLOCK[border:]):
        lines = [line for line in piece.split("\n") if len(line) == 64]
        if len(lines) < 3 and "PRIV" + "ATE KEY-----" not in piece:
            continue  # two lines of base64 alone say nothing
        masked, _ = redact(end.join(indent + line for line in piece.split("\n")))
        assert not [line for line in lines if line[-12:] in masked]


def test_lines_out_of_the_middle_of_a_private_key_are_masked() -> None:
    piece = "x\n" + "\n".join(LINES[5:10]) + "\nafter that"
    assert redact(piece) == ("x\n[REDACTED:private_key]\nafter that", 1)


@pytest.mark.parametrize(
    "block",
    [
        "\n".join(LINES),
        "\n".join((*LINES, "AbC1x+Q=")),
        "\n".join(("Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0A1B", "", *LINES)),
        "\n".join(("Version: GnuPG v2", "Comment: of Anna", "", *LINES, "AbC1x==", "=aB1c")),
        "\n\n".join(LINES),
        "\r\n".join("> " + line for line in LINES),
        "".join(LINES),
    ],
)
def test_a_private_key_without_its_end_is_masked_and_the_prose_after_it_stays(block: str) -> None:
    for prose in ("Prose after the key.\n\nMore: of it.\n", "Notes\n", "## Next\n", "- [ ] do\n"):
        text = f"before\n{armor('BEGIN')}\n{block}\n\n{prose}"
        assert redact(text) == (f"before\n[REDACTED:private_key]\n\n{prose}", 1)


def test_a_private_key_without_its_end_is_masked_inside_a_string() -> None:
    begin = armor("BEGIN")
    assert redact('k: "' + "\\n".join((begin, *LINES)) + '", "x": 1') == (
        'k: "[REDACTED:private_key]", "x": 1',
        1,
    )
    lines = "".join(f'  "{line}\\n" +\n' for line in LINES)
    assert redact(f'k = "{begin}\\n" +\n{lines}\nand on') == (
        'k = "[REDACTED:private_key]\\n" +\n\nand on',
        1,
    )


def test_two_private_keys_are_two_masks_when_the_first_has_no_end() -> None:
    text = "\n".join((armor("BEGIN"), *LINES, "", "Some prose.", "", BLOCK, "after"))
    assert redact(text) == (
        "[REDACTED:private_key]\n\nSome prose.\n\n[REDACTED:private_key]\nafter",
        2,
    )


def test_a_certificate_is_public() -> None:
    text = "\n".join((armor("BEGIN", "CERTIFICATE"), *LINES, armor("END", "CERTIFICATE")))
    assert redact(text) == (text, 0)
    # ... and does not hide the key after it, even if its own end is missing.
    both = "\n".join((armor("BEGIN", "CERTIFICATE"), *LINES[:2], BLOCK))
    assert not [line for line in LINES[2:] if line in redact(both)[0]]


KEY, WORD = made("gh" + "p_", 36), "Kiwi#" + "w7Qpz"


@pytest.mark.parametrize(
    "frame",
    [
        "| Service | User | Password |\n| --- | --- | --- |\n| NAS | bo | {} |",
        "The logins: | Host | **Kennwort** |\n|:--|--:|\n| nas | `{}` |",
        "## Password\n\n{}\n",
        "> [!warning] root password\n> {}",
        "**Mot de passe**\n{}\n",
        "password:: {}",
        "(pw:: {})",
        "I changed the password to {} today.",
        "Log in with {} as the password.",
        "Benutzer bo, Kennwort {}",
        "login: admin:{}",
        "creds: admin / {}",
        "identifiant : bo / mdp : {}",
        '<input type="password" name="p" value="{}">',
        '<add key="DbPassword" value="{}" />',
        "- name: DB_PASSWORD\n  value: {}",
        "define('DB_PASSWORD', '{}');",
        'variable "db_password" {{\n  default = "{}"\n}}',
        "ALTER USER bo PASSWORD '{}'",
        "IDENTIFIED BY '{}'",
        "set -x PGPASSWORD {}",
        "mysql -u root -p{} shop",
        "redis-cli -a {} ping",
        "echo {} | docker login -u bo --password-stdin",
        "WIFI:T:WPA;S:Home;P:{};;",
        "client_secret: >-\n  {}zzzz\n",
    ],
)
def test_a_password_is_masked_where_its_place_alone_tells_it(frame: str) -> None:
    masked, count = redact(frame.format(WORD))
    assert count == 1 and WORD not in masked
    assert redact(masked) == (masked, 0)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("SIM PIN is 4322", "4322"),
        ("PIN der EC-Karte: 8447", "8447"),
        ("PUK 89102053", "89102053"),
        ("Door code: 449680", "449680"),
        ("CVV: 665", "665"),
        ("TOTP seed: LFFEDLIO7EKJBPDT", "LFFEDLIO7EKJBPDT"),
        ("2FA for the forum: wx46 rwmh oyzq u6y7", "wx46 rwmh oyzq u6y7"),
        ("Backup codes:\n\n9052 0758\n4227 9834", "9052 0758"),
        ("Recovery codes: 78058b7e, 8437370f", "8437370f"),
        ("Windows product key 1E32K-M8TIL-7O4OQ-A9NO5-KBN7M", "1E32K-M8TIL-7O4OQ-A9NO5-KBN7M"),
        ("Passphrase: correct-horse-battery-staple-9845", "battery"),
        ("WLAN-Schlüssel: 85078159578356655833", "85078159578356655833"),
    ],
)
def test_a_short_code_is_masked_by_what_stands_before_it(text: str, secret: str) -> None:
    assert secret not in redact(text)[0]


@pytest.mark.parametrize(
    "written",
    [
        KEY.replace("_", "&#95;"),
        KEY.replace("_", "&#x5F;"),
        KEY.replace("_", "&lowbar;"),
        KEY.replace("_", "%5F"),
        f"{KEY[:9]}<wbr>{KEY[9:]}",
        f"{KEY[:9]}&shy;{KEY[9:]}",
        f"**{KEY[:9]}**{KEY[9:]}",
        f"{KEY[:9]}<!-- x -->{KEY[9:]}",
        "".join(chr(ord(sign) + 0xFEE0) for sign in KEY),
        f"{KEY[:22]}\n{KEY[22:]}",
        f"{KEY[:22]}\\\r\n    {KEY[22:]}",
        f"{KEY[:25]}\n> {KEY[25:]}",
    ],
)
def test_a_key_is_masked_however_its_characters_are_written(written: str) -> None:
    masked, count = redact(f"it is {written}\nnow")
    assert count == 1 and masked.endswith("\nnow")
    assert not [at for at in range(4, 25) if KEY[at : at + 12] in masked]


def test_keys_in_lines_of_their_own_are_a_mask_each() -> None:
    other = made("gh" + "o_", 36)
    assert redact(f"{KEY}\n{other}\n")[0] == "[REDACTED:api_key]\n[REDACTED:api_key]\n"


# Each makes one of the searches begin again as often as can be. Going back over all that was read,
# even one of them would take hours for so much text.
LONG, MOST_S = 200_000, 4.0
HOSTILE = (
    *(
        "密码是",
        "密码：",
        "secret ",
        "secret（",
        "?pass=",
        "WIFI:P:",
        "|password|\n|-|\n",
        "password\n> ",
        "recovery codes 1a1a1a1a ",
        "key A1B2-",
        "creds: a/",
        "a&#45;",
        "ghp" + "_",
        "x_",
        "x_" * 5 + "A1b2" * 8,
        "hv.",
        "s.a",
    ),
    *(
        "AKIA" + "ABCDEFGHIJKLMNOP ",
        "openai ",
        "openai: " + "A1b2c3D4" * 3 + " ",
        "A1b2" * 100 + " ",
    ),
    *("seed phrase: ", "seed: " + "able " * 12, "abandon ", "$2b$10$", "cookie: a=", "--token "),
    *(
        "login a password ",
        "A_KEY=",
        "user: a\npassword: ",
        '"password": "abcd" ',
        "PIN: ",
        "?key=",
    ),
    *("recovery codes ", "a1b2-c3d4 ", "recovery codes a1b2-c3d4 ", "A\u200b", "\\_", "pass（"),
    *("[REDACTED:token]", "token: [REDACTED:token]", "<password>", "— ", "password - ", "aws key "),
    *(
        "sk" + "-T3BlbkFJ",
        "//a/:_authToken=",
        "xoxb" + "-1-",
        "artifAP1",
        "0" * 32 + ".",
        "[",
        "SK",
    ),
    *('{"auth":"', "cloudant_key: ", "ibm_cloud_iam_key=", "M.", "password é ", "eyJ.", "AAAA"),
)


@settings(max_examples=200, derandomize=True)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [
                    *(*KEYS, "password: ", "token=", "://a:b@c", " ", "\n", '"', BLOCK),
                    *("pw", "pass", "password", " is ", " for x", ":\n- ", "Ab1x29z"),
                    *(
                        "密码",
                        "是",
                        "は",
                        "\u200b",
                        "\\_",
                        "[REDACTED:token]",
                        "[REDACTED:password]",
                    ),
                    *("openai: ", "AWS_KEY=", "--token ", "{", "<", ">", "recovery codes "),
                    armor("BEGIN"),
                ]
            ),
            st.text(max_size=12),
        ),
        max_size=8,
    )
)
def test_masking_twice_changes_nothing_more_and_spans_are_in_order(pieces: list[str]) -> None:
    text = "".join(pieces)
    findings = find(text)
    assert all(a.end <= b.start for a, b in pairwise(findings))
    masked, count = redact(text)
    assert count == len(findings)
    assert redact(masked)[0] == masked


@pytest.mark.parametrize(
    "piece",
    [
        "a", "sk-", "eyJaaaaaaaa.", "://a:", "password:", "password ", "-----BEGIN ",
        "-----END PRIV" + "ATE KEY-----", "A" * 64 + "\n", ("Ab1" * 21 + "\n"), "1", "a.", " -u a:",
        "sk-Ab1.", "api_key_", "bearer ", "token='", "0123456789:", " \t", "> ", "secret: a-a-a-",
        "pw: a1", "password is ", "password\n\n- ", "password " + ("a" * 24 + " ") * 3,
        armor("BEGIN") + "\n", *HOSTILE,
    ],
)  # fmt: skip
def test_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    text = piece * (LONG // len(piece))
    started = time.process_time()
    find(text + "!")
    assert time.process_time() - started < MOST_S


def test_a_megabyte_of_all_that_is_hostile_is_gone_through() -> None:
    share = 10**6 // len(HOSTILE)
    text = "".join(piece * (share // len(piece)) for piece in HOSTILE)
    assert len(text) > 900_000
    started = time.process_time()
    find(text)
    assert time.process_time() - started < 5 * MOST_S


@pytest.mark.parametrize("piece", ["+\n", "A\n", "\n", "\\n", "A ", "A"])
def test_what_follows_the_begin_of_a_key_takes_time_in_proportion(piece: str) -> None:
    text = armor("BEGIN") + "\n" + piece * (LONG // len(piece))
    started = time.process_time()
    find(text + "!")
    assert time.process_time() - started < MOST_S


def test_a_part_is_masked_by_what_the_whole_shows() -> None:
    key = made("ghp" + "_", 36)
    text = f"before {key} after"
    assert redact_part(text, 0, len(text)) == ("before [REDACTED:api_key] after", 1)
    assert redact_part(text, 20, len(text)) == ("[REDACTED:api_key] after", 1)
    assert redact_part(text, 0, 20) == ("before [REDACTED:api_key]", 1)
    assert redact_part(text, 0, 7) == ("before ", 0)
    assert redact_part(text, len(text) - 6, len(text)) == (" after", 0)
    assert redact_part(text, 20, 20) == ("", 0)


def test_line_ends_inside_a_masked_key_stay() -> None:
    body = "\r\n".join("Ab1" * 21 + "c" for _ in range(3))
    text = f"one\r\n{armor('BEGIN')}\r\n{body}\r\n{armor('END')}\r\nlast"
    masked, count = redact_part(text, 0, len(text))
    assert (masked, count) == ("one\r\n[REDACTED:private_key]\r\n\r\n\r\n\r\n\r\nlast", 1)


def test_a_part_of_a_huge_note_is_masked_by_what_stands_near() -> None:
    key = made("ghp" + "_", 36)
    text = "word " * 200_000 + key + " word" * 200_000
    at = text.index(key)
    started = time.process_time()
    masked, count = redact_part(text, at + 10, at + 100)
    assert time.process_time() - started < 1
    assert count == 1 and masked.startswith("[REDACTED:api_key] word")


# Properties


HEADER = """---
password: 84736251
login: {user: bob, password: 93847561}
token: 8374.5518273645
passwords: ["swordfish", 'hunter22']
api_keys:
  - abcd1234abcd
  - "zzzz9999yyyy"
api_key: ["qqqq1111wwww"]
db:
  password: |
    blockpass
  pw: >-
    foldedpass1
other: &p anchored2x
password2: *p
wifi_password: &q anchored3x
credentials: {user: bob12345678, where: KeePass2023, prod: aaaa1111bbbb}
---
body
"""
HIDDEN = (
    *("84736251", "93847561", "8374", "swordfish", "hunter22", "abcd1234", "zzzz9999", "qqqq1111"),
    *("blockpass", "foldedpass1", "anchored2x", "anchored3x", "aaaa1111"),
)


def test_a_value_under_a_name_of_a_secret_is_masked_at_any_depth_and_lines_stay() -> None:
    masked, count = redact_part(HEADER, 0, len(HEADER), secret_spans(HEADER))
    assert not [secret for secret in HIDDEN if secret in masked]
    assert count == len(HIDDEN)
    assert masked.count("\n") == HEADER.count("\n")
    assert "login: {user: bob, password: [REDACTED:password]}\n" in masked
    assert "user: bob12345678, where: KeePass2023" in masked
    assert redact_part(masked, 0, len(masked), secret_spans(masked))[0] == masked
    from_inside = redact_part(
        HEADER, HEADER.index("blockpass") + 3, len(HEADER), secret_spans(HEADER)
    )
    assert from_inside[0].startswith("[REDACTED:password]\n")


def test_a_header_that_is_no_yaml_is_masked_line_by_line() -> None:
    broken = HEADER.replace("login: {user", "login: {{ : user").replace("*p", "anchored2x")
    masked, _ = redact_part(broken, 0, len(broken), secret_spans(broken))
    assert [secret for secret in HIDDEN if secret in masked] == ["anchored2x"]
    assert masked.count("anchored2x") == 1  # where its name tells nothing


@pytest.mark.parametrize(
    "line",
    [
        "token_count: 5",
        "tokens: 4000",
        "max_tokens: 128000",
        "password_policy: at least 12 characters",
        "secret: true",
        "author_token_url: https://example.org/abc123",
        "secret_santa: Maria",
        "password_manager: 1Password7",
        "token: 2024-05-01",
        "password: ~/.secrets/x",
        "password: ${DB_PASS1}",
        "password: ask Anna",
        "password: [[Logins2024]]",
        "password:",
        "password: todo",
        "passport: X1234567",
        "pass: Gotthard",
        "first_pass: 10:30am",
        "secret: the ring is cursed",
        "tokenizer: wordpiece2000",
    ],
)
def test_a_property_that_only_sounds_like_a_secret_stays(line: str) -> None:
    for rest in ("", "broken: {{ : x\n"):
        assert secret_spans(f"---\n{line}\n{rest}---\nbody\n") == []


@pytest.mark.parametrize("levels", [30, 90])
def test_a_secret_that_is_nested_deep_is_masked_all_the_same(levels: int) -> None:
    text = f"---\na: {'[' * levels}{{password: swordfish}}{']' * levels}\n---\n"
    assert [text[at:end] for at, end, _ in secret_spans(text)] == ["swordfish"]


def test_only_a_header_is_searched_for_names() -> None:
    assert secret_spans("---\npassword: swordfish\n") == []  # not closed
    assert secret_spans("text\n---\npassword: swordfish\n---\n") == []


@pytest.mark.parametrize("piece", ["&a [*a, *a]", "[" * 50 + "]" * 50, "{a: " * 3000, "- x\n  "])
def test_hostile_properties_take_no_time(piece: str) -> None:
    text = "---\npassword: " + piece + "".join(f"\nk{i}: &k{i} [*a, x]" for i in range(2000))
    started = time.process_time()
    secret_spans(f"{text}\n---\n")
    assert time.process_time() - started < 3


# A key as the items of a list

AS_LISTS: list[Callable[[list[str]], str]] = [
    json.dumps,
    lambda lines: json.dumps(lines, indent=2),
    lambda lines: "key:\n" + "".join(f'  - "{line}"\n' for line in lines),
    lambda lines: "key:\n" + "".join(f"- {line}\n" for line in lines),
    lambda lines: "key = ['" + "', '".join(lines) + "']",
]


@pytest.mark.parametrize("as_list", AS_LISTS)
@pytest.mark.parametrize(
    "lines",
    [
        [armor("BEGIN"), *LINES, "AbC1x+Q=", armor("END")],
        [armor("BEGIN"), *LINES, "AbC1x+Q="],
        [armor("BEGIN"), "Proc-Type: 4,ENCRYPTED", *LINES, armor("END")],
        LINES[4:8],
    ],
)
def test_a_private_key_in_a_list_is_one_mask(
    as_list: Callable[[list[str]], str], lines: list[str]
) -> None:
    masked, count = redact(f"before\n{as_list(lines)}\nafter that")
    assert count == 1
    assert not [line for line in (*LINES, "AbC1x+Q=") if line[:16] in masked]
    assert masked.startswith("before\n") and masked.endswith("\nafter that")
    assert redact(masked)[0] == masked


def test_the_items_of_a_list_that_are_lines_of_a_key_are_known() -> None:
    items = ["name", armor("BEGIN"), *LINES[:3], armor("END"), "other"]
    assert secret_lines(items) == {1, 2, 3, 4, 5}
    assert secret_lines(["name", "other"]) == set()


@pytest.mark.parametrize("piece", ['"' + "Ab1" * 21 + '", ', '"', '", "', "- ", '"\n- "', " ,\n"])
def test_a_hostile_list_takes_time_in_proportion_to_its_length(piece: str) -> None:
    for front in ("", f'["{armor("BEGIN")}'):
        text = front + piece * (LONG // len(piece))
        started = time.process_time()
        find(text + "!")
        assert time.process_time() - started < MOST_S
