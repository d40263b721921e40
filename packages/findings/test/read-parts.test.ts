import { expect, test } from '@jest/globals'
import type { ReportPart } from '../src/import/read-body.ts'
import { jsonParts } from '../src/import/json/read-json.ts'
import { xmlParts } from '../src/import/read-xml.ts'
import { bytesOf } from './records.ts'

/** Values as `path: JSON`, problems as `line N: reason`. Sizes of pieces that cut texts anywhere give the same parts. */
const partsOf = async (
  read: (body: AsyncIterable<Uint8Array>) => AsyncIterable<ReportPart>,
  text: string,
): Promise<string[]> => {
  const readBy = async (size: number): Promise<string[]> =>
    (await Array.fromAsync(read(bytesOf(text, size)))).map((part) =>
      part.kind === 'problem'
        ? `line ${part.line}: ${part.reason}`
        : `${part.path.join('/')}: ${JSON.stringify(part.value)}`,
    )
  const parts = await readBy(64 * 1024)
  for (const size of [1, 2, 7]) expect(await readBy(size)).toEqual(parts)
  return parts
}

const ofJson = (text: string, ...patterns: readonly string[]): Promise<string[]> =>
  partsOf((body) => jsonParts(body, ...patterns), text)

test('values of JSON are read by their path, and others are skipped', async () => {
  const log = {
    runs: [{ results: [{ a: '}]"\\' }, 2, 'ü😀'], tool: { b: [1] }, other: [[{}]] }],
    version: '2',
  }
  for (const text of [JSON.stringify(log), JSON.stringify(log, null, 2), JSON.stringify(log, null, '\t')])
    expect(await ofJson(text, 'version', 'runs.[]', 'runs.[].tool', 'runs.[].results.[]')).toEqual([
      'runs/0: {}',
      'runs/0/results/0: {"a":"}]\\"\\\\"}',
      'runs/0/results/1: 2',
      'runs/0/results/2: "ü😀"',
      'runs/0/tool: {"b":[1]}',
      'version: "2"',
    ])
  expect(await ofJson('{"x":{"a":[1],"b":null,"c":[]}}', 'x.*', 'x.*.[]')).toEqual([
    'x/a: []',
    'x/a/0: 1',
    'x/b: null',
    'x/c: []',
  ])
})

test.each([
  ['a list', '[{"a":1},{"a":2}]'],
  ['lines', '{"a":1}\n{"a":2}\n'],
  ['lines of Windows', '{"a":1}\r\n\r\n{"a":2}'],
  ['objects on several lines', '{\n "a": 1\n}\n{\n "a": 2\n}'],
  ['lists that follow each other', '[{"a":1}]\n[{"a":2}]'],
  ['no comma', '[\n{"a":1}\n{"a":2}\n]'],
  ['additional commas', '[,\n{"a":1},,\n{"a":2},]'],
  ['a byte order mark', '\ufeff[{"a":1},{"a":2}]'],
])('objects are read from %s', async (_, text) => {
  const values = await Array.fromAsync(jsonParts(bytesOf(text), '', '[]'))
  expect(values.flatMap((part) => (part.kind === 'value' ? [part.value] : [part]))).toEqual(
    text.trimStart().replace('\ufeff', '').startsWith('[')
      ? expect.arrayContaining([{ a: 1 }, { a: 2 }])
      : [{ a: 1 }, { a: 2 }],
  )
})

test.each(['utf16le', 'utf16be'] as const)('JSON in %s is read', async (encoding) => {
  const bytes = Buffer.from('\ufeff{"a":"ü"}', 'utf16le')
  if (encoding === 'utf16be') bytes.swap16()
  async function* body() {
    for (const byte of bytes) yield Uint8Array.of(byte)
  }
  expect(await Array.fromAsync(jsonParts(body(), ''))).toMatchObject([{ kind: 'value', value: { a: 'ü' } }])
})

test('lines of text between objects are problems with their line', async () => {
  const text =
    '[INF] Current version: 3\n\u001b[34mINF\u001b[0m x\n{"a":1}\n[2026-01-01] {end\n{"a":2} tail\nnull'
  expect((await ofJson(text, '')).filter((part) => part !== ': []')).toEqual([
    'line 1: a line of text that is no JSON',
    'line 2: a line of text that is no JSON',
    ': {"a":1}',
    'line 4: a line of text that is no JSON',
    ': {"a":2}',
    'line 5: a line of text that is no JSON',
    ': null',
  ])
})

