"""The signs of a fact with a date: dates, what people own or await, and what happens to it."""

from __future__ import annotations

from .candidate_words import compiled

_MONTHS = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni"
    r"|july?|juli|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\b\.?"
)
_MONTHS_ROMANCE = (
    r"(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    r"|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre)"
)
DATE = compiled(
    r"\b(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?:-[0-3]\d)?\b",
    r"\b[0-3]?\d\.\s?[01]?\d\.\s?(?:19|20)\d\d\b",
    rf"\b[0-3]?\d(?:st|nd|rd|th|\.)?(?: of)? {_MONTHS}(?:,? (?:19|20)\d\d)?",
    rf"\b{_MONTHS} [0-3]?\d(?:st|nd|rd|th)?\b(?:,? (?:19|20)\d\d)?",
    rf"\b{_MONTHS} (?:19|20)\d\d\b",
    r"\b(?:since|in|until|till|by|of|seit|bis|im jahr|anno) (?:19|20)\d\d\b",
    r"\b(?:bin|sind|wurden?|haben?|war(?:en)?)(?: (?:ich|wir))? (?:19|20)\d\d\b",
    rf"\b[0-3]?\d(?:er)? (?:de |di )?{_MONTHS_ROMANCE}(?: (?:de |del )?(?:19|20)\d\d)?\b",
    rf"\b{_MONTHS_ROMANCE} (?:de |del )?(?:19|20)\d\d\b",
    r"(?:19|20)\d\d年(?:\d{1,2}月(?:\d{1,2}日)?)?",
)
_OWN = r"(?:my|our|mein(?:e[rnms]?)?|unser(?:e[rnms]?)?)"
_THINGS = (
    r"(?:birthday|anniversary|deadline|contract|lease|rent|passport|visa|subscription"
    r"|warranty|licen[cs]e|insurance|appointment"
    r"|certificate|domain|membership|tenancy|mortgage|loan|policy|permit|registration"
    r"|vaccination|geburtstag|jahrestag|frist"
    r"|vertrag|mietvertrag|miete|reisepass|pass|ausweis|visum|abo|abonnement|garantie|lizenz"
    r"|versicherung|termin|zertifikat|kündigungsfrist"
    r"|mitgliedschaft|kredit|bescheid|zulassung|impfung|prüfung|abgabe|abgabetermin)"
)
_EVENTS = r"(?:surgery|operation|accident|baby|interview|exam|checkup|check-up|wedding|operiert)"
# What is done to a thing, and is over then: "the boiler was replaced on ...".
_DONE = (
    r"(?:replaced|repaired|fixed|serviced|inspected|installed|insulated|renovated|painted|cleaned"
    r"|planted|delivered|ordered|shipped|returned|paid|sold|rented|renewed|extended|cancell?ed"
    r"|terminated|approved|granted|registered|vaccinated|diagnosed|operated on|adopted|hired"
    r"|appointed|elected|promoted|migrated|upgraded|decommissioned|shut down)"
)
_DONE_GERMAN = (
    r"(?:ausgetauscht|ersetzt|repariert|gewartet|geprüft|eingebaut|installiert|gedämmt|renoviert"
    r"|gestrichen|gereinigt|gepflanzt|geliefert|bestellt|bezahlt|verkauft|vermietet|erneuert"
    r"|verlängert|gekündigt|genehmigt|angemeldet|geimpft|operiert|eingestellt|gewählt|abgeschaltet)"
)
_HAPPENS = (
    r"(?:expires?|expired|ends?|ended|starts?|started|begins?|began|renews?|runs? (?:out"
    r"|until)|is due|are due|is valid|lasts? until"
    r"|was (?:born|founded|signed|built|bought|released|launched|opened)|moved|joined"
    rf"|(?:was|were|has been|have been|got|will be)(?: \w+ly)? {_DONE}"
    r"|retires?|retired|opens?|closes?|leaves?|departs?|arrives?|takes? place|goes live"
    r"|läuft (?:[\w.]+ ){0,4}(?:ab|aus|bis)|endete?|beginnt|begann|gilt"
    r"|(?:ist|wird|sind) (?:[\w.]+ ){0,5}fällig|wurde"
    r" (?:\w+ ){0,6}(?:geboren|gegründet|unterschrieben|gekauft|gebaut)"
    rf"|(?:wurden?|ist|sind|wird|werden) (?:[\w.]+ ){{0,6}}{_DONE_GERMAN}"
    r"|verlängert sich)"
)
FACTS = compiled(
    rf"\b{_OWN}\b.{{1,80}}?\b(?:is|are|was|were|ist|sind|war|fällt|falls|lautet"
    rf"|{_HAPPENS})(?:\b|(?<=['’]s))",
    rf"\b{_THINGS}\b.{{0,80}}?\b(?:is|are|was|ist|war|fällt|falls|{_HAPPENS})\b",
    rf"['’]s {_THINGS}\b",
    rf"\b(?:the|der|die|das|[A-ZÄÖÜ][\w-]+)\b.{{0,60}}?\b{_HAPPENS}\b",
    r"\b(?:i|we)(?:['’]ve| have)? (?:was born|were born|moved|started|joined|signed|bought"
    r"|sold|married|got married|founded|switched|became|quit|adopted|graduated|finished"
    r"|have been|['’]ve been|live|lived|work|worked|own|rent)\b",
    rf"\b(?:i|we|they)(?:['’]ve| have)? {_DONE}\b",
    rf"\b(?:i|we)(?:['’]ve| have)? (?:had|got|have)\b.{{1,60}}?\b(?:{_THINGS}|{_EVENTS})\b",
    rf"\b(?:(?:ich|wir) (?:haben?|hatten?)|(?:haben?|hatten?) (?:ich|wir))\b.{{0,60}}?"
    rf"\b{_THINGS}\b",
    rf"\b{_OWN}\b.{{1,80}}?\b(?:has|hat|haben|muss|müssen|must|needs? to|have to)\b",
    r"\b(?:mon|ma|notre)\b.{1,80}?\b(?:est|se termine|expire|finit|commence|a lieu)\b",
    r"\b(?:mi|nuestr[oa])\b.{1,80}?\b(?:es|está|caduca|vence|termina|acaba|empieza|expira)\b",
    r"\b(?:il mio|la mia|il nostro|la nostra)\b.{1,80}?\b(?:è|scade|finisce|termina|inizia)\b",
    r"\b(?:ich|wir) (?:wohnen?|arbeiten?|besitzen?|mieten?|leben?|bin|sind)\b.{0,40}\bseit\b",
    r"\bseit\b.{0,30}\b(?:wohnen?|arbeiten?|leben?|mieten?|habe?n?|bin|sind) (?:ich|wir)\b",
    r"\b(?:bin|sind|habe?n?) (?:ich|wir)\b.{0,60}\b(?:geboren|gezogen|umgezogen|gewechselt"
    r"|gekauft|unterschrieben|geheiratet|angefangen|gemacht|bekommen|bestanden|begonnen)\b",
    r"\b(?:ich|wir) (?:bin|sind|habe?n?)\b.{0,60}\b(?:geboren|gezogen|umgezogen|gewechselt"
    r"|gekauft|unterschrieben|geheiratet|angefangen|gemacht|bekommen|bestanden|begonnen)\b",
    r"\b(?:a|ont) été (?:remplacé|réparé|installé|livré|payé|vendu|signé|résilié)e?s?\b",
    r"\bfue(?:ron)? (?:reemplazad|reparad|instalad|entregad|pagad|vendid|firmad|cancelad)[oa]s?\b",
    r"\bstat[oaie] (?:sostituit|riparat|installat|consegnat|pagat|vendut|firmat|disdett)[oaie]\b",
    r"(?:生日|到期|截止|合同|开始|結束|结束|出生|誕生日|期限)",
)
IMPERATIVES = compiled(
    r"(?:schedule|find|search|show|give|tell|write|create|make|add|set|list|check|look|get"
    r"|fetch|summari[sz]e|update|remind|book|plan"
    r"|send|compare|explain|use|run|fix|draft|generate|read|open|move|change|delete|remove"
    r"|put|compute|calculate|translate|what"
    r"|which|who|how|why|where|when|is|are|was|were|do|does|did|can|could|should|would|let"
    r"|try|imagine|suppose|in the)\b",
    r"(?:suche?|finde?|zeige?|gib|sag|schreibe?|erstelle?|mache?|lege?|trage?|füge|setze?"
    r"|prüfe?|schau|hole?|fasse?|erinnere?|buche?"
    r"|plane?|schicke?|sende?|vergleiche?|erkläre?|nutze?|nimm|öffne?|lies|verschiebe?"
    r"|ändere?|lösche?|entferne?|berechne?|übersetze?"
    r"|was|welche[rsnm]?|wer|wie|warum|wo|wann|ist|sind|war|kannst|könntest|soll|angenommen)\b",
)
