"""Under which name pages are asked for: the one rule about it.

Services that ask robots to say what they are get our own name. Elsewhere we say that we are the
browser which would show the page, since many sites answer 403 to anything else; a person asked for
this page, once, and it is read for them.
"""

OWN_NAME = "Inglenook/0.1 (self-hosted agent runtime; reads single pages its user asks about)"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0"
ASK_FOR_OWN_NAME = (
    # https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy
    "mediawiki.org",
    "wikibooks.org",
    "wikidata.org",
    "wikimedia.org",
    "wikinews.org",
    "wikipedia.org",
    "wikiquote.org",
    "wikisource.org",
    "wikiversity.org",
    "wikivoyage.org",
    "wiktionary.org",
    # https://operations.osmfoundation.org/policies/
    "openstreetmap.org",
    # https://musicbrainz.org/doc/MusicBrainz_API/Rate_Limiting
    "musicbrainz.org",
    # https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api
    "api.github.com",
    "duckduckgo.com",
)
"""Domains, each with what lies below it."""


def user_agent_for(host: str) -> str:
    is_asked = any(host == each or host.endswith(f".{each}") for each in ASK_FOR_OWN_NAME)
    return OWN_NAME if is_asked else BROWSER
