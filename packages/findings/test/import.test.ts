import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { assetOf, findingOf, openReport, readFindings, type ImportFormat } from '../src/index.ts'
import { batchesOf, type Batch } from '../src/import/batches.ts'
import { ScannedFolder } from '../src/import/paths.ts'
import type { ReadLimits } from '../src/import/read-findings.ts'
import { bytesOf } from './records.ts'

const read = async (format: ImportFormat, text: string, chunk?: number) => {
  const batches = await Array.fromAsync(readFindings(format, bytesOf(text, chunk)))
  return {
    vulnerabilities: batches.flatMap((batch) => batch.vulnerabilities),
    assets: batches.flatMap((batch) => batch.assets),
    errors: batches.reduce((sum, batch) => sum + batch.errors, 0),
  }
}

const NUCLEI = {
  'template-id': 'CVE-2021-44228',
  info: { name: 'Log4j', severity: 'CRITICAL', description: 'JNDI', tags: ['cve', 'rce'] },
  host: 'https://ä.example',
  'matched-at': 'https://ä.example/x',
  'curl-command': 'curl -X GET https://ä.example/x',
  request: 'GET /x HTTP/1.1',
  response: 'HTTP/1.1 200 OK',
}

test('findings of nuclei are read line by line, and invalid lines are counted', async () => {
  const text = [JSON.stringify(NUCLEI), '', 'not json', '[1]', '{}', JSON.stringify(NUCLEI)].join('\r\n')
  const { vulnerabilities, errors } = await read('nuclei', text)
  expect(errors).toBe(3)
  expect(vulnerabilities).toHaveLength(2)
  expect(vulnerabilities[0]).toEqual({
    vuln_info: 'CVE-2021-44228',
    vuln_title: 'Log4j',
    vuln_desc: 'JNDI',
    vuln_poc: 'curl -X GET https://ä.example/x',
    severity: 'critical',
    confidence: 'Firm',
    asset_type: 'web',
    asset_value: 'https://ä.example/x',
    tags: ['cve', 'rce'],
    detail_http_request: 'GET /x HTTP/1.1',
    detail_http_response: 'HTTP/1.1 200 OK',
    raw_vuln_json: JSON.stringify(NUCLEI),
    fingerprint: '',
    occurrences: 1,
  })
})

test('SARIF of other tools is read by rule, level and location', async () => {
  const log = {
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'semgrep',
            rules: [
              {
                id: 'sqli',
                shortDescription: { text: 'SQL injection' },
                defaultConfiguration: { level: 'error' },
              },
            ],
          },
        },
        results: [
          {
            ruleId: 'sqli',
            message: { text: 'Query from input\nmore' },
            locations: [
              { physicalLocation: { artifactLocation: { uri: 'src/db.ts' }, region: { startLine: 7 } } },
            ],
          },
          { ruleIndex: 0, level: 'note', message: { text: '' }, locations: [] },
          { ruleId: 'sqli', kind: 'pass', message: { text: 'All queries have parameters' } },
          { ruleId: 'sqli', kind: 'notApplicable', message: { text: 'No queries' } },
          { ruleId: 'sqli', kind: 'review', message: { text: 'Somebody should look' } },
          'nonsense',
        ],
      },
    ],
  }
  const { vulnerabilities, errors } = await read('sarif', JSON.stringify(log))
  expect(errors).toBe(1)
  expect(vulnerabilities).toMatchObject([
    {
      vuln_info: 'sqli',
      vuln_title: 'Query from input',
      vuln_desc: 'SQL injection\n\nQuery from input\nmore',
      severity: 'high',
      asset_type: 'file',
      asset_value: 'src/db.ts:7',
      tags: ['semgrep'],
    },
    { vuln_info: 'sqli', vuln_title: 'sqli', severity: 'low', asset_type: 'other', asset_value: 'semgrep' },
    { vuln_info: 'sqli', vuln_title: 'Somebody should look', severity: 'info' },
  ])
  expect(vulnerabilities).toHaveLength(3)
})

