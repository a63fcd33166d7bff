"""The cues of candidates: how people ask to remember, decide and correct, in some languages.

English and German in some depth; French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish,
Russian, Chinese, Japanese and Korean by their plainest forms.
"""

from __future__ import annotations

import re


def _any(*patterns: str) -> str:
    return "(?:" + "|".join(patterns) + ")"


def compiled(*patterns: str) -> re.Pattern[str]:
    return re.compile(_any(*patterns), re.IGNORECASE)


# What stands in front of what is meant.
LEAD = re.compile(
    r"""(?:(?:please|pls|ok(?:ay)?|all\ right|also|and|hey|hi|hello|hermes|oh|btw|by\ the\ way|just
      |so|but|well|then|(?:one|quick|small)\ (?:more\ )?(?:thing|note)|before\ i\ forget|do
      |important(?:ly)?|fyi|thanks?(?:\ you)?|great|perfect|good
      |yes|yeah|yep|sure|right|(?:can|could|would|will)\ you(?:\ please)?
      |you\ (?:should|must|have\ to)
      |i(?:\ want|\ need|'d\ like|’d\ like|\ would\ like)\ you\ to|always
      |bitte|und|auch|noch(?:\ etwas|\ was)?|ach(?:\ ja)?|übrigens|ja|super|danke
      |genau|(?:wichtig|gut)(?!\ zu\ wissen)
      |(?:kannst|könntest|würdest)\ du(?:\ bitte)?|(?:können|könnten|würden)\ sie(?:\ bitte)?
      |du\ (?:sollst|musst)|nebenbei|eins\ noch|kurz|also|aber|dann|hallo
      |s'il\ (?:te|vous)\ plaît|por\ favor|per\ favore|alsjeblieft|请|請|麻烦
      |(?:make|be)\ sure\ (?:to|you|that\ you)|ich\ (?:möchte|will),?\ dass\ du)
      [\s,:;!.–—-]*(?<!\w)(?=\S)|(?:请|請|麻烦|帮我|你))*+""",
    re.IGNORECASE | re.VERBOSE,
)
# A wish that may have the form of a question.
MAY_ASK = compiled(
    r".{0,20}\b(?:can|could|would|will) you\b",
    r".{0,20}\b(?:kannst|könntest|würdest) du\b",
    r".{0,20}\b(?:können|könnten|würden) sie\b",
)

