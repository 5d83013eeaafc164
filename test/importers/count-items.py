"""Counts what a file to import has, with the standard library of Python and nothing of the importers: JSON on standard output."""
import csv
import json
import sqlite3
import sys
from html.parser import HTMLParser


class Links(HTMLParser):
    """A bookmark is the link that begins a term of the list; links elsewhere are in notes."""

    def __init__(self):
        super().__init__()
        self.urls = []
        self.before = None

    def handle_starttag(self, tag, attributes):
        if tag == 'a' and self.before == 'dt':
            self.urls.append(dict(attributes).get('href') or '')
        self.before = tag


def links(path):
    parser = Links()
    with open(path, encoding='utf-8') as file:
        parser.feed(file.read())
    return parser.urls


def rows(path):
    with open(path, encoding='utf-8-sig', newline='') as file:
        return [{name.lower(): value for name, value in row.items() if name}['url'] for row in csv.DictReader(file)]


def saved(path):
    with open(path, encoding='utf-8') as file:
        everything = json.load(file)
    if isinstance(everything, list):
        return [item['url'] for item in everything]
    if 'roots' in everything:
        found, waiting = [], list(everything['roots'].values())
        while waiting:
            node = waiting.pop()
            if not isinstance(node, dict):
                continue
            if node.get('type') == 'url':
                found.append(node['url'])
            waiting.extend(node.get('children', []))
        return found
    return [link['url'] for collection in everything['collections'] for link in collection['links']]


def history(path):
    database = sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if 'visits' in tables:
        pages = {no: (url, hidden) for no, url, hidden in database.execute('SELECT id, url, hidden FROM urls')}
        found = []
        for no, kind in database.execute('SELECT url, transition FROM visits'):
            url, hidden = pages[no]
            is_step = not (kind >> 29) & 1
            if not hidden and (kind & 255) not in (3, 4, 10) and not is_step:
                found.append(url)
        return found
    pages = {no: (url, hidden) for no, url, hidden in database.execute('SELECT id, url, hidden FROM moz_places')}
    visits = list(database.execute('SELECT place_id, visit_type FROM moz_historyvisits'))
    marked = []
    if any(name == 'guid' for _, name, *_ in database.execute('PRAGMA table_info(moz_bookmarks)')):
        folders = {no: (parent, guid) for no, parent, guid in database.execute('SELECT id, parent, guid FROM moz_bookmarks')}
        for place, parent in database.execute('SELECT fk, parent FROM moz_bookmarks WHERE type = 1'):
            if folders.get(folders[parent][0], (0, ''))[1] != 'tags________':
                marked.append(pages[place][0])
    return [pages[no][0] for no, kind in visits if not pages[no][1] and kind not in (4, 7, 8)] + marked


def urls_of(path):
    with open(path, 'rb') as file:
        start = file.read(512).lstrip()
    if start.startswith(b'SQLite format 3'):
        return history(path)
    if start.startswith(b'<'):
        return links(path)
    return saved(path) if start[:1] in (b'{', b'[') else rows(path)


def is_web(url):
    return url.lower().startswith(('http:', 'https:'))


for path in sys.argv[1:]:
    urls = urls_of(path)
    web = [url for url in urls if is_web(url)]
    counts = {'items': len(urls), 'skipped': len(urls) - len(web), 'again': len(web) - len(set(web))}
    print(json.dumps(counts))
