"""The language of pages and questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memidx.ground.languages import LANGUAGES
from memidx.parsing.functionwords import FUNCTION_WORDS
from memidx.parsing.language import _CODES, page_language, question_language
from memidx.parsing.page import parse_page

# The first article of the Universal Declaration of Human Rights.
ARTICLE = {
    "arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.",
    "danish": "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og samvittighed,"
    " og de bør handle mod hverandre i en broderskabets ånd. Det er blevet sådan af sig selv, og nogle ved, hvad det er.",
    "dutch": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met verstand en"
    " geweten, en behoren zich jegens elkander in een geest van broederschap te gedragen.",
    "english": "All human beings are born free and equal in dignity and rights. They are endowed with reason and"
    " conscience and should act towards one another in a spirit of brotherhood.",
    "finnish": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja"
    " omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä. Se on niin, että ne ovat tai eivät ole.",
    "french": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de"
    " conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
    "german": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt"
    " und sollen einander im Geist der Brüderlichkeit begegnen.",
    "greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "hungarian": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és"
    " lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek, ha nem is az a szabály, hogy kell.",
    "italian": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e di"
    " coscienza e devono agire gli uni verso gli altri in spirito di fratellanza.",
    "norwegian": "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter. De er utstyrt med fornuft"
    " og samvittighet og bør handle mot hverandre i brorskapets ånd. Det er noen som ikke har hva de skal ha.",
    "portuguese": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de"
    " consciência, devem agir uns para com os outros em espírito de fraternidade.",
    "romanian": "Toate ființele umane se nasc libere și egale în demnitate și în drepturi. Ele sunt înzestrate cu"
    " rațiune și conștiință și trebuie să se comporte unele față de altele în spiritul fraternității.",
    "russian": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y"
    " conciencia, deben comportarse fraternalmente los unos con los otros.",
    "swedish": "Alla människor är födda fria och lika i värde och rättigheter. De är utrustade med förnuft och samvete och"
    " bör handla gentemot varandra i en anda av broderskap. Det är inte så att vi har det.",
    "tamil": "மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்",
    "turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine"
    " karşı kardeşlik zihniyeti ile hareket etmelidirler. Bu, her insan için daha iyi bir dünya demek.",
}


def language_of(text, own="english"):
    return page_language(parse_page("p.md", text.encode()), own)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("own", ["english", "german"])
def test_running_text_tells_its_language(language, own):
    assert language_of(ARTICLE[language], own) == language


def test_every_stemmer_has_a_text_here():
    assert set(ARTICLE) == set(LANGUAGES)
    assert set(FUNCTION_WORDS) == set(LANGUAGES) - {"russian", "tamil"}
    assert set(_CODES.values()) == set(LANGUAGES)


@pytest.mark.parametrize(
    ("front_matter", "language"),
    [
        ("lang: de", "german"),
        ("lang: de-CH", "german"),
        ("Language: German", "german"),
        ("language: PT_BR", "portuguese"),
        ("locale: nb", "norwegian"),
        ("lang: [de, fr]", "german"),
        ("lang: ja", "english"),  # no stemmer: as the vault's own
        ("lang: zh-Hans", "english"),
        ("lang: en", "english"),
    ],
)
def test_front_matter_comes_first(front_matter, language):
    assert language_of(f"---\n{front_matter}\n---\n{ARTICLE['spanish']}\n") == language


@pytest.mark.parametrize(
    "front_matter", ["language: python", "lang: ''", "lang:", "language: plain text", "lang: {a: b}"]
)
def test_what_is_no_language_says_nothing(front_matter):
    assert language_of(f"---\n{front_matter}\n---\n{ARTICLE['spanish']}\n") == "spanish"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "die Katze",  # too little to tell
        "# Der Die Das\n\n| das | der |\n",
        "git rebase --onto main; de la en el y a: `for i in a b c; do echo $i; done`",
        "- Le Monde\n- El País\n- Der Spiegel\n- La Repubblica\n- Die Zeit\n",
        "日本語のページです。エラー処理について。",
        "Dự án này dùng để lưu ghi chú và các quyết định của nhóm, được viết bằng tiếng Việt.",
    ],
)
def test_a_doubtful_page_is_in_the_vaults_language(text):
    assert language_of(text) == "english"
    assert language_of(text, "swedish") == "swedish"


def test_an_english_page_with_quotations_stays_english():
    quoted = f"{ARTICLE['english']} In German this is: {ARTICLE['german'][:60]}"
    assert language_of(quoted) == "english"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("wie wird das Backup eingespielt", "german"),
        ("how is the backup restored", "english"),
        ("backup restore", None),
        ("como se restaura la copia", "spanish"),
        ("που είναι το αρχείο", "greek"),
        ("как восстановить", None),  # the vault has no Russian pages
        ("", None),
    ],
)
def test_a_question_is_in_one_of_the_vaults_languages(question, language):
    assert question_language(question, ("english", "german", "spanish", "greek")) == language


@given(st.text(), st.sampled_from(LANGUAGES))
def test_any_text_has_a_language(text, own):
    assert language_of(text, own) in LANGUAGES
