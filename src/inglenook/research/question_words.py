"""Words of questions that carry no content, by language: what `content_gate.py` may leave out.

Everything that stands in none of these lists is content and compared as it is: negations, words of
direction, numbers, names. A word missing here costs a hit; one too many answers another question.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class QuestionWords:
    stemmer: str
    """Name of the Snowball algorithm."""
    grammar: frozenset[str]
    """Articles, the present of "to be", who asks: gone anywhere."""
    asking: frozenset[tuple[str, ...]]
    """Phrases gone at the beginning: "please", "tell me", "what"."""
    outputs: frozenset[str]
    """What is asked for ("a detailed report"): gone at the beginning, before one of `about`."""
    about: frozenset[str]
    ends: tuple[tuple[str, ...], ...]
    """Gone at the end: "please", "in detail"."""
    weights: frozenset[str]
    """Adjectives that may be there or not: "main", "important"."""
    places: frozenset[str]
    """Prepositions whose phrase may stand first as well as last; never those of direction."""
    of: frozenset[str] = frozenset()
    """`A of B` is `B A`."""
    inflections: frozenset[frozenset[str]]
    """Pairs of endings by which two forms of one word may differ behind what they share."""


def words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    """`tell_me`: two words behind each other."""
    return frozenset(tuple(phrase.split("_")) for phrase in text.split())


def _ends(text: str) -> tuple[tuple[str, ...], ...]:
    """The longest first."""
    phrases = [tuple(phrase.split()) for phrase in text.split(",")]
    return tuple(sorted(phrases, key=len, reverse=True))


def _pairs(text: str) -> frozenset[frozenset[str]]:
    """`-/s`: with and without an s."""
    return frozenset(
        frozenset(ending.strip("-") for ending in pair.split("/")) for pair in text.split()
    )


QUESTION_WORDS: Mapping[str, QuestionWords] = {
    "en": QuestionWords(
        stemmer="english",
        grammar=words_in("a an the is are am be i me my do does that there please"),
        asking=_phrases(
            "hello hi hey please kindly tell_me tell_us tell give_me give_us give_a give_an "
            "explain describe provide_me provide_a provide_an summarize summarise can_you "
            "could_you would_you will_you i_want_to_know i_want_to_understand i_need_to_know "
            "i_would_like_to_know i_would_like_a i_need_a i_want_a i_want_you_to "
            "i_would_like_you_to i_am_wondering to_me to_us for_me for_us what which and "
            "do_you_know let_me_know help_me_understand"
        ),
        outputs=words_in(
            "report overview summary information info details explanation description list "
            "introduction research search look find write prepare make create detailed short "
            "brief comprehensive thorough complete up everything something all more investigate"
        ),
        about=words_in("about on of regarding concerning into for how why what when where who"),
        ends=_ends(
            "please,thanks,thank you,in detail,with sources,and cite your sources,"
            "cite your sources,step by step,in simple terms,and give sources,please explain"
        ),
        weights=words_in(
            "main major important detailed comprehensive thorough exactly really actually "
            "basically generally typically usually"
        ),
        places=words_in("in at for during about on"),
        of=words_in("of"),
        inflections=_pairs(
            "-/s -/es -/ed -/d -/ing e/ing ed/ing s/ing es/ing ed/s d/s y/ies ied/y"
        ),
    ),
    "de": QuestionWords(
        stemmer="german",
        grammar=words_in(
            "der die das den dem des ein eine einen einem einer eines ist sind bin ich mir mich "
            "mein meine es bitte denn eigentlich"
        ),
        asking=_phrases(
            "hallo bitte sag sage sagen gib geben erkläre erklär erklären beschreibe beschreib "
            "kannst_du können_sie könntest_du könnten_sie würdest_du mir uns ich_möchte ich_will "
            "ich_möchte_gerne ich_möchte_wissen ich_möchte_gerne_wissen ich_will_wissen weißt_du "
            "was welche welcher welches und mal"
        ),
        outputs=words_in(
            "bericht überblick übersicht zusammenfassung informationen infos details erklärung "
            "beschreibung liste einführung recherche recherchiere recherchieren suche finde "
            "schreibe schreib erstelle verfasse fasse ausführlichen ausführliche kurzen kurze "
            "detaillierten detaillierte umfassenden alles etwas mehr einen eine ein heraus"
        ),
        about=words_in("über zu zum zur wie warum wieso wann wo wer"),
        ends=_ends("bitte,danke,vielen dank,im detail,mit quellen,mit quellenangaben,ausführlich"),
        weights=words_in(
            "wichtigste wichtigsten wichtige wichtigen hauptsächlich hauptsächlichen genau "
            "eigentlich ausführlich ausführliche"
        ),
        places=words_in("in im am bei beim während für"),
        inflections=_pairs("-/e -/n -/en -/es -/er e/en e/es e/er en/er en/es t/en st/en e/t"),
    ),
    "fr": QuestionWords(
        stemmer="french",
        grammar=words_in(
            "le la les l un une des est sont suis je j moi me mon ma mes ce c il y svp merci"
        ),
        asking=_phrases(
            "bonjour salut dis dites donne donnez explique expliquez décris décrivez peux_tu "
            "pouvez_vous pourrais_tu pourriez_vous je_veux_savoir je_voudrais_savoir "
            "j_aimerais_savoir je_voudrais j_aimerais moi nous s_il_te_plaît s_il_vous_plaît que "
            "qu quel quelle quels quelles quoi quelles et"
        ),
        outputs=words_in(
            "rapport aperçu résumé informations infos détails explication description liste "
            "introduction recherche recherches fais faites cherche cherchez trouve trouvez écris "
            "rédige rédigez détaillé détaillée court bref complet complète tout plus résume"
        ),
        about=words_in("sur concernant comment pourquoi quand où qui"),
        ends=_ends(
            "merci,svp,s il vous plaît,s il te plaît,en détail,avec sources,avec des sources"
        ),
        weights=words_in(
            "principal principale principaux principales important importante importants "
            "importantes vraiment exactement généralement"
        ),
        places=words_in("en pendant durant dans"),
        inflections=_pairs("-/s -/x -/e -/es e/es é/ée é/és é/ées al/aux"),
    ),
    "es": QuestionWords(
        stemmer="spanish",
        grammar=words_in("el la los las un una unos unas es son soy yo me mi mis hay"),
        asking=_phrases(
            "hola por_favor dime dame explica explícame explique describe puedes_decirme "
            "puedes_explicarme podrías_decirme podrías_explicarme puedes_explicar podrías_explicar "
            "quiero_saber quisiera_saber me_gustaría_saber quiero quisiera cuál cuáles qué y"
        ),
        outputs=words_in(
            "informe resumen información detalles explicación descripción lista introducción "
            "investigación investiga busca buscar encuentra escribe redacta prepara haz detallado "
            "detallada breve completo completa todo más un una panorama"
        ),
        about=words_in("sobre acerca cómo por quién cuándo dónde"),
        ends=_ends("por favor,gracias,en detalle,con fuentes,muchas gracias,detalladamente"),
        weights=words_in(
            "principal principales importante importantes realmente exactamente generalmente"
        ),
        places=words_in("en durante"),
        inflections=_pairs("-/s -/es o/os a/as e/es z/ces"),
    ),
    "it": QuestionWords(
        stemmer="italian",
        grammar=words_in("il lo la i gli le l un uno una è sono io mi mio mia ci"),
        asking=_phrases(
            "ciao salve per_favore dimmi dammi spiega spiegami descrivi puoi_dirmi puoi_spiegarmi "
            "potresti_dirmi potresti_spiegarmi puoi_spiegare potresti_spiegare voglio_sapere "
            "vorrei_sapere voglio vorrei qual quale quali cosa cos e"
        ),
        outputs=words_in(
            "rapporto relazione panoramica riassunto riepilogo informazioni dettagli spiegazione "
            "descrizione lista elenco introduzione ricerca ricerche fai cerca trova scrivi prepara "
            "dettagliato dettagliata breve completo completa tutto più"
        ),
        about=words_in(
            "su sul sulla sui sulle sull sullo sugli riguardo come perché quando dove chi"
        ),
        ends=_ends("per favore,grazie,in dettaglio,con fonti,con le fonti"),
        weights=words_in(
            "principale principali importante importanti davvero esattamente generalmente"
        ),
        places=words_in("in nel nella nei nelle durante"),
        inflections=_pairs("o/i a/e e/i"),
    ),
    "nl": QuestionWords(
        stemmer="dutch",
        grammar=words_in("de het een is zijn ben ik me mij mijn er dat"),
        asking=_phrases(
            "hallo alsjeblieft alstublieft zeg vertel geef leg_uit leg_me_uit beschrijf kun_je "
            "kunt_u kan_je zou_je zou_u ik_wil_weten ik_wil_graag_weten ik_wil_graag me mij ons "
            "wat welke welk en"
        ),
        outputs=words_in(
            "rapport verslag overzicht samenvatting informatie details uitleg beschrijving lijst "
            "inleiding onderzoek onderzoeken zoek vind schrijf maak uitgebreid uitgebreide kort "
            "korte gedetailleerd gedetailleerde alles meer een naar op"
        ),
        about=words_in("over hoe waarom wanneer waar wie"),
        ends=_ends("alsjeblieft,alstublieft,bedankt,in detail,met bronnen,dank je,uitgebreid"),
        weights=words_in("belangrijkste belangrijk belangrijke precies eigenlijk doorgaans"),
        places=words_in("in tijdens"),
        inflections=_pairs("-/s -/en -/e e/en -/t -/'s"),
    ),
    "pt": QuestionWords(
        stemmer="portuguese",
        grammar=words_in("o a os as um uma uns umas é são sou eu me meu minha que há"),
        asking=_phrases(
            "olá oi por_favor diga dê explique explica descreva pode_dizer pode_explicar "
            "podes_explicar poderia_explicar você_pode_explicar quero_saber gostaria_de_saber "
            "queria_saber quero queria qual quais quê que o_que e"
        ),
        outputs=words_in(
            "relatório resumo informações informação detalhes explicação descrição lista "
            "introdução pesquisa pesquise procure busque encontre escreva prepare faça detalhado "
            "detalhada breve completo completa tudo mais um uma visão geral"
        ),
        about=words_in("sobre como por quem quando onde"),
        ends=_ends("por favor,obrigado,obrigada,em detalhes,em detalhe,com fontes"),
        weights=words_in(
            "principal principais importante importantes realmente exatamente geralmente"
        ),
        places=words_in("em no na nos nas durante"),
        inflections=_pairs("-/s -/es o/os a/as e/es ão/ões al/ais"),
    ),
    "ru": QuestionWords(
        stemmer="russian",
        grammar=words_in("это я мне мой моя ли"),
        asking=_phrases(
            "привет пожалуйста расскажи расскажите скажи скажите объясни объясните опиши опишите "
            "можешь можете мог_бы_ты могли_бы_вы я_хочу_узнать я_хочу_знать хочу_узнать хочу_знать "
            "мне нам что какой какая какие "
            "какое каковы каков какова и дай дайте"
        ),
        outputs=words_in(
            "отчёт отчет обзор сводку информацию подробности объяснение описание список введение "
            "исследование исследуй найди найдите поищи напиши напишите подготовь составь подробный "
            "подробную краткий краткую полный всё все больше подробно кратко"
        ),
        about=words_in("о об обо про как почему когда где кто"),
        ends=_ends("пожалуйста,спасибо,подробно,с источниками,с указанием источников"),
        weights=words_in(
            "главный главные главных основной основные основных важный важные важных именно"
        ),
        places=words_in("в во при"),
        inflections=_pairs(
            "-/а -/ы -/и -/у -/е а/ы а/и а/у а/е ы/у и/у и/е я/и я/ю я/е ь/и ь/я ый/ые ый/ого "
            "ая/ые ая/ой ий/ие о/а е/я ы/ов -/ов -/ом -/ам -/ами -/ах а/ой"
        ),
    ),
    "pl": QuestionWords(
        stemmer="polish",
        grammar=words_in("jest są jestem ja mi mnie mój moja to czy się"),
        asking=_phrases(
            "cześć proszę powiedz powiedzcie wyjaśnij opisz podaj możesz możecie mógłbyś mogłabyś "
            "chcę_wiedzieć chciałbym_wiedzieć chciałabym_wiedzieć mi nam co jaki jaka jakie i"
        ),
        outputs=words_in(
            "raport przegląd podsumowanie informacje szczegóły wyjaśnienie opis listę wprowadzenie "
            "badanie zbadaj znajdź poszukaj wyszukaj napisz przygotuj szczegółowy szczegółowe "
            "krótki krótkie pełny wszystko więcej"
        ),
        about=words_in("o na temat jak dlaczego kiedy gdzie kto"),
        ends=_ends("proszę,dziękuję,dzięki,szczegółowo,ze źródłami"),
        weights=words_in("główny główne głównych ważny ważne najważniejsze dokładnie właściwie"),
        places=words_in("w we podczas"),
        inflections=_pairs("-/a -/y -/i -/u -/ów a/y a/i a/ę e/y y/ów i/y ny/ne"),
    ),
    "sv": QuestionWords(
        stemmer="swedish",
        grammar=words_in("en ett den det är jag mig min mitt mina som"),
        asking=_phrases(
            "hej snälla berätta säg ge förklara beskriv kan_du kan_ni kunde_du skulle_du "
            "jag_vill_veta jag_vill_gärna_veta mig oss vad vilken vilket vilka och tack"
        ),
        outputs=words_in(
            "rapport översikt sammanfattning information detaljer förklaring beskrivning lista "
            "introduktion forskning sök hitta skriv gör undersök detaljerad kort fullständig allt "
            "mer en ett"
        ),
        about=words_in("om kring hur varför när var vem"),
        ends=_ends("tack,snälla,i detalj,med källor,tack så mycket"),
        weights=words_in("viktigaste viktig viktiga främsta huvudsakliga egentligen exakt"),
        places=words_in("i under"),
        inflections=_pairs("-/en -/et -/ar -/er -/or -/n a/or e/ar -/na ar/arna er/erna or/orna"),
    ),
    "da": QuestionWords(
        stemmer="danish",
        grammar=words_in("en et den det er jeg mig min mit mine som"),
        asking=_phrases(
            "hej venligst fortæl sig giv forklar beskriv kan_du kunne_du vil_du jeg_vil_vide "
            "jeg_vil_gerne_vide mig os hvad hvilken hvilket hvilke og tak"
        ),
        outputs=words_in(
            "rapport oversigt sammenfatning resumé information detaljer forklaring beskrivelse "
            "liste introduktion forskning søg find skriv lav undersøg detaljeret kort komplet alt "
            "mere en et"
        ),
        about=words_in("om hvordan hvorfor hvornår hvor hvem"),
        ends=_ends("tak,venligst,i detaljer,med kilder,mange tak"),
        weights=words_in("vigtigste vigtig vigtige væsentligste egentlig præcis"),
        places=words_in("i under"),
        inflections=_pairs("-/en -/et -/e -/er -/r -/n e/er e/en er/erne"),
    ),
    "no": QuestionWords(
        stemmer="norwegian",
        grammar=words_in("en ei et den det er jeg meg min mitt mine som"),
        asking=_phrases(
            "hei vennligst fortell si gi forklar beskriv kan_du kunne_du vil_du jeg_vil_vite "
            "jeg_vil_gjerne_vite meg oss hva hvilken hvilket hvilke og takk"
        ),
        outputs=words_in(
            "rapport oversikt sammendrag informasjon detaljer forklaring beskrivelse liste "
            "introduksjon forskning søk finn skriv lag undersøk detaljert kort fullstendig alt "
            "mer en et"
        ),
        about=words_in("om hvordan hvorfor når hvor hvem"),
        ends=_ends("takk,vennligst,i detalj,med kilder,tusen takk"),
        weights=words_in("viktigste viktig viktige egentlig nøyaktig"),
        places=words_in("i under"),
        inflections=_pairs("-/en -/et -/e -/er -/r -/n e/er e/en er/ene"),
    ),
}
"""By ISO 639-1 code. In any other language every word is content."""
