from softmodes._text import harmless


def test_halves_of_characters_which_cannot_be_printed_are_spelled_out():
    assert harmless("a\ud800") == r"a\ud800"
