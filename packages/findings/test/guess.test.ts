import { Readable } from 'node:stream'
import { expect, test } from '@jest/globals'
import { openReport, readFindings } from '../src/index.ts'

const MIB = 1024 * 1024

const opened = async (text: string) => {
  const chunks = Array.from({ length: Math.ceil(text.length / 65_536) }, (_, n) =>
    Buffer.from(text.slice(n * 65_536, (n + 1) * 65_536)),
  )
  const { format, batches } = await openReport(undefined, Readable.from(chunks))
  let [found, errors] = [0, 0]
  for await (const batch of batches) {
    found += batch.vulnerabilities.length + batch.assets.length
    errors += batch.errors
  }
  return { format, found, errors }
}

const long = 'x'.repeat(200_000)
const nuclei = { info: { name: 'a', severity: 'low' }, 'matched-at': 'http://a/', 'template-id': 'a' }
const entry = { id: 'TLS1', severity: 'LOW', finding: long, ip: 'a/192.0.2.1', port: '443' }
const scan = { targetHost: 'a', ip: '192.0.2.1', port: '443', protocols: Array(60).fill(entry) }

test.each([
  ['nuclei', [{ response: long, ...nuclei }, nuclei], 2],
  ['testssl', { scanResult: [scan], Invocation: 'testssl.sh a' }, 60],
  ['wapiti', { vulnerabilities: {}, infos: { target: 'http://a/', x: long }, classifications: {} }, 0],
  ['npm-audit', { vulnerabilities: {}, metadata: { x: long }, auditReportVersion: 2 }, 0],
  ['trivy', { Results: [{ Target: long }], SchemaVersion: 2, ArtifactName: 'a' }, 0],
])('Reports of %s are recognised by fields behind a long value', async (format, report, found) => {
  expect(await opened(JSON.stringify(report))).toMatchObject({ format, found })
})

test.each([
  ['nmap', '<nmaprun scanner="nmap">', 0],
  ['masscan', "<nmaprun scanner='masscan'>", 2],
])('XML of %s is recognised behind long comments', async (format, root, found) => {
  const port = '<port protocol="tcp" portid="80"><state state="open"/></port>'
  const host = `<host><address addr="192.0.2.1" addrtype="ipv4"/><ports>${found > 0 ? port : ''}</ports></host>`
  const xml = `<?xml version="1.0"?>\n<!-- ${long} -->\n${root}${host}</nmaprun>`
  expect(await opened(xml)).toMatchObject({ format, found: Math.max(found, 1) })
})

const ISSUE = { rule_id: 'G1', details: 'a', file: 'a.go', line: '1', severity: 'LOW', confidence: 'LOW' }
test.each([
  [
    'gosec',
    '[gosec] 2026/01/01 Including rules: default',
    JSON.stringify({ 'Golang errors': {}, Issues: [ISSUE] }),
  ],
  ['nmap', 'Starting Nmap 7.93', '<nmaprun><host><address addr="192.0.2.1"/></host></nmaprun>'],
  [
    'sslscan',
    'Version: 2.0.7',
    "<document title='SSLScan'><ssltest host='a' port='443'><protocol type='ssl' version='3' enabled='1'/></ssltest></document>",
  ],
  ['dirsearch', 'Target: http://a/', JSON.stringify({ 'http://a:80/': [{ status: 200, path: 'x' }] })],
  ['gobuster', '\u001b[2K', '\u001b[32m/a\u001b[0m \u001b[36m (Status: 301)\u001b[0m [--> http://a.test/a/]'],
])('A report of %s is recognised behind lines of its log', async (format, log, report) => {
  expect(await opened(`${log}\n${report}\n`)).toEqual({ format, found: 1, errors: 0 })
})

const TLS = { accepted_cipher_suites: [{ cipher_suite: { name: 'AES' } }] }
test.each<[string, object]>([
  ['testssl', [entry]],
  [
    'wapiti',
    { classifications: {}, vulnerabilities: { x: [{ path: '/' }] }, infos: { target: 'http://a/' } },
  ],
  [
    'sslyze',
    {
      server_scan_results: [
        { server_location: { hostname: 'a' }, scan_result: { tls_1_0_cipher_suites: { result: TLS } } },
      ],
    },
  ],
  ['zmap', { saddr: '192.0.2.1' }],
  ['masscan', { ip: '192.0.2.1', timestamp: '1', ports: [{ port: 80, status: 'open' }] }],
])('Beside a report of %s, lines of a log are errors if they tell of trouble', async (format, report) => {
  const text = JSON.stringify(report)
  const found = format === 'masscan' ? 2 : 1
  expect(await opened(`Begun\n${text}\nDone in 3 s\n`)).toEqual({ format, found, errors: 0 })
  for (const line of [
    'Connection refused',
    'Killed',
    'Segmentation fault (core dumped)',
    'stopped after 10 %',
  ])
    expect(await opened(`${text}\n${line}\n`)).toEqual({ format, found, errors: 1 })
})

test.each([
  ['gzip', '1f8b0800'],
  ['zstd', '28b52ffd'],
  ['zip', '504b030414'],
])('A file in %s is refused with what to do', async (_name, start) => {
  const body = () => Readable.from([Buffer.from(start, 'hex')])
  await expect(openReport(undefined, body())).rejects.toThrow('unpack it')
  await expect(Array.fromAsync(readFindings('sarif', body()))).rejects.toThrow('unpack it')
})

test('Lines of text may be in UTF-16, as a shell of Windows writes them', async () => {
  const body = Readable.from([Buffer.from('\ufeff/a (Status: 301) [--> http://a.test/a/]\r\n', 'utf16le')])
  const { format, batches } = await openReport(undefined, body)
  const places = (await Array.fromAsync(batches)).flatMap(({ assets }) =>
    assets.map((one) => one.asset_value),
  )
  expect({ format, places }).toEqual({ format: 'gobuster', places: ['http://a.test/a'] })
})

test.each([
  ['XML of another tool', `<!-- ${long} --><html><nmaprun/></html>`],
  ['what nmap prints', 'Starting Nmap 7.93\nDiscovered open port 80/tcp on 192.0.2.1\n'],
])('%s is refused', async (_name, text) => {
  await expect(opened(text)).rejects.toThrow('is not recognised')
})

test('A report that no format fits is refused, however long it is', async () => {
  const other = { list: Array(200).fill(long.slice(0, MIB / 16)), end: 1 }
  await expect(opened(JSON.stringify(other))).rejects.toThrow('its format is not recognised')
})
