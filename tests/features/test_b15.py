"""B15: what people say around a question, and the language's stop words, are no part of a key."""

import pytest

from inglenook.research.asked_question import terms_of
from inglenook.research.words import language_of


@pytest.mark.parametrize(
    ("asked", "terms"),
    [
        ("Please write a detailed report on Roman aqueducts", "roman aqueducts"),
        ("Bitte schreibe einen Bericht über römische Aquädukte", "römische aquädukte"),
        ("Donne-moi un rapport sur les aqueducs romains", "aqueducs romains"),
        ("Por favor, escribe un informe sobre los acueductos romanos", "acueductos romanos"),
        ("Scrivi una relazione sugli acquedotti romani", "acquedotti romani"),
        ("Geef mij een overzicht over Romeinse aquaducten", "romeinse aquaducten"),
        ("Escreva um relatório sobre aquedutos romanos", "aquedutos romanos"),
        ("Пожалуйста, напиши отчёт о римских акведуках", "римских акведуках"),
    ],
)
def test_fluff_and_stop_words_are_stripped(asked: str, terms: str):
    assert " ".join(terms_of(asked, language_of(asked))) == terms