const NMAP = `<?xml version="1.0"?>
<!DOCTYPE nmaprun>
<nmaprun scanner="nmap"><host><status state="up"/>
<address addr="192.0.2.7" addrtype="ipv4"/><address addr="00:11:22:33:44:55" addrtype="mac"/>
<hostnames><hostname name="a.example" type="user"/></hostnames>
<ports>
<port protocol="tcp" portid="22"><state state="open"/><service name="ssh" product="OpenSSH" version="9.2 &amp; &lt;x&gt;"/></port>
<port protocol="tcp" portid="80"><state state="closed"/></port>
<port protocol="udp" portid="22"><state state="open"/></port>
<port protocol="tcp" portid="443"><state state="open"/><service name="http" tunnel="ssl"/>
<script id="ssl-poodle" output="&#xa;  VULNERABLE:&#xa;  SSL POODLE information leak&#xa;    State: LIKELY VULNERABLE&#xa;    IDs:  CVE:CVE-2014-3566&#xa;"/>
<script id="ssl-date" output="fine"/></port>
</ports><os><osmatch name="Linux 2" accuracy="90"/><osmatch name="Linux 5" accuracy="99"/></os></host><host><status state="down"/><address addr="192.0.2.8" addrtype="ipv4"/></host></nmaprun>`

test('nmap files yield hosts, open ports and the vulnerabilities that scripts report', async () => {
  const { vulnerabilities, assets, errors } = await read('nmap', NMAP)
  expect(errors).toBe(0)
  expect(assets).toMatchObject([
    {
      asset_type: 'ip',
      asset_value: 'a.example',
      host_ip: '192.0.2.7',
      open_ports: ['22', '22/udp', '443'],
      technologies: ['Linux 5'],
    },
    {
      asset_type: 'port',
      asset_value: 'a.example:22',
      title: 'ssh OpenSSH 9.2 & <x>',
      technologies: ['OpenSSH:9.2', 'Linux 5'],
    },
    { asset_type: 'port', asset_value: 'a.example:22/udp', open_ports: ['22/udp'] },
    { asset_type: 'port', asset_value: 'a.example:443', title: 'ssl/http' },
  ])
  expect(vulnerabilities).toMatchObject([
    {
      vuln_info: 'CVE-2014-3566',
      vuln_title: 'SSL POODLE information leak',
      severity: 'medium',
      confidence: 'Tentative',
      asset_type: 'network',
      asset_value: 'a.example:443',
    },
  ])
})

test.each([
  ['sarif', 'x', 'it is not valid JSON'],
  ['sarif', '{"version":"2.0.0","runs":[]}', 'it is not SARIF 2.1.0'],
  ['nmap', '{}', 'cannot be read'],
  ['nmap', '<html></html>', 'it is not XML of nmap'],
  ['nmap', '<!DOCTYPE x [<!ENTITY a "aa">]><nmaprun>&a;</nmaprun>', 'it declares XML entities'],
] as const)('%s refuses %s', async (format, text, message) => {
  await expect(read(format, text)).rejects.toThrow(message)
})

test('records are truncated to the limits of the contract, and batches to those of one statement', async () => {
  const line = JSON.stringify({
    name: 'n',
    url: 'u',
    description: 'x'.repeat(300 * 1024),
    severity: 'urgent',
  })
  const batches = await Array.fromAsync(
    readFindings('jsonl', bytesOf(Array.from({ length: 40 }, () => line).join('\n'), 65536)),
  )
  expect(batches.length).toBeGreaterThan(1)
  expect(batches[0]?.vulnerabilities[0]?.vuln_desc).toHaveLength(256 * 1024)
  expect(batches[0]?.vulnerabilities[0]?.severity).toBe('info')
  const many = Array.from({ length: 1200 }, () => '{"name":"n"}').join('\n')
  const sizes = (await Array.fromAsync(readFindings('jsonl', bytesOf(many)))).map(
    ({ vulnerabilities }) => vulnerabilities.length,
  )
  expect(sizes).toEqual([500, 500, 200])
})

test('names of prototype properties are not fields', () => {
  expect(findingOf(JSON.parse('{"__proto__":{"name":"x"}}') as Record<string, unknown>)).toBeUndefined()
  expect(assetOf({ title: 'no value' })).toBeUndefined()
  expect(assetOf({ host: 'a', status_code: 'x', open_ports: [22, '22'] })).toMatchObject({
    asset_value: 'a',
    status_code: 0,
    open_ports: ['22'],
  })
})

/** Bytes of a piece of a body, as a socket gives them. */
const CHUNK = 65_536