test('after a broken part the next value is read', async () => {
  expect(await ofJson('{"a":1}\n{"a":"cut off\n{"a":2}\n{"a":[1,\n{"a":3}', '')).toEqual([
    ': {"a":1}',
    'line 2: a text without its closing quote',
    ': {"a":2}',
    'line 4: the file ends within it',
  ])
  expect(await ofJson('[\n{"a":1},\n{"a":"\\ "},\n{"a":"said "no""},\n{"a":2}\n]', '[]')).toEqual([
    '0: {"a":1}',
    expect.stringMatching(/^line 3: Bad escaped character/),
    expect.stringMatching(/^line 4: /),
    expect.stringMatching(/^\d: \{"a":2\}$/),
  ])
  expect(await ofJson('{"list":[\n{"a":1}},\n{"a":2}\n],"end":3}', 'list.[]', 'end')).toEqual([
    'list/0: {"a":1}',
    'line 2: an unexpected "}"',
    'list/1: {"a":2}',
    'end: 3',
  ])
  // A scanner that was killed appends its next report.
  expect(await ofJson('[\n{"a":1},\n{"a"\n[\n{"a":2}\n]', '[]')).toEqual([
    '0: {"a":1}',
    'line 3: line 4 has an unexpected "["',
    '0: {"a":2}',
  ])
  expect(await ofJson('{"list":[{"a":1},\n{"a":', 'list.[]')).toEqual([
    'list/0: {"a":1}',
    'line 2: the file ends within it',
  ])
  expect(await ofJson('{"list":[{"a":1}', 'list.[]')).toEqual([
    'list/0: {"a":1}',
    'line 1: the file ends within the object of line 1',
  ])
})

test('a record that is too long or too deep is skipped', async () => {
  async function* body() {
    yield Buffer.from('[{"a":"')
    for (let mib = 0; mib < 17; mib++) yield Buffer.alloc(1024 * 1024, 'x')
    yield Buffer.from(
      `"},\n{"a":${'['.repeat(200)}${']'.repeat(200)}},${'['.repeat(9)}${']'.repeat(9)},{"a":2}]`,
    )
  }
  expect(await Array.fromAsync(jsonParts(body(), '[]'))).toMatchObject([
    { kind: 'problem', line: 1, reason: 'it is longer than 16777216 characters' },
    { kind: 'problem', line: 2, reason: 'it has more than 200 levels of lists and objects' },
    { kind: 'problem', line: 2, reason: 'it is in more than 4 lists' },
    { kind: 'value', path: ['3'], value: { a: 2 } },
  ])
})

test('a line that is one object is read as the same object in pieces', async () => {
  const deep = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`
  expect(await ofJson(`{"a":"}\\n"}\r\n {"b":[{}]} \n{"c":1} x\n{"d":1},\n${deep}\n{"e":1}`, '')).toEqual([
    ': {"a":"}\\n"}',
    ': {"b":[{}]}',
    ': {"c":1}',
    'line 3: a line of text that is no JSON',
    ': {"d":1}',
    'line 5: it has more than 200 levels of lists and objects',
    ': {"e":1}',
  ])
})

test('a body without any value is refused with its first line', async () => {
  await expect(ofJson('<html>\n', '')).rejects.toThrow('it is not valid JSON: line 1: a line of text')
  await expect(ofJson('', '')).resolves.toEqual([])
  await expect(ofJson(' [ ] ', '[]')).resolves.toEqual([])
})

const ofXml = (text: string, ...patterns: readonly string[]): Promise<string[]> =>
  partsOf((body) => xmlParts(body, ...patterns), text)

test('elements of XML are read by their path', async () => {
  const text = `<?xml version="1.0"?>\n<!DOCTYPE run>\n<run start="1"><skipped><a/></skipped>
<host a="1 &amp; &#xa;2"><b>x &lt; y</b><b/><c d="1">t</c></host><host/></run>\n<run start="2"><host><e>1</e></host></run>`
  expect(await ofXml(text, 'run', 'run.host')).toEqual([
    'run: {"start":"1"}',
    'run/host: {"a":"1 & \\n2","b":["x < y",""],"c":{"d":"1","#text":"t"}}',
    'run/host: ""',
    'run: {"start":"2"}',
    'run/host: {"e":"1"}',
  ])
})

test('of XML that is cut off, complete elements are read', async () => {
  expect(await ofXml('<run>\n<host><a/></host>\n<host><a>\n<b', 'run', 'run.host')).toEqual([
    'run: {}',
    'run/host: {"a":""}',
    'line 3: <host>: <a> of line 3 has no end',
    'line 1: <run>: it has no end',
  ])
  expect(await ofXml('<run><host><a></host><host><b/></host></run>', 'run.host')).toEqual([
    'line 1: <host>: <a> of line 1 has no end',
    'run/host: {"b":""}',
  ])
})

test('XML is read in the encoding that it declares', async () => {
  const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><r a="ü"/>`
  const read = (bytes: Buffer) =>
    Array.fromAsync(xmlParts(bytesOf(bytes, 7), 'r')).then(
      ([first]) => first?.kind === 'value' && first.value,
    )
  for (const name of ['ISO-8859-1', 'windows-1252'])
    expect(await read(Buffer.from(declared(name), 'latin1'))).toEqual({ a: 'ü' })
  for (const name of ['UTF-8', 'utf-16', 'UCS-2', 'unknown'])
    expect(await read(Buffer.from(declared(name)))).toEqual({ a: 'ü' })
  expect(await read(Buffer.from(`\ufeff${declared('ISO-8859-1')}`))).toEqual({ a: 'ü' })
})

test('XML with bare ampersands, control characters and names of prototypes is read', async () => {
  expect(await ofXml('<r><h __proto__="1" n="a & b"><toString>\u0001</toString></h></r>', 'r.h')).toEqual([
    'r/h: {"n":"a & b","toString":"\\u0001"}',
  ])
})