_DAYS = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|tonight|today|morgen|heute)"
_NOUNS = r"(?=(?:my|our|i|we|all|every|there)\b|(?:the|his|her|their|on|in|at|from|for)\b)"
REMEMBER = compiled(
    r"remember(?:\s+(?:this|it|the following))?(?:\s+for (?:me|later|next time|the"
    r" future))?\s*[:–—]",
    r"remember,?(?:\s+please,?)?\s+that\b(?!\s+(?:time|day|night|one|guy)\b)",
    r"remember(?=\s+(?:this|that|it)(?:\s+(?:please|for (?:me|later|next time)))?\s*[.!]*$)",
    rf"remember(?!\s+(?:to|when|how|the (?:time|day|first|last|good|old|night"
    rf"|feeling))\b),?\s+{_NOUNS}",
    r"remember to (?=(?:always|never)\b)",
    r"(?:don['’]?t|do not|never)(?: ever)? forget(?:\s+that\b|\s*:|,?\s+(?=(?:my|our|i|we)\b))",
    r"(?:keep|bear)(?: (?:this|that|it|the following))? in mind"
    rf"(?:\s+that\b|\s*[:,]|\s+{_NOUNS})",
    r"(?:(?:here|this) is |let me tell you )?something to remember\s*[:,]",
    r"it(?:['’]s| is) worth (?:remembering|noting)\s+that\b",
    r"note(?:\s+to self)?\s*:",
    r"note(?:\s+down)?\s+(?=(?:my|our)\b)",
    r"note(?:\s+down)?,?(?:\s+that\b)",
    r"(?:make|take)(?: a)? note(?:\s+that\b|\s+of\b|\s*[:,])",
    r"(?:write|jot)(?: (?:this|that|it))? down(?:\s+that\b|\s*[:,])",
    r"(?:for|as)(?: (?:my|your|our|future|later))+ reference\s*[,:]",
    r"for the record\s*[,:]",
    r"let the record show\s+that\b",
    r"(?:just )?so (?:that )?you know\s*[,:]",
    r"for (?:later|next time|the future)\s*:",
    r"(?:save|store|keep)(?: (?:this|that|it|the following))? for"
    r" (?:later|next time|the future|me)\s*:",
    r"commit(?: (?:this|that|it|the following))? to memory\s*(?::|,?\s*that\b)",
    rf"(?:call|address) me (?:by |as )?(?!{_DAYS}\b)(?=(?-i:[A-ZÄÖÜ])\w)",
    r"(?:save|store|put|add|keep)(?: (?:this|that|it|the following))? (?:to|in|into)(?:"
    r" (?:your|my|our|the))?"
    r" (?:memory|notes?|vault)\s*[:,]?(?:\s+that\b)?",
    r"memori[sz]e(?:\s+that\b|\s*:|\s+(?:this|it)\s*:?)",
    # German
    r"merke?n?\s+(?:dir|euch|sie\s+sich)\b(?:\s+bitte)?(?:\s+(?:das|mal"
    r"|folgendes))*\s*[:,]?(?:\s+bitte\s*[:,]?)?"
    r"(?:\s*dass\b)?",
    r"(?:dir|sich)(?:\s+bitte)?\s+(?:merken|merkst|notierst|notieren)\s*[:,]\s*(?:dass\b)?",
    r"merken\s*:",
    r"nicht vergessen\s*:",
    r"(?:mache? dir|machen sie sich)(?: bitte)? (?:eine notiz|einen vermerk)\s*[,:]\s*(?:dass\b)?",
    r"(?:hinweis|notiz|info|merkposten)\s+(?:für|an)\s+(?:später|mich|dich|uns)\s*:",
    r"(?:vergiss|vergesst|vergessen sie)(?:\s+bitte)?\s+nicht\s*(?::|,?\s*dass\b)",
    r"denke?(?:n sie)?(?:\s+bitte)?\s+(?:immer\s+)?(?:dran|daran)\s*(?::|,?\s*dass\b)",
    r"behalte?(?:n sie)?(?:\s+bitte)?\s+im\s+(?:hinterkopf|kopf|gedächtnis"
    r"|auge)\s*[,:]\s*(?:dass\b)?",
    r"notiere?(?:n sie)?(?:\s+(?:dir|sich))?(?:\s+bitte)?\s*[,:]\s*(?:dass\b)?",
    r"speichere?(?:n sie)?(?:\s+(?:dir|bitte|ab))*\s*[,:]\s*(?:dass\b)?",
    r"schreibe?(?:\s+dir)?(?:\s+bitte)?\s+auf\s*[,:]\s*(?:dass\b)?",
    r"halte?(?:\s+bitte)?\s+fest\s*[,:]\s*(?:dass\b)?",
    r"(?:nur\s+)?zur\s+(?:erinnerung|info(?:rmation)?)(?:\s+für\s+(?:später|dich))?\s*[,:]",
    r"(?:für|fürs)\s+(?:die\s+zukunft|später|das\s+nächste\s+mal|nächste\s+mal|die\s+akten"
    r"|das\s+protokoll)\s*:",
    r"(?:damit du(?:['’]s| es)? weißt|wichtig zu wissen|gut zu wissen)\s*[,:]",
    rf"nenne?(?:n sie)? mich (?:bitte |immer |ab jetzt )*(?!{_DAYS}\b)(?=(?-i:[A-ZÄÖÜ])\w)",
    # French, Spanish, Italian, Portuguese, Dutch, Swedish
    r"(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez"
    r"|note[sz]?)\s+(?:bien\s+)?qu(?:e\b|['’])",
    r"(?:n['’]oublie[sz]?)\s+pas\s+qu(?:e\b|['’])",
    r"(?:garde[sz]? (?:en tête|à l['’]esprit))\s+qu(?:e\b|['’])",
    r"(?:recuerda|recuerde|acuérdate de|anota|apunta|ten en cuenta|no olvides|no te olvides"
    r" de)\s*(?:,\s*)?(?:que\b|:)",
    r"(?:ricorda(?:ti)?|annota(?:ti)?|non dimenticare|tieni (?:presente|a mente))\s*(?:che\b|:)",
    r"(?:lembr[ae](?:-te|-se)?(?: de)?|anot[ae]|não (?:te )?esque[çc]as?(?: de)?)\s*(?:que\b|:)",
    r"(?:onthoud|vergeet niet|denk eraan|noteer)\s*,?\s*(?:dat\b|:)",
    r"(?:kom ihåg|glöm inte|notera)\s*,?\s*(?:att\b|:)",
    r"(?:zapamiętaj|pamiętaj|nie zapomnij|zanotuj)\s*[,:]\s*(?:że\b)?",
    r"(?:запомни(?:те)?|не забудь(?:те)?|имей(?:те)? в виду|запиши(?:те)?)\s*[,:]\s*(?:что\b)?",
    # Chinese, Japanese, Korean
    r"(?:记得(?![吗嗎不])|记住|記住|记下来|记一下|記一下|别忘了|別忘了|不要忘记|不要忘記)[，,：:\s]*",
    r"(?:覚えておいて(?:ください)?|メモして(?:ください)?)[、。：:\s]*",
    r"(?:기억해(?:\s?줘)?)[,:：\s]*",
)
REMEMBER_AT_END = compiled(
    r"(?:[,;:–—-]|\band|\bso)\s*(?:so\s+)?(?:please\s+)?(?:remember|memori[sz]e|note|save)"
    r" (?:that|this|it)"
    r"(?:\s+please|\s+for (?:me|later|next time))?\s*[.!]*$",
    r"(?:[,;:–—-]|\bund)\s*(?:bitte\s+)?(?:merke?\s+(?:dir|es dir)(?:\s+(?:das|bitte))*"
    r"|bitte\s+merken"
    r"|notiere?\s+(?:dir\s+)?das)\s*[.!]*$",
    r"(?:を|と|って)(?:覚えておいて|覚えといて|メモして)(?:ください|ね)?\s*[。.!！]*$",
    r"(?:을|를|고|는 걸|다고)\s?기억해\s?(?:줘|주세요)?\s*[.!]*$",
)
BACK_REFERENCE = compiled(
    r"[\s,:.!–—-]*(?:(?:this|that|it|these|the following|das|es|folgendes|bitte|please|for"
    r" (?:me|later|next time|the future)"
    r"|für (?:mich|später|das nächste mal)|ça|cela|esto|eso|questo|dit|这个|這個|这一点)"
    r"[\s,:.!–—-]*)*"
)

