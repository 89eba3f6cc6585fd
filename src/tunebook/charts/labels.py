"""Texts on their way into a drawing: made harmless, measured, shortened.

Names come from study files, programs and other people's logs. What could break a document, turn
the reading direction of its neighbours or drive a terminal is taken out here, once.
"""

from __future__ import annotations

import re
import unicodedata
from xml.sax.saxutils import escape

# Marks, embeddings, overrides and isolates of direction; line and paragraph separators; the
# controls and halves of surrogates that XML cannot hold.
_UNSAFE = re.compile(
    "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029"
    "\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\ufeff]+"
)
_LONGEST = 2000
_NARROW = frozenset("iljtfrI.,:;'|!()[]{} ")
_WIDE = frozenset("mwMW@%")


def clean(text: str) -> str:
    r"""A text of one line, without controls of direction or of terminals.

    >>> clean("a\n\u202eb\x1b[31m")
    'a b [31m'
    """
    return _UNSAFE.sub(" ", text[:_LONGEST]).strip()


def escaped(text: str) -> str:
    """A clean text as the content of an XML element or attribute.

    >>> escaped('<img onerror="x">')
    '&lt;img onerror=&quot;x&quot;&gt;'
    """
    return escape(clean(text), {'"': "&quot;", "'": "&#39;"})


def width_of(text: str, size: float) -> float:
    """About how wide a text is in the widest common sans-serif face, in the unit of the size."""
    return size * sum(map(_advance, text))


def _advance(character: str) -> float:
    if character in _NARROW:
        return 0.36
    if character in _WIDE:
        return 0.95
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.7 if character.isupper() else 0.62


def shortened(text: str, width: float, size: float) -> str:
    """The text, or as much of it as fits into a width, its middle given as an ellipsis.

    Names that differ do so at their beginning or at their end.

    >>> shortened("augmentation.random_erasing.probability", 120, 11)
    'augmentat…obability'
    """
    text = clean(text)
    if width_of(text, size) <= width:
        return text
    kept = len(text) - 1
    while kept > 1 and width_of(_without_middle(text, kept), size) > width:
        kept -= 1
    return _without_middle(text, kept)


def _without_middle(text: str, kept: int) -> str:
    head = (kept + 1) // 2
    tail = kept - head
    return text[:head] + "…" + (text[-tail:] if tail else "")
