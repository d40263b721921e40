#!/usr/bin/env bash
# Crawls are kept as WARC files. A record ends after the bytes that its Content-Length names, names of fields ignore case, and a field may go on in a line that begins with a blank (WARC 1.1, "File and record model"); WARC-Concurrent-To may be repeated.
# One would guess that libraries return the pages that were crawled.
# node-warc (npm) begins a record at each line "WARC/1.0", also within a page, and takes the following for its fields: the page is cut, and a record appears that the crawl did not write.
# node-warc and warc (npm) keep the last WARC-Concurrent-To, cut a field at the end of its first line, and find a field by one spelling of its name only. Warcat (PyPI) joins the lines without the blank.
# There is no error. What a page said, and by which request it came, differs between two readers of one archive.
# warcio (PyPI) reads all of it.
# Seen with node-warc 3.3.1, warc 1.0.1 (npm), Warcat 2.2.5 and warcio 1.8.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" node-warc@3.3.1 warc@1.0.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check Warcat==2.2.5 warcio==1.8.1
cat > write.py <<'PY'
def record(kind, number, fields, block):
    head = ['WARC/1.1', kind, f'WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-00000000000{number}>', 'WARC-Date: 2026-01-02T03:04:05Z', *fields]
    return '\r\n'.join([*head, f'Content-Length: {len(block)}', '', block, '', '']).encode()


page = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nAn archive begins with\r\n\r\nWARC/1.0\r\nNote: as this one does\r\n'
concurrent = [f'WARC-Concurrent-To: <urn:uuid:00000000-0000-0000-0000-00000000000{number}>' for number in (3, 4)]
open('crawl.warc', 'wb').write(
    record('WARC-Type: response', 1, ['WARC-Target-URI: http://host.example/', *concurrent, 'Content-Type: application/http;msgtype=response'], page)
    + record('warc-type: metadata', 2, ['Content-Type: text/plain', 'X-Note: one', ' two'], 'end')
)
PY
python3 write.py
cat > read.cjs <<'JS'
const { createReadStream } = require('node:fs')
const { AutoWARCParser } = require('node-warc')
const Reader = require('warc')

const show = (name, fields, bytes) => console.log(`${name}: ${fields['WARC-Type']}, concurrent to ${(fields['WARC-Concurrent-To'] ?? '').slice(-2, -1)}, note ${fields['X-Note']}, ${bytes} bytes`)
const parser = new AutoWARCParser('crawl.warc')
parser.on('record', ({ warcHeader, content }) => show('node-warc', warcHeader, content?.length))
// With Node 20 the parser ends each file with this event.
parser.on('error', () => createReadStream('crawl.warc').pipe(new Reader()).on('data', ({ headers, content }) => show('warc', headers, content.length)))
parser.start()
JS
cat > read.py <<'PY'
import logging

import warcat.model
from warcio.archiveiterator import ArchiveIterator

logging.disable()


def show(name, fields, size):
    value = {key.lower(): text for key, text in fields}
    concurrent = [text[-2] for key, text in fields if key == 'WARC-Concurrent-To']
    print(f'{name}: {value["warc-type"]}, concurrent to {" ".join(concurrent)}, note {value.get("x-note")}, {size} bytes')


archive = warcat.model.WARC()
archive.load('crawl.warc')
for record in archive.records:
    show('Warcat', record.header.fields.list(), record.content_length)
for record in ArchiveIterator(open('crawl.warc', 'rb'), no_record_parse=True):
    show('warcio', record.rec_headers.headers, len(record.raw_stream.read()))
PY
seen=$(node read.cjs && venv/bin/python read.py)
expected='node-warc: response, concurrent to 4, note undefined, 24 bytes
node-warc: undefined, concurrent to , note undefined, 0 bytes
node-warc: undefined, concurrent to , note one, 5 bytes
warc: response, concurrent to 4, note undefined, 105 bytes
warc: undefined, concurrent to , note one, 3 bytes
Warcat: response, concurrent to 3 4, note None, 105 bytes
Warcat: metadata, concurrent to , note onetwo, 3 bytes
warcio: response, concurrent to 3 4, note None, 105 bytes
warcio: metadata, concurrent to , note one two, 3 bytes'
printf 'expected: the two records of warcio from each\nseen:\n%s\n' "$seen"
[[ "$seen" == "$expected" ]] || { printf 'The behaviour has changed. Before:\n%s\n' "$expected" >&2; exit 1; }