_BODIES = (
    r"(?:vorstand|team|gruppe|familie|chef|firma|verein|ausschuss|geschäftsführung|leitung|kund"
    r"|versammlung|wg|eltern|redaktion|rat\b|beirat|abteilung)"
)
_NOW = r"(?:\s+(?:just|now|finally|all|both|already|also|then|therefore|together|hereby))*"
_WHO = r"(?:we|i|(?:the|our|my) (?:team|board|company|committee|client|group|family|management))"
_WITHIN = r"(?:[^.!?;]|(?<=\d)\.)"  # a sentence
DECISIONS = compiled(
    rf"\b{_WHO}(?:['’]ve|['’]d| have| has| had)?{_NOW} decided\b(?=\s+(?:to|on|that|for"
    rf"|against|not|upon|we)\b|:)",
    rf"\b(?:we|(?:the|our) (?:team|board|committee|group))(?:['’]ve| have| has| had)?{_NOW}"
    rf" (?:agreed|settled|opted)\b"
    r"(?=\s+(?:to|on|that|for|upon)\b)",
    r"\b(?:it|that)(?:['’]s| is| was| has been)(?: now)? (?:decided|agreed)\b"
    r"(?=\s+(?:to|that)\b|:)",
    r"\b(?:the|our|my)(?: final)? decision (?:is|was)(?: to\b| that\b| that:|:)",
    r"^(?:final |our |the )?(?:decision|decided|agreed|resolution)(?: made)?\s*[:–—]",
    r"^(?:so )?(?:the )?final decision\s*[,:–—]",
    # German
    rf"\b(?:wir|ich)\s+(?:haben?|hatten?|hab)\b{_WITHIN}{{0,90}}?\b(?:entschieden|entschlossen"
    r"|beschlossen|geeinigt|vereinbart"
    r"|festgelegt|abgemacht|ausgemacht)\b",
    rf"\b(?:haben?|hatten?|hab)\s+(?:wir|ich)\b{_WITHIN}{{0,90}}?\b(?:entschieden|entschlossen"
    r"|beschlossen|geeinigt|vereinbart"
    r"|festgelegt|abgemacht|ausgemacht)\b",
    rf"\b(?:der|die|das|unsere?|mein|meine) {_BODIES}\w* (?:hat|haben)\b{_WITHIN}{{0,90}}?"
    r"\b(?:entschieden|beschlossen|geeinigt|vereinbart|festgelegt)\b",
    rf"\bes (?:ist|wurde)\b{_WITHIN}{{0,40}}?\b(?:entschieden|beschlossen|vereinbart"
    r"|festgelegt)\b",
    r"\b(?:die|unsere|meine) entscheidung (?:ist|lautet|war|fiel auf)\b",
    r"^(?:fest steht|es steht fest|abgemacht|entscheidung|beschluss|beschlossen|entschieden"
    r"|vereinbart|festgelegt)\s*[:–—]",
    # French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish, Russian
    r"\b(?:on a|nous avons|j['’]ai)(?: finalement| donc)? (?:décidé|choisi|opté)\b(?=\s+(?:de"
    r"|d['’]|que|qu['’]|pour|l['’]|la|le|les|un|une)(?:\b|(?<=['’])))",
    r"^(?:décision|decisión|decisione|decisão|besluit|beslut|decyzja|решение)\s*[:–—]",
    r"\b(?:hemos decidido|he decidido|decidimos|acordamos|hemos acordado)\b",
    r"\b(?:abbiamo|ho) deciso\b(?=\s+(?:di|che)\b)",
    rf"\b(?:we|wij) hebben\b{_WITHIN}{{0,60}}?\b(?:besloten|afgesproken)\b|\bik"
    rf" heb\b{_WITHIN}{{0,40}}?\bbesloten\b",
    rf"\bvi har\b{_WITHIN}{{0,20}}?\b(?:bestämt|beslutat|kommit överens)\b",
    r"\b(?:zdecydowaliśmy|ustaliliśmy|postanowiliśmy)\b",
    r"\bмы (?:решили|договорились|выбрали)\b",
    # Chinese, Japanese, Korean
    r"(?:我们|我們|我|团队)(?:已经|已經|最终|最后|最後)?(?:决定|決定)(?:了|要|用|不|采用|採用)?",
    r"(?:^|[，,])(?:决定|決定|結論|结论)[：:]",
    r"ことに(?:決めた|決めました|しました|した|決まりました)",
    r"하기로 (?:했|결정|정했)",
)
_FOR_GOOD = (
    r"\b(?:for (?:all|every|everything|the (?:whole|new|next)|our|good)|instead of|rather than"
    r"|from now on|everywhere|across|to (?:a|the) new)\b"
)
# Of the user alone: from an assistant these are proposals.
DECISIONS_OF_USER = compiled(
    r"^(?:ok(?:ay)?,?\s+|so,?\s+|then,?\s+|alright,?\s+|yes,?\s+|good,?\s+)*let['’]?s (?:go"
    r"|stick|stay) with\b",
    r"\blet['’]?s (?:settle on|switch to|standardi[sz]e on|adopt)\b",
    r"\bwe(?:['’]ll| will|['’]re going to| are going to)(?: now)? (?:go with|stick with"
    r"|settle on|switch to|standardi[sz]e on"
    r"|adopt|use\b.{0,60}\bfrom now on)\b",
    r"^(?:ok(?:ay)?,?\s+|so,?\s+)*(?:(?:i['’]m|we['’]re|we are|i am) )going with\b",
    r"\bfrom now on\b",
    r"\b(?:i|we)(?:['’]ve| have)?(?: finally)? made up (?:my|our) minds?\s*[:;,–—.]",
    r"\b(?:i|we)(?:['’]ve| have)? (?:finally )?(?:chose|chosen|picked)\b"
    r"(?=.{1,80}\b(?:over|instead of|rather than|as (?:our|my|the))\b)",
    r"\b(?:i|we)(?: have|['’]ve)? ended up (?:choosing|picking|going with)\b",
    r"\bwe(?:['’]re| are) (?:dropping|retiring|discontinuing|migrating to|switching to"
    r"|moving to|replacing|phasing out)\b",
    rf"\bwe(?:['’]ll| will|['’]re going to| are going to) (?:use|keep|drop|replace|rent|hire"
    rf"|migrate|move)\b(?=.{{1,80}}{_FOR_GOOD})",
    r"\bwe (?=(?:won['’]t|will not|are not going to|no longer) (?:renew|extend|support|continue"
    r"|go ahead)\b)",
    r"^(?:going forward|as of (?:today|now))\b",
    # German
    r"\bwir (?:bleiben|blieben) (?:also |jetzt |dann )?(?:bei|beim)\b",
    r"\bwir (?:setzen|steigen|wechseln)\b.{0,30}\b(?:künftig|ab jetzt|ab sofort|ab heute)\b",
    r"\bwir nehmen (?:also|jetzt|dann|nun)\b",
    r"\b(?:nehmen|machen|nutzen|verwenden) wir\b.{1,80}\b(?:statt|anstatt|anstelle)\b",
    r"\bwir nehmen .{0,60}\b(?:angebot|variante|lösung|modell|version|tarif|firma)\b",
    r"\bwir (?:machen|nutzen|verwenden|nehmen|benutzen|bauen|schreiben|behalten)\b.{1,80}"
    r"\b(?:statt|anstatt|anstelle|künftig|ab jetzt|ab sofort)\b",
    r"\bwir (?:verzichten auf|steigen um auf)\b",
    r"^es bleibt dabei\s*[:,]",
    r"^(?:ok(?:ay)?,?\s+|gut,?\s+|dann\s+)*(?:lass(?:t)? uns|nehmen wir)\b.{0,60}\b(?:nehmen"
    r"|verwenden|bleiben|umsteigen)\b",
    r"^(?:ab (?:sofort|jetzt|heute)|von (?:jetzt|nun) an|künftig|in zukunft)\b",
    r"\b(?:ab sofort|von (?:jetzt|nun) an)\b",
    # others
    r"\b(?:on part sur|désormais|dorénavant|à partir de maintenant)\b",
    r"\b(?:a partir de (?:ahora|agora)|de ahora en adelante|d['’]ora in poi|voortaan|från och"
    r" med nu|от?ныне|впредь)\b",
    r"(?:从现在起|從現在起|以后都|以後都|今後は|これからは|앞으로는)",
)
# One of these stands in all that the two patterns above find; looked for first, as they are slow.
_DECISION_HINTS = """
decid|decisi|agreed|settled|opted|resolution|entschi|entschlossen|entscheidung|beschl|geeinigt
vereinbart|festgelegt|abgemacht|ausgemacht|décid|choisi|décisi|acord|deciso|decisão|besluit|besloten
afgesproken|beslut|bestämt|överens|decyzja|zdecydow|ustali|postanow|решени|решили|договори|выбрали
决定|決定|結論|结论|ことに|하기로|go with|stay with|going with|stick with|settle on|switch to
standardi|adopt|from now on|going forward|as of |bleiben|blieben|setzen|steigen|wechseln
made up m|chose|picked|ended up|dropping|retiring|discontinuing|migrating|switching|moving to
replacing|phasing out|we'll|we’ll|we will|going to|won't|won’t|no longer|angebot|variante|lösung
modell|version|tarif|firma|statt|anstelle|verzichten|bleibt dabei|opté|steht fest|fest steht
nehmen|verwenden|umsteigen|ab sofort|ab jetzt|ab heute|von jetzt|von nun|künftig|in zukunft
part sur|désormais|dorénavant|partir d|en adelante|in poi|voortaan|och med nu|ныне|впредь
从现在|從現在|以后都|以後都|今後は|これからは|앞으로는
"""
DECISION_HINTS = tuple(_DECISION_HINTS.strip("\n").replace("\n", "|").split("|"))

