#!/usr/bin/env bash
# A crawl begins with the sitemaps that robots.txt names. The lines of that file may end with a comment and have blanks around the colon (RFC 9309, section 2.2, in its grammar of groups and rules), and a page of a sitemap may give its last change as a year or a month alone (the W3C's Date and Time Formats, named by sitemaps.org).
# One would guess that a library for sitemaps follows each such line, and reads a month as the month.
# ultimate-sitemap-parser follows no sitemap with a comment behind it, and none with a blank before the colon: the site has no pages. It completes a year or a month with today's month and day, so that an old page changes with each crawl, and may change in the future. isoparse of dateutil, which it uses on older Pythons, takes the first day.
# Seen with ultimate-sitemap-parser 1.8.1, with Python 3.11.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ultimate-sitemap-parser==1.8.1 python-dateutil==2.9.0.post0
cat > read.py <<'PY'
import http.server
import logging
import threading

from dateutil.parser import isoparse, parse
from usp.fetch_parse import SitemapStrParser
from usp.tree import sitemap_tree_for_homepage

logging.disable()
PAGE = '<url><loc>http://127.0.0.1/{0}</loc><lastmod>{0}</lastmod></url>'
MAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' + ''.join(map(PAGE.format, ('2020', '2021-02', '2022-03-04'))) + '</urlset>'
files = {'/map.xml': MAP}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = files.get(self.path, '').encode()
        self.send_response(200 if body else 404)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
home = f'http://127.0.0.1:{server.server_port}'
for line in ('Sitemap: URL', 'Sitemap: URL # all pages', 'Sitemap : URL'):
    files['/robots.txt'] = line.replace('URL', f'{home}/map.xml') + '\n'
    pages = list(sitemap_tree_for_homepage(home, use_known_paths=False).all_pages())
    print(f'{line}: {len(pages)} pages')

for page in SitemapStrParser(MAP).sitemap().all_pages():
    text = page.url.rsplit('/', 1)[1]
    day = page.last_modified.replace(tzinfo=None)
    # dateutil's own parse takes what a text leaves out from today; a day that the month does not have becomes its last.
    source = 'today' if day == parse(text) else 'the text'
    if len(text) == 10:
        source = 'the text'
    print(f'{text}: what is left out is from {source}, isoparse has {isoparse(text).date()}')
PY
seen=$(venv/bin/python read.py)
expected='Sitemap: URL: 3 pages
Sitemap: URL # all pages: 0 pages
Sitemap : URL: 0 pages
2020: what is left out is from today, isoparse has 2020-01-01
2021-02: what is left out is from today, isoparse has 2021-02-01
2022-03-04: what is left out is from the text, isoparse has 2022-03-04'
printf 'expected: three pages for each line, and the first day of the year or month\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