const SLOW: readonly (readonly [format: ImportFormat, what: string, text: () => string])[] = [
  ['nmap', 'a host of 250,000 attributes', () => `<nmaprun><host ${attributes(250_000)}/></nmaprun>`],
  ['nmap', 'a tag that never ends', () => `<nmaprun>${'<'.repeat(4_000_000)}`],
  ['sarif', '200,000 results that are no findings', () => sarif('{"kind":"pass"},'.repeat(200_000))],
  ['sarif', 'lists within lists', () => sarif(`${'['.repeat(201)}${']'.repeat(201)},`.repeat(10_000))],
  ['jsonl', 'lines of lists within lists', () => `${'['.repeat(201)}${']'.repeat(201)}\n`.repeat(15_000)],
]
const attributes = (count: number) => Array.from({ length: count }, (_, index) => `a${index}="1"`).join(' ')
const sarif = (results: string) => `{"version":"2.1.0","runs":[{"results":[${results}1]}]}`

/** Processor time of this thread in milliseconds: what other programs take of the machine does not count. */
const ownTime = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The time of a call, and the most of this thread's own time between two turns of its event loop, in milliseconds. */
const timed = async (call: () => Promise<unknown>) => {
  const begin = performance.now()
  let last = ownTime()
  let longest = 0
  const turn = (): void => {
    const now = ownTime()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(turn, 5)
  await call().catch(() => undefined)
  clearInterval(timer)
  turn()
  return { all: performance.now() - begin, longest }
}

test.each(SLOW)('a large %s file does not block the event loop: %s', async (format, _, text) => {
  const body = bytesOf(text(), CHUNK)
  const { all, longest } = await timed(() => Array.fromAsync(readFindings(format, body)))
  expect(longest).toBeLessThan(all / 3)
})

test.each([
  ['A cut string of many quotes', `{"a":"${'\\"'.repeat(40_000)}`],
  [
    'A rule of many slashes',
    `{"runs":[{"results":[${Array(3)
      .fill(`{"ruleId":"${'/'.repeat(20_000)}"}`)
      .join()}]}],"version":"2.1.0"}`,
  ],
  ['An id of many brackets', JSON.stringify({ value: 'a', children: { ID: '('.repeat(60_000) } })],
])('%s is not searched from each of them', async (_name, text) => {
  const begin = ownTime()
  const opened = openReport(undefined, bytesOf(text, CHUNK))
  await opened.then(({ batches }) => Array.fromAsync(batches)).catch(() => undefined)
  expect(ownTime() - begin).toBeLessThan(700)
})

test('The folder of relative and absolute paths is not searched again for each of them', () => {
  const folder = new ScannedFolder()
  for (let at = 0; at < 9_000; at++) for (const path of [`f${at}`, `/ci/f${at}`]) folder.add(path)
  folder.add('/elsewhere/b')
  const begin = ownTime()
  expect(folder.relative('/ci/f1', [])).toBe('/ci/f1')
  expect(ownTime() - begin).toBeLessThan(700)
})

test('a file that exceeds the time or memory limit is refused', async () => {
  const read = (limits: Partial<ReadLimits>) =>
    Array.fromAsync(readFindings('nmap', bytesOf(SLOW[0]?.[2]() ?? '', CHUNK), limits))
  const refusal = { code: 'payload_too_large', message: expect.stringContaining('split it') as unknown }
  await expect(read({ memoryMb: 32 })).rejects.toMatchObject(refusal)
  await expect(read({ timeMs: 1 })).rejects.toMatchObject(refusal)
  const list = JSON.stringify(Array(2_000).fill(NUCLEI))
  const findings = readFindings('nuclei', bytesOf(list, CHUNK), { timeMs: 1 })
  await expect(Array.fromAsync(findings)).rejects.toMatchObject(refusal)
})

test('the error for a large file keeps its code and quotes little of the file', async () => {
  const read = Array.fromAsync(readFindings('nmap', bytesOf(`<html>${'<'.repeat(4_000_000)}`, CHUNK)))
  const error: unknown = await read.catch((problem: unknown) => problem)
  expect(error).toMatchObject({ code: 'invalid_input' })
  expect(String(error).length).toBeLessThan(1_000)
})

test('SARIF is recognised when its version stands behind more results than the start of the file has', async () => {
  const results = Array.from({ length: 2_000 }, (_, at) => ({
    ruleId: 'r',
    message: { text: 'm' },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: `src/${at}.py` }, region: { startLine: at + 1 } },
      },
    ],
  }))
  const log = { runs: [{ tool: { driver: { name: 't' } }, results }], version: '2.1.0', $schema: 'https://x' }
  const { format, batches } = await openReport(undefined, bytesOf(JSON.stringify(log), CHUNK))
  const found = await Array.fromAsync(batches)
  expect(format).toBe('sarif')
  expect(found.reduce((sum, { vulnerabilities }) => sum + vulnerabilities.length, 0)).toBe(2_000)
})