# What takes back a fact, and in front of it a cue.
_DOUBTS = (
    r"\b(?:not|never|\w+n['’]t|yet to|whether|if|unless|once|when|should|could|would|might|maybe"
    r"|perhaps|suppose|imagine|what if|how about|why|wish|as if|remember when)\b",
    r"\b(?:nicht|nichts|niemand|nie|noch keine?|ob|wenn|falls|sobald|vielleicht|sollten?"
    r"|könnten?|würden?|angenommen|warum|hätten?)\b",
    r"\b(?:pas encore|si|quand|peut-être|aún no|todavía no|quizás|cuando|non ancora|forse"
    r"|nog niet|misschien|ещё не|если)\b",
    r"(?:^|[,;:]\s)(?:se|als)\b",  # elsewhere they are French and German words
    r"还没|還沒|如果|没有|まだ|もし|아직",
)
DOUBTS = compiled(*_DOUBTS)
CONDITIONS = compiled(*_DOUBTS, r"\b(?:until|before|bis|bevor)\b")
# Of the work at hand, and so of no interest tomorrow.
PASSING = compiled(
    r"\b(?:questions?|steps?|parts?|parameters?|arguments?|functions?|variables?|files?|tests?"
    r"|code|loops?|bugs?|paragraphs?|sentences?|exercises?|examples?|columns?|rows?|lines?"
    r"|errors?|scripts?|regex|quer(?:y|ies)|random|inputs?|outputs?|prompts?|placeholders?"
    r"|problems?|issues?)\b",
    r"\b(?:fragen?|schritte?|teile?|parametern?|funktion(?:en)?|variablen?|dateien?|codes?"
    r"|schleifen?|fehlern?|absätze?|absatz|sätze?|satz|beispiele?n?|spalten?|zeilen?|skripte?"
    r"|probleme?|eingaben?|ausgaben?)\b",
    r"\b(?:fichiers?|questions?|erreurs?|problèmes?|archivos?|ficheros?|código|pregunta)\b",
)
# An assistant that says so tells of what it did, and not of what was agreed.
SELF = compiled(r"\b(?:i|ich|j['’]ai|he decidido|ho deciso|ik)\b", r"(?<!\w)我(?![们們])")
# A choice that only points at what was said elsewhere.
VAGUE = compiled(
    r"\b(?:go|stick|stay|going) with (?:that|this|it|them|those|these|you|yours?|him|her"
    r"|(?:the )?(?:first|second|third|last|former"
    r"|latter|other|same|default)(?: one| option| version| idea| approach)?|(?:option|variant"
    r"|plan|number|no\.?|version) ?\w{1,3}"
    r"|your \w+)\s*(?:then|now|please|for now|instead)?\s*[.!,]*$",
    r"\bdecided (?:to do|on|for|against) (?:that|this|it|so)\s*[.!]*$",
    r"\b(?:agreed|decided)(?: on| upon)? nothing\b",
    r"\bbleiben (?:also |jetzt |dann )?(?:dabei|bei dem|bei (?:variante|option)"
    r" ?\w{1,3})\s*[.!]*$",
    r"\bnehmen (?:(?:das|die|den) (?:andere|nächste)n?)\b",
    r"\bnehmen (?:also |jetzt |dann |nun )?(?:das|die|den|es|(?:die )?(?:variante|option)"
    r" ?\w{1,3}|(?:das|die|den) (?:erste|zweite|letzte)n?)\s*[.!]*$",
)

