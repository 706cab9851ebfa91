"""A strict reader of HTML: every tag is closed in its turn, and what the tests ask of a page."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}
# What a browser would fetch if it named a place.
FETCHING = {"src", "srcset", "data", "poster", "action", "background"}


class PageReader(HTMLParser):
    """Reads a page; `problems` lists what is wrong with its form."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.problems: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        self.problems += [f"{tag} is never closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"{tag} has an attribute twice: {names}")
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"{tag} is closed inside {self.open[-3:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if data.strip():
            self.words.append((self.open[-1] if self.open else "", data.strip()))

    def of(self, tag: str) -> list[dict[str, str]]:
        """The attributes of all tags of a name."""
        return [attributes for name, attributes in self.tags if name == tag]

    def texts(self, tag: str) -> list[str]:
        """The words directly inside tags of a name."""
        return [text for name, text in self.words if name == tag]


def read_page(text: str) -> PageReader:
    """A page that is well formed, needs nothing from elsewhere and describes its pictures."""
    page = PageReader(text)
    assert page.problems == []
    assert text.startswith("<!doctype html>")
    assert not page.of("script")
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.tags:
        for name in FETCHING & attributes.keys():
            raise AssertionError(f"{tag} has {name}={attributes[name]!r}")
        href = attributes.get("href", "")
        assert href.startswith(("#", "data:")) or not href, href
        if href.startswith("#") and len(href) > 1:
            assert href[1:] in ids, href
        assert not any(name.startswith("on") for name in attributes)
    pictures = page.of("svg")
    assert all(attributes.get("role") == "img" for attributes in pictures)
    assert len(page.texts("desc")) == len(pictures)
    assert len(page.texts("title")) == len(pictures) + 1
    assert "url(" not in text.partition("</style>")[0]
    return page
