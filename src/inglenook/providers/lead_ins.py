"""What a model says before it calls, told from the words before an example of a call.

Pure. Words of the languages that models are asked in most; where none is known, a text stays an
answer unless the call behind it has a mark of its own.
"""

import re

MAX_LEAD_IN_CHARS = 600
"""What is longer is an answer with an example in it."""

EXPLAINS = re.compile(
    r"\b(?:examples?|exemples?|ejemplos?|beispiele?|esempi[oi]?|formats?|formatos?|formato"
    r"|syntax|syntaxe|sintaxis|sintassi|templates?|looks? like|calls? looks?|(?:is|see|show(?:s|n)?"
    r"|know) how|demonstrat\w*|illustrat\w*|would|could|for instance|zum beispiel|sähe|wäre|würde"
    r"|serait|sería|sarebbe)\b"
    r"|格式|例如|示例|例えば|形式|например|формат",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:warn\w*|attacks?|inject\w*|malicious|suspicious|strange|hidden|forged)\b"
    r"|\b(?:says?|said|reads|writes?|wrote|contains?|contained|holds?|held|prints?|printed|states?"
    r"|ends? with|begins? with|quotes?|quoted|sagt|lautet|enthält|steht|schreibt|dit|contient|dice"
    r"|contiene|diz|contém|пишет|содержит)(?:\s+(?:only|just|this|that|so|these|the following"
    r"|as follows|folgendes|dies|ceci|esto|lo siguiente))*\W*$|(?:写道|内容是|如下)\W*$",
    re.IGNORECASE,
)
"""Words of somebody who passes on what another text says: its calls are not the model's own."""
_INTENDS = re.compile(
    r"\b(?:i['’]ll|i will|i['’]m going to|i am going to|i need to|i must|i have to|i should"
    r"|i want to|i['’]d like to|let me|let['’]s|allow me to|first,? i|now i|next,? i|i(?: a|['’])m"
    r" \w+ing"
    r"|ich (?:werde|muss|möchte|will|suche|prüfe|rechne|schaue|sehe|lese|frage|rufe|hole|brauche)"
    r"|lass(?:en sie)? mich|lassen wir"
    r"|je (?:vais|dois|cherche|consulte|regarde|vérifie|calcule)|laissez-moi|permettez-moi"
    r"|voy a|necesito|debo|déjame|déjeme|permíteme|permítame|buscaré|consultaré|calcularé"
    r"|vado a|devo|lasciami|fammi|cerco|controllo"
    r"|vou|preciso|deixe-me|deixa-me)\b"
    r"|我(?:来|将|会|需要|先|要|去|帮)|让我|調べます|検索します|確認します|計算します"
    r"|\bя (?:сейчас|поищу|посмотрю|проверю|вычислю|найду|должен)|\bдавайте?\b|\bпозвольте\b",
    re.IGNORECASE,
)
THOUGHT_WORDS = ("thought", "question", "plan", "reflection")
"""What the lines of ReAct prompts and Command R begin with, before a colon."""
_THOUGHT = re.compile(rf"\s*\*{{0,2}}(?:{'|'.join(THOUGHT_WORDS)})\s*:", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[.!?…]+\s+|[。！？]|\n+")
_ENDS_SENTENCE = (".", "!", "?", "…", "。", "！", "？")


def leads_in(before: str) -> bool:
    """Whether a marked call may follow `before`: a few words that announce no example of one."""
    lead_in = before.strip()
    if not _may_lead_in(lead_in):
        return False
    if not lead_in.endswith(_ENDS_SENTENCE) or is_announced(lead_in):
        return intends(lead_in)
    return True


def intends(lead_in: str) -> bool:
    """Whether the last of the words say that the model goes to work now, so that a call without
    a mark of its own may follow them."""
    if not _may_lead_in(lead_in):
        return False
    last = [sentence for sentence in _SENTENCE_ENDS.split(lead_in) if sentence.strip()][-1:]
    return is_thought(lead_in) or any(map(_INTENDS.search, last))


def _may_lead_in(lead_in: str) -> bool:
    is_short = len(lead_in) <= MAX_LEAD_IN_CHARS
    return is_short and not (EXPLAINS.search(lead_in) or _REPORTS.search(lead_in))


def is_thought(lead_in: str) -> bool:
    """Whether the words are a line of a ReAct prompt's, which are not for the user."""
    return bool(_THOUGHT.match(lead_in))


def goes_on(rest: str) -> bool:
    """Whether what stands behind a call goes on with the sentence before it, or speaks of it."""
    return rest[:1].islower() or bool(EXPLAINS.search(rest, 0, MAX_LEAD_IN_CHARS))


def is_open(lead_in: str) -> bool:
    """Whether the words are no whole sentence, so that the call is a part of what they say."""
    return bool(lead_in) and not lead_in.endswith(_ENDS_SENTENCE)


def is_announced(lead_in: str) -> bool:
    """Whether the words end in a colon, as those before an example do."""
    return lead_in.endswith((":", "："))
