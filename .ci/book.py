"""Called by .ci/book: what the built pages link to and load."""
import html.parser
import pathlib
import sys
import urllib.parse

BOOK = pathlib.Path(sys.argv[1]).resolve()
# Pages of mdBook's own, in which relative links lead elsewhere.
OWN = {"404.html", "print.html", "toc.html"}


class Page(html.parser.HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.links, self.loads, self.ids, self.text = [], [], set(), []
        self.feed(file.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if attrs.get("id"):
            self.ids.add(attrs["id"])
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        for name in ["src", "data"]:
            if attrs.get(name):
                self.loads.append(attrs[name])
        if tag == "link" and attrs.get("href") and attrs.get("rel") not in ("prev", "next", "next prefetch"):
            self.loads.append(attrs["href"])

    def handle_data(self, data):
        self.text.append(data)


pages = {file: Page(file) for file in sorted(BOOK.rglob("*.html"))}
faults = []
links = outside = 0
for file, page in pages.items():
    name = file.relative_to(BOOK).as_posix()
    for target in page.loads:
        if urllib.parse.urlsplit(target).scheme not in ("", "data"):
            faults.append(f"{name} loads {target}")
    if "{{#include" in "".join(page.text):
        faults.append(f"{name} includes nothing")
    if name in OWN:
        continue
    for target in page.links:
        parts = urllib.parse.urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        links += 1
        wanted = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
        if not wanted.is_relative_to(BOOK):
            # Into the repository: theme/links.js completes it, and the tests look at the page's source.
            outside += 1
        elif not wanted.exists():
            faults.append(f"{name} links to {target}, which does not exist")
        elif parts.fragment and wanted in pages and urllib.parse.unquote(parts.fragment) not in pages[wanted].ids:
            faults.append(f"{name} links to {target}, which has no such heading")
for style in BOOK.rglob("*.css"):
    text = style.read_text()
    if "url(http" in text or "url(//" in text or "@import" in text:
        faults.append(f"{style.relative_to(BOOK)} loads something from elsewhere")
assert not faults, "\n".join(faults)
assert len(pages) > 140 and links > 1000, (len(pages), links)
print(f"the book: {len(pages)} pages, {links} links, {outside} of them into the repository")