CORRECTIONS = re.compile(
    r"""(?P<lead>(?:
        (?:no|nope|wrong|actually|sorry|correction|that['’]s\ (?:wrong|not\ (?:right|correct|true))
          |not\ quite|nein|falsch|quatsch|unsinn|korrektur|richtigstellung|eigentlich
          |(?:das\ (?:stimmt|ist)|stimmt)\ (?:so\ )?(?:nicht|falsch)(?:\ ganz|\ richtig)?
          |non|incorrect|corrección|nee)
        \s*[,:;.–—-]\s*|actually\s+(?=the\b|my\b|our\b))++)
      # Not about the answer that was given.
      (?!.*\b(?:you|i\ (?:mean|meant|said|want|wanted|asked|think|need)|du
        |ich\ (?:meine|meinte|sagte|will|wollte|glaube))\b)
      (?=.{0,200}?\b(?:is|are|was|were|lives?|works?|has|uses?|runs?|costs?|starts?|begins?|ends?
        |belongs?|needs?|comes?|leaves?|takes?|ist|sind|war|waren|wohnt|heißt|arbeitet|hat|liegt
        |läuft|beträgt|kostet|beginnt|endet|gehört|braucht|kommt|fährt|steht|dauert)\b
        | .{0,200}?['’]s\b)
      (?:(?P<own>(?=(?:my|our|mein|unser)\w*\b))
        | (?=.*(?:(?:,|\band)\s*not\b|\bnot\b.{1,60}\bbut\b|\bsondern\b|(?:,|\bund)\s*nicht\b
          |\binstead\ of\b|\bstatt\b|\bsince\b|\bseit\b|\d))
        | (?<=korrektur:\s) | (?<=correction:\s))""",
    re.IGNORECASE | re.VERBOSE,
)

_WEAK_WORDS = """
a an the this that these those it its is are was were be been am i me my you your he him his she
her we us our they them their to of in on at for with by from as and or but not no so do does did
done have has had will would can could should may might must please just also too very really now
then there here what which who when where how if than about into out up down over again ok okay
yes let's lets go going decided decide remember note always never thing things one ones something
everything anything der die das den dem des ein eine einen einem einer ist sind war waren bin bist
ich mich mir mein meine du dich dir dein deine er ihn ihm sie ihr ihre wir uns unser unsere es und
oder aber nicht kein keine zu im in am an auf für mit von bei aus als wie so auch noch nur schon
sehr dann da hier was wer wo wann wenn ob haben habe hat hatte wird werden kann soll bitte mal
jetzt immer nie le la les un une des de du et ou est sont que qui ce cette je tu il elle nous vous
ils el los las una y o es son que no lo en di che il lo gli e è sono um os as que não het een en
of dat is zijn
"""
WEAK = frozenset(_WEAK_WORDS.split())
