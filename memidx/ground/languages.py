"""The languages that have a stemmer, by Snowball's names."""

from __future__ import annotations

from typing import Final

LANGUAGES: Final = (
    *("arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian"),
    *("norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish"),
)
