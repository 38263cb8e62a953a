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
_ENDS_SENTENCE = (".", "!", "?", "…", "。", "！", "？", ":", "：")


def leads_in(before: str) -> bool:
    """Whether a marked call may follow `before`: a few words that announce no example of one."""
    lead_in = before.strip()
    if len(lead_in) > MAX_LEAD_IN_CHARS or EXPLAINS.search(lead_in):
        return False
    if lead_in.endswith((":", "：")):
        return intends(lead_in)
    return before.rstrip(" \t").endswith("\n") or lead_in.endswith(_ENDS_SENTENCE)


def intends(lead_in: str) -> bool:
    """Whether the words say that the model goes to work now, so that a call without a mark of its
    own may follow them."""
    if len(lead_in) > MAX_LEAD_IN_CHARS or EXPLAINS.search(lead_in):
        return False
    return is_thought(lead_in) or bool(_INTENDS.search(lead_in))


def is_thought(lead_in: str) -> bool:
    """Whether the words are a line of a ReAct prompt's, which are not for the user."""
    return bool(_THOUGHT.match(lead_in))


def is_announced(lead_in: str) -> bool:
    """Whether the words end in a colon, as those before an example do."""
    return lead_in.endswith((":", "："))
