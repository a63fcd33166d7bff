"""Keys that a provider's prefix tells, and the few without one that a neighbour tells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .finding import Finding
from .values import is_of_all_kinds, is_random

# Every repetition is bounded or runs over characters that cannot begin the next part, so no text
# makes a search go back over more than a few hundred characters.

# Inside a key, dots and the like go on with it; a full stop at the end of a sentence does not.
MORE = r"[A-Za-z0-9_\-]*(?:[.~+/=:]{1,2}(?!md\b)[A-Za-z0-9_\-]+){0,40}={0,2}"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
# Prefixes that end in "_", or in "-". Joined words may begin so too: more is asked of the rest.
_WITH_LINE = r"""
    r8 |gsk |figd |figo |figoh |figor |glsa |glc |sntrys |sntryu |sbp |sb_secret |dckr_pat
    |dckr_oat |lin_api |lin_oauth |ntn |dop_v1 |doo_v1 |dor_v1 |shpat |shpca |shppa |shpss
    |nfp |nfc |nfo |vca |vck |vcp |vcr |vci |napi |rubygems |tfp |pcsk |lsv2_pt |lsv2_sk
    |lsv2_tk |wandb_v1 |tgp_v1 |jina |e2b |rnd |phx |phc |sgp |squ |sqp |sqa |pnu |pnb |rdme
    |shippo_live |shippo_test |rzp_live |rzp_test |duffel_live |duffel_test |pscale_tkn
    |pscale_pw |pscale_oauth |cfk |cfut |cfat |syt |ops |sk_org_live |waka |apify_api |fm1
    |fm2 |fo1 |CLOJARS |y0 |AIK_CI |bkua |CCIPAT |CCIPRJ |csa |CCDB1 |ddp |ddo |dvc_server
    |apk |apk_user |cog |essu |nyk |os_v2_app |pdl_live_apikey |pdl_sdbx_apikey
    |persona_production |persona_sandbox |pina |polar_at |polar_oat |polar_pat |prf_cli |rpa
    |rootly |samsara_api |sm_aat |sm_pat |sm_sat |tss |unkey |ucat |vtwn |xnd_production
    |xnd_development |zpka |packagist_ort |packagist_out |packagist_acs |packagist_uut |ion
    |lip |mergify_application_key |key |cs |ck |sk_car |api_live |api_sandbox"""
_WITH_HYPHEN = r"""
    xai |pplx |tvly |nvapi |PMAK |PMAT |sq0csp |sq0atp |rnd |fly |NRAK |NRJS |NRII |HRKU
    |CFPAT |xkeysib |xsmtpsib |FLWSECK |FLWSECK_TEST |bedrock-api-key |ico |fio-u |p8e |BBDC
    |dnkey |SWMTKN-1 |SWMKEY-1 |tk-us |llx |m0 |tskey-auth |tskey-api |tskey-client
    |tskey-scim |tskey-webhook |s-s4t2ud"""
_PREFIXED = re.compile(
    rf"""(?<![A-Za-z0-9_])(?:
      (?P<exact> A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16,}} | AGE-SECRET-KEY-1[A-Z0-9]{{20,}}
        | [sp]k[-_](?:[a-z]{{2,8}}-)?{_UUID} | pat-[a-z]{{2}}[0-9]-{_UUID}
        | access-(?:sandbox|development|production)-{_UUID}
        | A3-[A-Z0-9]{{6}}-[A-Z0-9]{{5,11}}-[A-Z0-9]{{5}}-[A-Z0-9\-]{{5,}}
        | key-[0-9a-f]{{32}} | pul-[0-9a-f]{{40}} | fc-[0-9a-f]{{32}} | nsec1[a-z0-9]{{50,}}
        | v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{80,}} | 100[01]\.[0-9a-f]{{32}}\.[0-9a-f]{{32}}
        | pk_[0-9]{{6,12}}_[A-Z0-9]{{30,}} | [a-z]{{2,12}}_(?:live|test|prod)_[0-9a-f]{{24,}}
        | [12]/[0-9]{{10,20}}(?:/[0-9]{{10,20}})?:[0-9a-f]{{32}}
        | 0\.{_UUID}\.[A-Za-z0-9]{{20,}}:[A-Za-z0-9+/]{{16,}}
        | [A-Za-z0-9_\-.~]{{3}}[78]Q~[A-Za-z0-9_\-.~]{{31,34}} | pa-[A-Za-z0-9_\-]{{43}}(?![\w\-])
        | (?:live|test)_(?:pub_)?[0-9a-f]{{35}} | API-[A-Z0-9]{{26}}(?![A-Z0-9]) )
    | (?P<sk> (?: c?sk | Sk | sK ) -[A-Za-z0-9_\-]{{16,}} )
    | (?P<run> (?: (?:{_WITH_LINE})_ | (?:{_WITH_HYPHEN})- )
        [A-Za-z0-9_\-]{{20,}} )
    | (?P<short> (?:hv[sbr]|s|mlsn|pat|dp\.(?:pt|st|ct|sa|scim|audit)|t1|sl|dt0[a-z][0-9]{{2}})\.
        [A-Za-z0-9_\-=]{{18,}} | configcat-sdk-1/[A-Za-z0-9_\-]{{18,}} | endr\+[A-Za-z0-9]{{14,}}
        | [A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=\-]{{40,}}
        | [0-9a-fA-F]{{32}}\.[A-Za-z0-9]{{16,}} )
    | (?: gh[opsru]_[A-Za-z0-9]{{20,}} | github_pat_[A-Za-z0-9_]{{20,}}
        | gl(?:pat|dt|rt|rtr|ptt|oas|cbt|ft|soat|agent|imt|ffct|wt)-[A-Za-z0-9_\-]{{16,}}
        | GR1348941[A-Za-z0-9_\-]{{16,}} | _gitlab_session=[A-Za-z0-9]{{20,}}
        | xox[abcdeoprs](?:\.xox[abp])?-[A-Za-z0-9\-]{{10,}}
        | xapp-[0-9]{{1,2}}-[A-Za-z0-9\-]{{10,}}
        | ABSK[A-Za-z0-9+/]{{40,}} | LTAI[A-Za-z0-9]{{14,}} | AKID[A-Za-z0-9]{{28,}}
        | AIza[A-Za-z0-9_\-]{{30,}} | ya29\.[A-Za-z0-9_\-]{{16,}} | GOCSPX-[A-Za-z0-9_\-]{{16,}}
        | AQ\.[A-Za-z0-9_\-]{{40,}} | 1//0[A-Za-z0-9_\-]{{30,}} | AQVN[A-Za-z0-9_\-]{{30,}}
        | npm_[A-Za-z0-9]{{30,}} | pypi-[A-Za-z0-9_\-]{{40,}} | (?:hf|api_org)_[A-Za-z0-9]{{20,}}
        | sk_[A-Za-z0-9]{{32,}} | fw_[A-Za-z0-9]{{22,}} | secret_[A-Za-z0-9]{{40,}}
        | re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{20,}} | AstraCS:[A-Za-z0-9]{{20,}}
        | (?:[sr]k|pk)_(?:live|test|prod)_[A-Za-z0-9]{{10,}} | whsec_[A-Za-z0-9+/]{{16,}}
        | SG\.[A-Za-z0-9_\-]{{16,}}[.=][A-Za-z0-9_\-=]{{16,}}
        | AT[AC]T[A-Z]?[0-9]?[A-Za-z0-9_\-]{{40,}} | ATBB[A-Za-z0-9]{{24,}} | EAA[A-Za-z0-9]{{20,}}
        | AAAAAAAAAAAAAAAAAAAA[A-Za-z0-9%]{{50,}} | E[ZT][AT]K[A-Za-z0-9]{{50,}}
        | BSA[A-Za-z0-9_\-]{{27}}(?![A-Za-z0-9]) | eyJrIjoi[A-Za-z0-9]{{30,}}
        | dapi[0-9a-f]{{32}} | dkea[0-9a-f]{{32}} | AKCp[A-Za-z0-9]{{20,}} | cmVmd[A-Za-z0-9]{{40,}}
        | pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{40,}} | oy2[a-z0-9]{{43}} | cio[A-Za-z0-9]{{32}}
        | sha256~[A-Za-z0-9_\-]{{40,}} | [xyzt]prv[1-9A-HJ-NP-Za-km-z]{{100,}}
        | [5KL][1-9A-HJ-NP-Za-km-z]{{50,51}}(?![A-Za-z0-9])
        | (?P<token> ey[JvY][A-Za-z0-9_\-]{{8,}}\.(?:[A-Za-z0-9_\-]{{8,}})
        | (?:bot)?[0-9]{{8,10}}:AA[A-Za-z0-9_\-]{{30,}}
        | AAAA[A-Za-z0-9_\-]{{7}}:APA91[A-Za-z0-9_\-]{{60,}}
        | [MNO][A-Za-z0-9_\-]{{23,27}}\.[A-Za-z0-9_\-]{{6}}\.[A-Za-z0-9_\-]{{27,45}} )
      )
    )"""
    + MORE,
    re.VERBOSE,
)
_RUN = re.compile("[!-~]{15,}")  # no shorter one holds a key with its prefix
_IN_TWO_WORDS = re.compile(r"(?<![A-Za-z0-9_])FlyV1 [A-Za-z0-9_\-+/=,]{40,}")
# Any other prefix, before a run that is surely random.
_LONG_RUN = re.compile(r"[A-Za-z0-9]{30,400}")
_ANY_PREFIX = re.compile(
    r"(?<![A-Za-z0-9_/.=+%\-])(?!sha|md5|blake)(?:(?:[a-z]{1,12}|[A-Z]{1,12})[0-9]{0,2}[_\-]){1,5}\Z"
)
# Distinctive enough to be one right behind a letter, as in `tokenghp_...` or `my_key_AKIA...`.
_GLUED = re.compile(
    r"""(?<=[A-Za-z0-9_])(?:
      sk-(?:ant|proj|or|svcacct|admin)-[A-Za-z0-9_\-]{16,} | gh[opsru]_[A-Za-z0-9]{30,}
    | github_pat_[A-Za-z0-9_]{30,} | glpat-[A-Za-z0-9_\-]{20,} | xox[abceoprs]-[A-Za-z0-9\-]{20,}
    | A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9]) | AIza[A-Za-z0-9_\-]{35}(?![A-Za-z0-9_\-])
    | npm_[A-Za-z0-9]{36} | hf_[A-Za-z0-9]{34} | (?:sk|rk)_(?:live|test)_[A-Za-z0-9]{20,}
    | pypi-AgE[A-Za-z0-9_\-]{40,} | eyJ[A-Za-z0-9_\-]{16,200}\.eyJ[A-Za-z0-9_\-]{8,}
    )"""
    + MORE,
    re.VERBOSE,
)
_ENCODED = re.compile(r"[A-Za-z0-9+/]{24}\Z")  # so much of it before a prefix is no prefix
_KEY_ID = re.compile(r"(?<![A-Z0-9])A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Z0-9])")
_SECRET_OF_ID = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_NEAR = 200  # characters around the id of a key in which its other half stands
# The words that restore a wallet: their list has neither short nor long ones, nor such as these.
_WORDS = re.compile(
    r"(?i)\b(?:seed|recovery|mnemonic|secret)(?:[ _\-](?:phrase|words?))?[\"'`*_)]{0,4}"
    r"[ \t]{0,4}(?:[:=：]|is)[\"'`*_ \t\r\n>]{1,8}((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b"
)
_PROSE = re.compile(r"\b(?:the|and|for|are|was|not|from|have|has|but|which|their|they|its)\b")
_HASHED = re.compile(
    r"\$(?:2[abxy]\$[0-9]{2}|[156]|apr1|y|argon2(?:id?|d)(?:\$v=[0-9]+)?)\$[A-Za-z0-9./,=+$]{22,200}"
)


def search(text: str) -> Iterator[Finding]:
    """Keys by their prefixes; the other half of a pair; words of a wallet; hashed passwords."""
    for run in _RUN.finditer(text):
        for match in _PREFIXED.finditer(text, *run.span()):
            if _is_key(match):
                yield Finding(*match.span(), "token" if match["token"] is not None else "api_key")
        for match in _GLUED.finditer(text, *run.span()):
            start = match.start()
            if _is_no_stand_in(match[0]) and not _ENCODED.search(text, max(0, start - 24), start):
                yield Finding(*match.span(), "api_key")
    for match in _IN_TWO_WORDS.finditer(text):
        yield Finding(*match.span(), "api_key")
    for match in _LONG_RUN.finditer(text):
        prefix = _ANY_PREFIX.search(text, max(0, match.start() - 80), match.start())
        if prefix and is_random(match[0]):
            yield Finding(prefix.start(), match.end(), "api_key")
    for match in _KEY_ID.finditer(text):
        near = (max(0, match.start() - _NEAR), match.end() + _NEAR)
        for half in _SECRET_OF_ID.finditer(text, *near):
            if is_of_all_kinds(half[0]):
                yield Finding(*half.span(), "api_key")
    has_words = any(word in text.lower() for word in ("seed", "recovery", "mnemonic", "secret"))
    for match in _WORDS.finditer(text) if has_words else ():
        if not _PROSE.search(match[1]):
            yield Finding(*match.span(1), "password")
    for match in _HASHED.finditer(text):
        yield Finding(*match.span(), "password")


def _is_key(match: re.Match[str]) -> bool:
    """Whether what has a provider's prefix is a key, not a stand-in (`ghp_xxxx`) and not words."""
    key = match[0]
    if match["exact"] is not None:
        return True
    if match["sk"] is not None:  # digits, and capitals or a long run without a break
        return bool(
            re.search("[0-9]", key)
            and (re.search("[A-Z]", key) or re.search("[A-Za-z0-9]{20}", key))
        )
    if match["run"] is not None and is_random(re.sub("[^A-Za-z0-9]", "", key)):
        return True
    if match["run"] is not None or match["short"] is not None:
        return _is_no_stand_in(key) and any(
            re.search("[0-9].*[0-9]", run) or (re.search("[A-Z].*[A-Z]", run) and _has_small(run))
            for run in re.findall("[A-Za-z0-9]{12,}", key)
        )
    return _is_no_stand_in(key)


def _has_small(value: str) -> bool:
    return re.search("[a-z]", value) is not None


def _is_no_stand_in(key: str) -> bool:
    has_two_kinds = re.search("[0-9]", key) or (re.search("[A-Z]", key) and _has_small(key))
    return bool(has_two_kinds) and not re.search(r"(.)\1{7}", key.removeprefix("A" * 20))