/** The most memory that the processes of this one have had, in MiB. */
const memoryOfChildren = (): number => {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  const sizes = children.map((pid) => {
    try {
      return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
    } catch {
      // It has ended.
      return 0
    }
  })
  return Math.max(...sizes)
}

/** The most memory of the process that reads SARIF of some parts of 60 kB, in MiB. */
const memoryToRead = async (parts: number): Promise<number> => {
  const results = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"version":"2.1.0","runs":[{"results":[')
    // Few and long results: their count takes the time, their size the memory.
    for (let part = 0; part < parts; part += 1) {
      const some = Array.from({ length: 6 }, (_, n) => ({
        ruleId: 'r',
        message: { text: `${part} ${n} ${'x'.repeat(10_000)}` },
        locations: [
          { physicalLocation: { artifactLocation: { uri: `f${n}` }, region: { startLine: part } } },
        ],
      }))
      yield Buffer.from(`${JSON.stringify(some).slice(1, -1)},`)
    }
    yield Buffer.from('{"ruleId":"r"}],"tool":{"driver":{"name":"Demo"}}}]}')
  }
  let [count, memory] = [0, 0]
  for await (const { vulnerabilities } of readFindings('sarif', results())) {
    count += vulnerabilities.length
    memory = Math.max(memory, memoryOfChildren())
  }
  expect(count).toBe(parts * 6 + 1)
  return memory
}

test('a SARIF file of 60 MB is read in at most 140 MiB more memory than one of 6 MB', async () => {
  // The process alone has more than 100 MiB when it runs the sources.
  const small = await memoryToRead(100)
  expect(small).toBeGreaterThan(0)
  expect((await memoryToRead(1_000)) - small).toBeLessThan(140)
}, 120_000)

const LONG = JSON.stringify({ ...NUCLEI, response: 'x'.repeat(100_000) })

test.each([
  ['a long line', [LONG, JSON.stringify(NUCLEI)]],
  ['a long line at the end', [LONG.slice(0, -1), `${LONG}`]],
  ['a log', ['[INF] nuclei has ended', '', '[FTL] no more']],
  ['a pretty object', [JSON.stringify(NUCLEI, undefined, 2), 'no JSON']],
  ['a list', [`[${JSON.stringify(NUCLEI)},`, `${JSON.stringify(NUCLEI)}]`]],
  ['broken objects', ['{"a":{}', '{"a": x}', LONG]],
  ['another broken object, and a blank line', ['', '{"template-id":"}', '{}', `[${LONG}`]],
  [
    'more problems than are told',
    [...Array<string>(15).fill('{}'), LONG, ...Array<string>(15).fill('no JSON')],
  ],
])('lines of nuclei are read in this process up to %s, with the same result', async (_name, end) => {
  const lines = Array.from({ length: 2_000 }, (_, at) =>
    JSON.stringify({ ...NUCLEI, 'template-id': `t${at}` }),
  )
  const text = [...lines, ...end].join('\r\n')
  const all = async (batches: AsyncIterable<Batch>) => {
    const list = await Array.fromAsync(batches)
    return {
      vulnerabilities: list.flatMap((batch) => batch.vulnerabilities),
      problems: list.flatMap((batch) => batch.problems),
      errors: list.reduce((sum, batch) => sum + batch.errors, 0),
    }
  }
  const expected = await all(batchesOf('nuclei', bytesOf(text, CHUNK), ''))
  expect(await all(readFindings('nuclei', bytesOf(text, CHUNK)))).toEqual(expected)
  expect(expected.vulnerabilities.length).toBeGreaterThanOrEqual(2_000)
  // A process would exceed the limit.
  const inHere = readFindings('nuclei', bytesOf(`${lines.join('\n')}\n\n`, CHUNK), { timeMs: 1 })
  expect((await all(inHere)).vulnerabilities).toHaveLength(2_000)
})
