"""The smallest words of languages that have a stemmer: articles, pronouns, prepositions, question words.

They tell languages apart, because running text is full of them. Words that two languages share are fine: it is the
number that counts. Lower case, with accents, as they are written.
"""

from __future__ import annotations

from typing import Final

from memidx.parsing.stopwords import ENGLISH

_WRITTEN: Final[dict[str, str]] = {
    "arabic": "أن أو أي أين إلى إن التي الذي الذين ذلك على عن عند في قد كان كانت كم كما كيف لا لم لماذا ما"
    " ماذا متى مع من هذا هذه هل هو هي وقد",
    "danish": "af at blev da de den der det eller en er et for fra har hun hvad hvilken hvor ikke jeg kan"
    " med men nogle og også om på sig skal som til var ved vi være hvem hvorfor hvordan hvilke hvilket"
    " hvornår",
    "dutch": "aan als bij dan dat de deze die dit door een en er geen haar heeft het hij hoe ik in is maar"
    " met naar niet of om ook op te tot uit van veel voor waar wat welke werd wordt worden ze zijn zich wie"
    " wanneer waarom hoeveel",
    "finnish": "ei eivät en että hän ja joka jos jotka kanssa koska kuin kun me miksi mikä missä mitä mutta"
    " myös ne niin nämä oli olla on ovat se sekä siitä sitä tai tämä voi vain kuka ketkä milloin kuinka"
    " minkä",
    "french": "au aux avec ce ces cette comment dans de des du elle en est et il ils la le les leur mais ne"
    " nous on ont ou où par pas plus pour quand que quel quelle qui sa se ses son sont sur un une vous"
    " était être quoi pourquoi quels quelles combien",
    "german": "als am an auch auf aus bei bis das dass dem den der des die durch ein eine einem einen einer"
    " es für hat ich im in ist kann mit nach nicht oder sich sie sind und von war was welche wenn werden"
    " wie wird wo wurde zu zum zur über wer wen wem wessen warum wieso weshalb woher wohin womit wofür"
    " wogegen welcher welchem welchen welches",
    "greek": "από αυτά αυτή αυτό αυτός για δεν είναι είχε ένα ένας έχει ήταν και κατά με μετά μια μία να οι"
    " όταν ποια ποιες ποιο ποιοι ποιος ποιον πού που πόσα πόσες πόσο πόσοι πότε πώς πως σε στα στη στην"
    " στις στο στον στους τα την της τι τις το τον του τους των ως θα",
    "hungarian": "a az egy ez ezt és hogy hol is ha ki mi mint meg mert mely mikor milyen nem nincs olyan"
    " pedig csak de el van volt vagy át lehet azt ami amely után között szerint miért hogyan mennyi melyik"
    " hány",
    "italian": "al alla anche che chi come con cosa da dal dalla dei del della delle di dove e gli ha hanno"
    " i il in la le lo ma nel nella non o per più quale quando questo se si sono stato su sul una un è"
    " perché quali quanto quanta quanti quante",
    "norwegian": "av at ble da de den der det eller en er et for fra har hun hva hvilken hvor ikke jeg kan"
    " med men noen og også om på seg skal som til var ved vi være hvem hvorfor hvordan hvilke hvilket når",
    "portuguese": "ao aos as com como da das de do dos e ela ele em entre era essa esta este foi isso mais"
    " mas na nas no nos não o os ou para pela pelo por qual quando que quem se sem ser seu sua são um uma"
    " você à é quais quanto quantos quantas onde",
    "romanian": "a acest această al ale am ar au ca care ce cele cu cum când de din este fi fost în îi într"
    " la lui mai nu o pe pentru prin sa sau se sunt și să un unde unei unui cine cui cât câți câte",
    "spanish": "a al como con cuando cuál cómo de del donde dónde el ella en entre era es esta este fue ha"
    " hay la las le lo los más no o para pero por porque que quién qué se ser si sin sobre son su sus un"
    " una y quiénes cuáles cuánto cuánta cuántos cuántas",
    "swedish": "att av blev de den det där då efter eller en ett från för ha han har hon hur i inte jag kan"
    " med men när och också om på sig ska som till under var vad vid vi vilken är vem varför vilka vilket",
    "turkish": "ama bir bu bunu çok daha da de değil diye en gibi göre hangi her için ile ise kadar kim mı"
    " mi nasıl ne neden nerede olan olarak oldu o sonra şu tarafından ve veya ya nedir neydi nelerdir"
    " kimdir kaç niçin hangisi",
}
FUNCTION_WORDS: Final[dict[str, frozenset[str]]] = {
    # Single letters are left out: code is full of them.
    name: frozenset(word for word in words if len(word) > 1)
    for name, words in (("english", ENGLISH), *((name, words.split()) for name, words in _WRITTEN.items()))
}
