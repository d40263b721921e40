import { createReadStream, readFileSync, readdirSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { asList, at, isRecord } from '../src/fields.ts'
import { openReport, readFindings, type ImportFormat } from '../src/index.ts'
import { batchesOf } from '../src/import/batches.ts'
import { bytesOf } from './records.ts'

const collect = async (batches: AsyncIterable<Awaited<ReturnType<typeof first>>>) => {
  const all = await Array.fromAsync(batches)
  return {
    findings: all.flatMap((batch) => batch.vulnerabilities),
    assets: all.flatMap((batch) => batch.assets),
    reached: all.flatMap((batch) => batch.reached),
    failed: all.flatMap((batch) => [
      ...batch.failed.hosts,
      ...batch.failed.files,
      ...batch.failed.places.map(({ place }) => place),
    ]),
    problems: all.flatMap((batch) => batch.problems),
    errors: all.reduce((sum, batch) => sum + batch.errors, 0),
  }
}
const first = async (batches: ReturnType<typeof readFindings>) => {
  for await (const batch of batches) return batch
  throw new Error('no batch')
}

const file = (name: string) => createReadStream(new URL(`reports/${name}`, import.meta.url))
const read = async (format: ImportFormat, text: string) => collect(readFindings(format, bytesOf(text)))
const guess = async (text: string | Uint8Array) => {
  const body = typeof text === 'string' ? bytesOf(text) : bytesIn(text)
  const { format, batches } = await openReport(undefined, body)
  return { format, ...(await collect(batches)) }
}
async function* bytesIn(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (const byte of bytes) yield Uint8Array.of(byte)
}
const short = ({ findings }: Awaited<ReturnType<typeof read>>) =>
  findings.map(({ vuln_info, severity, asset_value, fingerprint }) =>
    [vuln_info, severity, asset_value, fingerprint].filter((part) => part !== '').join(' '),
  )
const values = ({ assets }: Awaited<ReturnType<typeof read>>) =>
  assets.map(({ asset_type, asset_value, open_ports }) => [asset_type, asset_value, ...open_ports].join(' '))

const line = (fields: object) => ({
  'template-id': 'panel',
  info: { name: 'Panel', severity: 'high', tags: 'a,b' },
  host: 'one.example',
  'matched-at': 'http://one.example/admin',
  ...fields,
})
const ONE = line({})
const TWO = line({ 'matched-at': 'http://two.example/admin' })

describe('nuclei', () => {
  test.each([
    ['lines', [ONE, TWO].map((one) => JSON.stringify(one)).join('\n')],
    ['a list', JSON.stringify([ONE, TWO])],
    ['a list over several lines', JSON.stringify([ONE, TWO], null, 2)],
    ['objects over several lines', [ONE, TWO].map((one) => JSON.stringify(one, null, 2)).join('\n')],
    [
      'lines between those of the log',
      `[INF] started\n${JSON.stringify(ONE)}\n[WRN] slow\n${JSON.stringify(TWO)}`,
    ],
    ['UTF-16', Buffer.from(`\ufeff${JSON.stringify([ONE, TWO])}`, 'utf16le')],
  ])('%s are recognised and read', async (_, text) => {
    const report = await guess(text)
    expect(report).toMatchObject({ format: 'nuclei', errors: 0 })
    expect(short(report)).toEqual([
      'panel high http://one.example/admin',
      'panel high http://two.example/admin',
    ])
    expect(report.findings[0]?.tags).toEqual(['a', 'b'])
  })

  test('names of old versions are read', async () => {
    const { templateID, ...rest } = { ...ONE, templateID: 'panel', matched: 'http://old.example/' }
    const { 'template-id': _, 'matched-at': __, ...old } = rest
    expect(short(await guess(JSON.stringify({ templateID, ...old })))).toEqual([
      'panel high http://old.example/',
    ])
  })

  test('matchers and extractors tell results apart, and a place may be an address', async () => {
    const lines = [
      line({ 'matcher-name': 'csp' }),
      line({ 'matcher-name': 'hsts' }),
      line({ 'extractor-name': 'version' }),
      ...['a', 'b'].map((name) => line({ fuzzing_method: 'POST', fuzzing_parameter: name })),
      line({ 'matched-at': 'HTTP://One.Example./admin', 'matcher-name': 'upper' }),
      line({ 'matched-at': '', host: '', ip: '192.0.2.5', port: '6379' }),
    ]
    expect(short(await read('nuclei', lines.map((one) => JSON.stringify(one)).join('\n')))).toEqual([
      'panel high http://one.example/admin csp',
      'panel high http://one.example/admin hsts',
      'panel high http://one.example/admin version',
      'panel high http://one.example/admin POST a',
      'panel high http://one.example/admin POST b',
      'panel high http://one.example/admin upper',
      'panel high 192.0.2.5:6379',
    ])
  })

  test('a template that did not match is no finding, and a host that could not be tested has failed', async () => {
    const lines = [line({ 'matcher-status': false }), line({ error: 'deadline exceeded' }), ONE]
    const report = await read('nuclei', lines.map((one) => JSON.stringify(one)).join('\n'))
    expect(report.findings).toHaveLength(1)
    expect(report).toMatchObject({ failed: ['one.example'], errors: 1 })
    expect((await read('nuclei', '[FTL] no templates')).problems).toMatchObject([{ reason: /no templates/ }])
  })
})

describe('nmap', () => {
  const host = (address: string, names: string, ports: string) =>
    `<host><status state="up" reason="syn-ack"/><address addr="${address}" addrtype="ipv4"/><hostnames>${names}</hostnames><ports>${ports}</ports></host>`
  const port = (number: number, inside = '') =>
    `<port protocol="tcp" portid="${number}"><state state="open" reason="syn-ack"/>${inside}</port>`
  const PTR = '<hostname name="pool.example" type="PTR"/>'

  test('a name that addresses only have in DNS does not merge them', async () => {
    const xml = `<nmaprun>${host('192.0.2.1', PTR, port(80))}${host('192.0.2.2', PTR, port(80))}</nmaprun>`
    const report = await guess(xml)
    expect(values(report)).toEqual([
      'ip 192.0.2.1 80',
      'port 192.0.2.1:80 80',
      'ip 192.0.2.2 80',
      'port 192.0.2.2:80 80',
    ])
    expect(report.assets[0]?.dns_records).toEqual(['PTR pool.example'])
    const named = (address: string, open: number) =>
      host(address, `<hostname name="a.example" type="user"/>${PTR}`, port(open))
    const [one, other] = [named('192.0.2.1', 80), named('192.0.2.2', 443)]
    const first = ['ip a.example 80', 'port a.example:80 80']
    expect(values(await guess(`<nmaprun>${one}${other}</nmaprun>`))).toEqual([
      ...first,
      'ip a.example 80 443',
      'port a.example:443 443',
    ])
    // Another scan begins.
    expect(values(await guess(`<nmaprun>${one}</nmaprun><nmaprun>${other}</nmaprun>`))).toEqual([
      ...first,
      'ip a.example 443',
      'port a.example:443 443',
    ])
  })

  test.each([
    ['name="http" product="Apache httpd" version="2.4.57"', 'Apache:2.4.57'],
    ['name="ssh" product="OpenSSH" version="9.2p1 Debian 2+deb12u7"', 'OpenSSH:9.2p1'],
    ['name="http" product="nginx"', 'nginx'],
  ])('the service %s has the technology %s', async (attributes, technology) => {
    const { assets } = await guess(
      `<nmaprun>${host('192.0.2.1', '', port(1, `<service ${attributes}/>`))}</nmaprun>`,
    )
    expect(assets[1]?.technologies).toEqual([technology])
  })

  test.each([
    ['/.git/HEAD: Git folder', ['http-enum medium http://192.0.2.1:80/.git/HEAD']],
    ['/.git/HEAD: Git folder (403 Forbidden)', []],
    ['/passwords.html: Possible documentation files', []],
    ['/b.zip: Possible backup', ['http-enum medium http://192.0.2.1:80/b.zip']],
    [
      '/files/: Potentially interesting folder w/ directory listing',
      ['http-enum low http://192.0.2.1:80/files/'],
    ],
    [
      '/x: D-Link router directory traversal vulnerability (CVE-2018-10822)',
      ['CVE-2018-10822 high http://192.0.2.1:80/x'],
    ],
  ])('http-enum: %s', async (entry, expected) => {
    const script = `<script id="http-enum" output="&#xa;  ${entry}&#xa;"/>`
    expect(short(await guess(`<nmaprun>${host('192.0.2.1', '', port(80, script))}</nmaprun>`))).toEqual(
      expected,
    )
  })

  test('a host that sent nothing back under -Pn is no asset, and the scan of it has failed', async () => {
    const silent = (address: string) =>
      host(address, '', '<extraports state="filtered" count="9"/>').replace('"syn-ack"', '"user-set"')
    const xml = (hosts: string) => `<nmaprun>${hosts}<runstats><hosts up="1" total="1"/></runstats></nmaprun>`
    expect(await guess(xml(silent('192.0.2.1')))).toMatchObject({
      assets: [],
      failed: ['192.0.2.1'],
      errors: 1,
    })
    const both = await guess(xml(silent('192.0.2.1') + host('192.0.2.2', '', port(80))))
    expect(both).toMatchObject({ failed: ['192.0.2.1'], errors: 0 })
    expect(values(both)).toEqual(['ip 192.0.2.2 80', 'port 192.0.2.2:80 80'])
  })

  test('a script that reports several vulnerabilities has a finding for each, and a name is in lower case', async () => {
    const titles = ['Anonymous', 'Export (Logjam)', 'Weak group', 'Not here']
    const entry = (title: string, nth: number) =>
      `  ${title}\n    State: ${nth === 3 ? 'NOT ' : ''}VULNERABLE\n${nth === 1 ? '    IDs:  CVE:CVE-2015-4000\n' : ''}  \n`
    const script = `<script id="ssl-dh-params" output="\n  VULNERABLE:\n${titles.map(entry).join('')}"/>`
    const name = '<hostname name="A.Example." type="user"/>'
    const report = await guess(`<nmaprun>${host('192.0.2.1', name, port(443, script))}</nmaprun>`)
    expect(short(report)).toEqual([
      'ssl-dh-params medium a.example:443 Anonymous',
      'CVE-2015-4000 medium a.example:443',
      'ssl-dh-params medium a.example:443 Weak group',
    ])
    expect(report.findings.map(({ vuln_title }) => vuln_title)).toEqual(titles.slice(0, 3))
  })

  test.each([
    ['<hosts up="0" down="0" total="0"/>', 'resolved'],
    ['<hosts up="0" down="2" total="2"/>', 'no host answered'],
  ])('a scan with %s has failed', async (hosts, reason) => {
    const report = await guess(`<nmaprun><runstats><finished exit="success"/>${hosts}</runstats></nmaprun>`)
    expect(report).toMatchObject({ errors: 1, failed: [] })
    expect(report.problems[0]?.reason).toContain(reason)
  })

  test('a target that nmap skipped has failed, and the others have not', async () => {
    const skipped = '<target specification="2001:DB8::1" status="skipped" reason="invalid"/>'
    const report = await guess(`<nmaprun>${skipped}${host('192.0.2.1', '', port(80))}</nmaprun>`)
    expect(values(report)).toEqual(['ip 192.0.2.1 80', 'port 192.0.2.1:80 80'])
    expect(report).toMatchObject({ errors: 1, failed: ['2001:db8::1'] })
    expect(report.problems[0]?.reason).toContain('nmap skipped this target')
  })

  test('the complete hosts of a scan that was killed are read, and the rest is an error', async () => {
    const report = await guess(`<nmaprun>${host('192.0.2.1', '', port(80))}<host><status state="up"/><addr`)
    expect(values(report)).toEqual(['ip 192.0.2.1 80', 'port 192.0.2.1:80 80'])
    expect(report.errors).toBeGreaterThan(0)
  })
})

describe('masscan', () => {
  const json = (ip: string, port: object) =>
    JSON.stringify({ ip, timestamp: '1', ports: [{ proto: 'tcp', ...port }] })
  const OPEN = [
    json('192.0.2.1', { port: 80, status: 'open' }),
    json('192.0.2.1', { port: 80, service: { name: 'http.server', banner: 'nginx/1.22.1' } }),
    json('192.0.2.1', { port: 80, service: { name: 'http', banner: 'HTTP/1.1 200 OK' } }),
    json('192.0.2.1', { port: 443, status: 'open' }),
  ]

  test('a host has all its ports, and a port its banners', async () => {
    const { assets } = await guess(`[\n${OPEN.join(',\n')}\n]`)
    expect(assets.at(-1)).toMatchObject({
      asset_type: 'ip',
      asset_value: '192.0.2.1',
      open_ports: ['80', '443'],
    })
    expect(assets.at(-2)).toMatchObject({
      asset_value: '192.0.2.1:80',
      title: 'http',
      technologies: ['nginx:1.22.1'],
    })
    expect(assets.at(-2)?.raw_json_data).toContain('HTTP/1.1 200 OK')
  })

  const PLACES = [2, 3].flatMap((host) => [8000, 8443].map((port) => `10.213.34.${host}:${port}`))
  test.each(['masscan.xml', 'masscan.ndjson', 'masscan.list'])(
    '%s has the same hosts and ports',
    async (name) => {
      const { format, batches } = await openReport(undefined, file(name))
      const { assets, errors } = await collect(batches)
      expect({ format, errors }).toEqual({ format: 'masscan', errors: 0 })
      const ports = assets.filter(({ asset_type }) => asset_type === 'port')
      expect(ports.map(({ asset_value }) => asset_value).toSorted()).toEqual(PLACES)
      expect(assets.filter(({ asset_type }) => asset_type === 'ip')).toHaveLength(2)
    },
  )

  test.each([
    ['what it prints', 'Starting masscan 1.3.2\nrate: 0.1\rDiscovered open port 80/tcp on 192.0.2.1   \n'],
    [
      'a list without brackets',
      '{ "ip": "192.0.2.1", "timestamp": "1", "ports": [{"port": 80, "status": "open"}] },\n{finished: 1}\n',
    ],
    ['a list without its start', 'banner tcp 80 192.0.2.1 1700000000 http.server x\n# end\n'],
    ['a list of Windows', '#masscan\r\nbanner tcp 80 192.0.2.1 1 http.server x\r\n# end\r\n'],
  ])('%s is read', async (_name, text) => {
    const report = await guess(text)
    expect(values(report)).toEqual(['port 192.0.2.1:80 80', 'ip 192.0.2.1 80'])
    expect(report).toMatchObject({ format: 'masscan', errors: 0 })
  })

  test.each([
    '#masscan\nopen tcp 80 192.0.2.1 1\nopen tcp 443 192.0.2',
    '# Masscan 1.3.2 scan initiated\nTimestamp: 1\tHost: 192.0.2.1 ()\tPorts: 80/open/tcp////\nTimestamp: 1\tHost:',
  ])(
    'a list of a masscan that was killed keeps its whole lines, and is no complete scan: %s',
    async (text) => {
      const report = await guess(text)
      expect(values(report)).toEqual(['port 192.0.2.1:80 80', 'ip 192.0.2.1 80'])
      expect(report.problems).toMatchObject([{ line: 3 }, { reason: expect.stringContaining('was stopped') }])
    },
  )

  test('its XML has no hosts of nmap, even if the format nmap is named', async () => {
    const { assets } = await collect(readFindings('nmap', file('masscan.xml')))
    expect(assets.filter(({ asset_type }) => asset_type === 'ip')).toHaveLength(2)
  })
})

describe('testssl', () => {
  const entry = (id: string, severity: string, ip = 'a.example/192.0.2.1') =>
    JSON.stringify({ id, ip, port: '443', severity, finding: 'x' })
  const [tls1, beast] = [entry('TLS1', 'LOW'), entry('BEAST', 'LOW')]

  test.each([
    ['a missing comma', `[\n${tls1}\n${beast}\n]`, 0],
    ['an additional comma', `[\n,${tls1},${beast}\n]`, 0],
    ['a second report', `[${tls1}]\n[${beast}]`, 0],
    ['a broken entry', `[\n${tls1},\n{"id": "x\\ y", "finding": ""},\n${beast}]`, 1],
    ['no end', `[\n${tls1},\n${beast},`, 1],
  ])('a report with %s keeps its findings', async (_, text, errors) => {
    const report = await guess(text)
    expect(short(report)).toEqual(['testssl-TLS1 low a.example:443', 'testssl-BEAST low a.example:443'])
    expect(report.errors).toBe(errors)
  })

  test('a broken line of a pretty report, or its end, loses no other line', async () => {
    const lines = ['TLS1', 'a\\ b', 'BEAST', 'RC4'].map(
      (id) => `{"id":"${id}","severity":"LOW","finding":"x"}`,
    )
    const start = '{"targetHost":"a.example","ip":"192.0.2.1","port":"443",'
    const text = `{"Invocation":"testssl","scanResult":[${start}"protocols":[\n${lines.join(',\n')}]}],"scanTime":1}`
    const places = ['TLS1', 'BEAST', 'RC4'].map((id) => `testssl-${id} low a.example:443`)
    const broken = await guess(text)
    expect(short(broken)).toEqual(places)
    expect(broken.problems).toMatchObject([{ line: 3 }])
    const cut = await guess(text.slice(0, text.indexOf('"RC4"')))
    expect(short(cut)).toEqual(places.slice(0, 2))
    expect(cut.errors).toBe(2)
  })

  test('two addresses of a name have their own findings, and one address is not part of the identity', async () => {
    const second = entry('TLS1', 'MEDIUM', 'a.example/192.0.2.2')
    expect(short(await guess(`[${tls1},${second}]`))).toEqual([
      'testssl-TLS1 low a.example:443 192.0.2.1',
      'testssl-TLS1 medium a.example:443 192.0.2.2',
    ])
  })

  const end = entry('scanTime', 'WARN', '/')
  const dead = entry('scanProblem', 'FATAL', 'b.example/')
  const pretty = (arguments_: string, servers: string) =>
    `{"Invocation":"testssl ${arguments_}","scanResult":[${servers}],"scanTime":"Scan interrupted"}`
  const sorted = (text: string): string =>
    JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).toReversed()))
  const server = `{"targetHost":"a.example","ip":"192.0.2.1","port":"443","protocols":[${tls1}]}`

  test.each([
    ['the end of each list', `[${tls1},${end}]`, 0, ['a.example']],
    ['the end of each list, pretty', pretty('-p --file servers.txt', server), 0, ['a.example']],
    ['a list of no server', `[${end}]`, 1, []],
    ['a list of no server, pretty', pretty('-iL servers.txt', ''), 1, []],
    ['one server, interrupted', pretty('-p a.example', server), 1, ['a.example']],
    [
      'the end of each list, before what names it',
      sorted(pretty('--file servers.txt', server)),
      0,
      ['a.example'],
    ],
    ['one server, dead', `[${dead}]`, 1, []],
    ['an address of a name', `[${entry('scanProblem', 'FATAL')},${tls1}]`, 1, ['a.example']],
  ])('%s: what was not tested is an error, the end of a list is none', async (_, text, errors, reached) => {
    expect(await guess(text)).toMatchObject({ failed: [], errors, reached })
  })

  const refused = `{"id":"scanProblem","severity":"FATAL","finding":"Can't connect to 'a.example:8443' Make sure"}`
  test.each([
    ['by name', `[${dead},${tls1},${end}]`, 'b.example:443'],
    [
      'by port',
      `[${dead.replace('b.example/', 'a.example/').replace('443', '8443')},${tls1}]`,
      'a.example:8443',
    ],
    ['pretty', pretty('--file servers.txt', `${server},${refused}`), 'a.example:8443'],
  ])('a dead server in a list, %s, only keeps its own records', async (_, text, place) => {
    expect(await guess(text)).toMatchObject({ failed: [place], errors: 1, reached: ['a.example'] })
  })
})

describe('wapiti', () => {
  test('a version that renames its checks keeps the records', async () => {
    const report = await collect(readFindings('wapiti', file('wapiti-renamed.json')))
    expect(short(report)).toEqual(
      expect.arrayContaining([
        'wapiti-http-secure-headers-X-Frame-Options low http://127.0.40.3:9000/',
        'wapiti-cross-site-scripting-q medium http://127.0.40.3:9000/search',
        'wapiti-secure-flag-cookie-session low http://127.0.40.3:9000/',
      ]),
    )
  })

  const result = {
    path: '/a',
    level: 2,
    parameter: 'q',
    info: 'x',
    wstg: ['WSTG-INPV-05'],
    curl_command: 'curl "https://a.example/a?q=1"',
  }
  const report = (category: string) =>
    JSON.stringify({
      classifications: {},
      vulnerabilities: { [category]: [result] },
      infos: { target: 'https://a.example/' },
    })

  test('the id of the guide for tests decides, not the name', async () => {
    expect(short(await guess(report('SQL Injection')))).toEqual(
      short(await guess(report('Injection into SQL'))),
    )
  })

  test('the method tells results of one parameter apart', async () => {
    const results = ['GET', 'POST'].map((method) => ({ ...result, method }))
    const vulnerabilities = { 'SQL Injection': results }
    const found = short(await read('wapiti', JSON.stringify({ classifications: {}, vulnerabilities })))
    expect(found).toEqual([
      'wapiti-sql-injection-q medium https://a.example/a',
      'wapiti-sql-injection-q medium https://a.example/a POST',
    ])
  })

  test('what a report that is cut short has is kept', async () => {
    const text = report('SQL Injection')
    const cut = await guess(text.slice(0, text.indexOf('"infos"')))
    expect(short(cut)).toEqual(['wapiti-sql-injection-q medium https://a.example/a'])
    expect(cut.errors).toBeGreaterThan(0)
  })

  test('a server that is gone has failed', async () => {
    expect(await collect(readFindings('wapiti', file('wapiti-gone.json')))).toMatchObject({
      failed: ['127.0.40.1:18099'],
      errors: 1,
    })
    const old = (pages: number) =>
      guess(
        `{"classifications":{},"vulnerabilities":{},"infos":{"target":"http://a.example/","crawled_pages":${pages}}}`,
      )
    expect(await old(0)).toMatchObject({ failed: ['a.example:80'], errors: 1, reached: [] })
    expect(await old(5)).toMatchObject({ failed: [], errors: 0, reached: ['http://a.example/'] })
  })
})

describe('sslscan', () => {
  const TEST =
    '<ssltest host="a.example" port="443"><protocol type="tls" version="1.0" enabled="1"/></ssltest>'
  const document = (inside: string) => `<document title="SSLScan Results">${inside}</document>`
  const TARGETS = '<error><![CDATA[Targets file hosts.txt does not exist.]]></error>'

  test('the error that version 2.0 writes for each file of targets is none', async () => {
    expect(await guess(document(TEST + TARGETS))).toMatchObject({ errors: 0, reached: ['a.example'] })
    expect(await guess(document(TARGETS))).toMatchObject({ errors: 1, failed: [] })
  })

  test('the names that a server was asked for tell its findings apart', async () => {
    const asked = (name: string) => TEST.replace(' port', ` sniname="${name}" port`)
    const names = ['A.example', 'b.example', 'c.example']
    expect(short(await guess(document(names.map(asked).join(''))))).toEqual([
      'sslscan-tls10 low a.example:443',
      'sslscan-tls10 low a.example:443 b.example',
      'sslscan-tls10 low a.example:443 c.example',
    ])
  })

  test('a server that refuses has failed, the others are read, also in reports that follow each other', async () => {
    const refused =
      '<error><![CDATA[Could not open a connection to host b.example (192.0.2.9) on port 443.]]></error>'
    const report = await guess(
      `${document(TEST + refused)}\n${document(TEST.replace('a.example', 'A &amp; B'))}`,
    )
    expect(report).toMatchObject({ failed: ['b.example:443'], errors: 1 })
    expect(report.findings).toHaveLength(2)
  })

  test('a server of a list that cannot be tested only keeps its own records', async () => {
    const plain = TEST.replace('"443"', '"8443"').replace('enabled="1"', 'enabled="0"')
    const unresolved = '<error><![CDATA[Could not resolve hostname b.example.]]></error>'
    const report = await guess(document(plain + TEST + unresolved + TARGETS))
    expect(report).toMatchObject({
      failed: ['a.example:8443', 'b.example'],
      errors: 2,
      reached: ['a.example'],
    })
    expect(await guess(document(plain + unresolved))).toMatchObject({ failed: [], errors: 2, reached: [] })
  })
})

test('sslyze: weaknesses have the severities of sslscan, and a server that refuses has failed', async () => {
  const report = await collect(readFindings('sslyze', file('sslyze.json')))
  expect(short(report)).toEqual(
    expect.arrayContaining([
      'sslyze-tls10 low 127.0.40.4:18103',
      'sslyze-cipher-anonymous critical 127.0.40.4:18103',
      'sslyze-cert-weak-key medium 127.0.40.4:18103',
      'sslyze-cert-untrusted medium 127.0.40.6:18105',
    ]),
  )
  expect(report.failed).toEqual(['127.0.40.1:18099', '127.0.40.1:18100'])
  expect(report.reached.toSorted()).toEqual(['127.0.40.4', '127.0.40.6'])
})

test('sslyze before version 5 lists servers that did not answer apart', async () => {
  const refused = [{ server_string: '127.0.0.1:4', error_message: 'Server rejected the connection' }]
  const report = { server_connectivity_errors: refused, server_scan_results: [], sslyze_version: '4.1.0' }
  expect(await read('sslyze', JSON.stringify(report))).toMatchObject({
    errors: 1,
    problems: [{ reason: '127.0.0.1:4: Server rejected the connection' }],
  })
})

describe('Paths of web servers', () => {
  test.each(['dirsearch.json', 'gobuster.txt', 'gobuster-stdout.txt'])('%s', async (name) => {
    const { batches } = await openReport(undefined, file(name))
    const { assets, errors } = await collect(batches)
    expect(errors).toBe(0)
    expect(assets).toHaveLength(7)
    expect(assets).toContainEqual(
      expect.objectContaining({ asset_value: 'http://127.0.40.1:18100/.env', status_code: 200 }),
    )
  })

  test('gobuster: a path without a host is an error that says what to do', async () => {
    const report = await read('gobuster', '/a (Status: 200) [Size: 1]\nError: unable to connect')
    expect(report.assets).toEqual([])
    expect(report.problems.map(({ reason }) => reason)).toEqual([
      'Error: unable to connect',
      'the line names no host: run gobuster with -e, or import its output',
    ])
  })

  const HEADING = '===\nGobuster v3.5\n[+] Url:             https://192.0.2.1:8443\n===\n'
  test.each([
    [`${HEADING}\r\u001b[2KFound: a.test Status: 200 [Size: 25]`, 'content https://a.test:8443/'],
    ['Found: a.test Status: 301 [Size: 0] [--> https://a.test/]', 'subdomain a.test'],
    ['a.test \u001b[32mStatus: 200\u001b[0m [Size: 25]', 'subdomain a.test'],
    ['Found: a.test', 'subdomain a.test'],
    [`${HEADING}admin               (Status: 200) [Size: 9]`, 'content https://192.0.2.1:8443/admin'],
    ['Found: A.test [::1,192.0.2.7]', 'subdomain a.test ::1'],
    [`${HEADING}a.test 192.0.2.7,::1 CNAME: b.test`, 'subdomain a.test 192.0.2.7'],
    ['http://a.test/a b.txt   (Status: 200) [Size: 5]', 'content http://a.test/a b.txt'],
  ])('gobuster: paths, servers by name and names in DNS are assets: %j', async (text, expected) => {
    const { format, assets, errors } = await guess(`${text}\n2026/01/01 10:00:00 Finished\n`)
    expect({ format, errors }).toEqual({ format: 'gobuster', errors: 0 })
    expect(assets.map((one) => [one.asset_type, one.asset_value, one.host_ip].join(' ').trim())).toEqual([
      expected,
    ])
  })

  test.each([
    ['stopped at the end of a line', 1, (output: string) => output.replace(/=+\n.* Finished\n=+\n$/, '')],
    ['stopped in its heading', 1, (output: string) => output.slice(0, output.indexOf('[+] Method'))],
    ['begun again', 1, (output: string) => output.replace(/=+\n.* Finished\n/, output)],
    [
      'of version 3.6, and another one',
      0,
      (output: string) => output.replace(/\S+ \S+ (?=Finished)/, '') + output,
    ],
  ])('gobuster: output that is %s has %d errors', async (_, count, change) => {
    const output = readFileSync(new URL('reports/gobuster-stdout.txt', import.meta.url), 'utf8')
    const { errors, problems } = await read('gobuster', change(output))
    expect(errors).toBe(count)
    for (const { reason } of problems) expect(reason).toContain('gobuster was stopped')
  })

  test('ffuf: a scan without results is no failure, and inputs of ejson are decoded', async () => {
    expect(await guess('{"commandline":"ffuf","results":null,"config":{}}')).toMatchObject({
      format: 'ffuf',
      errors: 0,
    })
    const results = [{ url: 'http://a.example/x', status: 200, input: { FUZZ: 'eA==', FFUFHASH: 'MQ==' } }]
    const { assets } = await guess(JSON.stringify({ commandline: 'ffuf -X PUT -of ejson', results }))
    expect(JSON.parse(assets[0]?.raw_json_data ?? '')).toMatchObject({ method: 'PUT', input: { FUZZ: 'x' } })
  })

  const printed = ['x', 'y'].map(
    (path) =>
      `{"input":{"FFUFHASH":"MQ==","FUZZ":"eA=="},"position":1,"status":200,"words":2,"url":"http://a.example/${path}"}`,
  )
  const drawn = (errors: number) =>
    `\r\u001b[2K:: Progress: [20/20] :: Job [1/1] :: 9 req/sec :: Duration: [0:00:01] :: Errors: ${errors} ::`
  const logged = printed.map((one) => `${drawn(0)}\r\u001b[2K${one}\n`).join('')
  const BANNER = `\n        /'___\\  \n       v2.1.0\n____\n\n :: URL              : http://a.example/errors/FUZZ\n\n`
  test.each([
    ['results', printed.join('\n'), 2, 0],
    ['results among its log, and requests without an answer', `${BANNER}${logged}${drawn(3)}\n`, 2, 1],
    ['a log', `${BANNER}${drawn(0)}\n`, 0, 0],
    ['a log of requests without an answer', `${BANNER}${drawn(1)}${drawn(20)}\n`, 0, 1],
    ['a log of a scan that a person ended', `[WARN] Caught keyboard interrupt (Ctrl-C)\n${drawn(0)}\n`, 0, 1],
    ['results as text', `${BANNER}x [Status: 200, Size: 5, Words: 2, Lines: 1]\n${drawn(0)}\n`, 0, 1],
  ])('ffuf -json: %s', async (_, text, count, errors) => {
    const { format, assets, ...found } = await guess(text)
    expect({ format, errors: found.errors }).toEqual({ format: 'ffuf', errors })
    expect(assets.map((one) => [one.url, one.raw_json_data])).toEqual(
      ['http://a.example/x', 'http://a.example/y']
        .slice(0, count)
        .map((url) => [url, JSON.stringify({ words: 2, input: { FUZZ: 'x' } })]),
    )
  })

  test('ffuf -json without results prints nothing, but not anything is its log', async () => {
    expect(await read('ffuf', '')).toMatchObject({ assets: [], errors: 0 })
    await expect(read('ffuf', 'hello\n')).rejects.toThrow('lacks the fields')
  })

  test('ffuf: names that were tried as the header Host are places of their own', async () => {
    const hosts = ['admin.a.example', 'Www.a.example', '192.0.2.1:8080']
    const results = hosts.map((host) => ({ url: 'http://192.0.2.1:8080/', host, status: 200 }))
    expect(values(await guess(JSON.stringify({ commandline: 'ffuf', results })))).toEqual([
      'content http://admin.a.example:8080/',
      'content http://www.a.example:8080/',
      'content http://192.0.2.1:8080/',
    ])
  })

  test('whatweb: what a report that is cut short has is kept', async () => {
    const answer = '{"target":"http://A.example./","http_status":200,"plugins":{}}'
    const report = await guess(`[\n${answer}\n,\n{"target":"http://b`)
    expect(values(report)).toEqual(['http a.example'])
    expect(report.errors).toBe(1)
    expect(await guess(`[\n${answer},\n{}\n]`)).toMatchObject({ assets: [{}], errors: 0 })
    expect(values(await guess(`${answer}\n${answer}\n`))).toEqual(['http a.example', 'http a.example'])
  })
})

test('zmap: addresses that refused are no assets', async () => {
  const row = (fields: object) => JSON.stringify({ saddr: '192.0.2.1', sport: 80, success: 1, ...fields })
  expect(
    values(
      await guess([row({}), row({ success: 0 }), row({ repeat: 1 }), '{"saddr":"2001:DB8::2"}'].join('\n')),
    ),
  ).toEqual(['port 192.0.2.1:80 80', 'ip 2001:db8::2'])
})

describe('Secrets and source code', () => {
  test('gitleaks: a secret in two commits is two findings', async () => {
    const found = short(await collect(readFindings('gitleaks', file('gitleaks.json'))))
    expect(found).toHaveLength(2)
    expect(found[1]).toMatch(/^github-pat high my conf\.ini:2 [0-9a-f]{40} line 2$/)
  })

  test('gitleaks: without commits the secret tells results apart, and is not readable', async () => {
    const leak = (StartLine: number) => ({
      RuleID: 'key',
      File: 'a.py',
      StartLine,
      Commit: '',
      Secret: 'abc',
      Match: 'k = abc',
    })
    expect(short(await guess(JSON.stringify([leak(3), leak(9)])))).toEqual([
      expect.stringMatching(/^key high a\.py:3 text [0-9a-f]{16}$/),
      expect.stringMatching(/^key high a\.py:9 text [0-9a-f]{16} #2$/),
    ])
  })

  test('gitleaks: reports of version 7 are read', async () => {
    const commits = ['0', '1', '2'].map((digit) => digit.repeat(40))
    const old = commits.map((commit) => ({
      line: 'k = abc',
      lineNumber: 3,
      offender: 'abc',
      offenderEntropy: -1,
      commit,
      rule: 'AWS Key',
      author: 'a',
      file: 'my dir/a.py',
      date: '2026-01-01T00:00:00Z',
      tags: 'key, AWS',
    }))
    const report = await guess(JSON.stringify(old))
    expect(report.format).toBe('gitleaks')
    expect(short(report)).toEqual([
      expect.stringMatching(/^AWS Key high my dir\/a\.py:3 text [0-9a-f]{16}$/),
      `AWS Key high my dir/a.py:3 ${commits[1]} line 3`,
      `AWS Key high my dir/a.py:3 ${commits[2]} line 3`,
    ])
    expect(report.findings[1]).toMatchObject({
      tags: ['gitleaks', 'secret', 'key', 'AWS'],
      vuln_desc: `Commit ${commits[1]} of a, 2026-01-01T00:00:00Z`,
    })
  })

  test('gitleaks: absolute paths become relative to the folder that was scanned', async () => {
    const leak = (name: string) => ({ RuleID: 'key', File: `/src/app/${name}`, StartLine: 1, Match: name })
    const report = JSON.stringify([leak('a.py'), leak('my dir/ünï.py')])
    expect((await guess(report)).findings.map(({ asset_value }) => asset_value)).toEqual([
      'a.py:1',
      'my dir/ünï.py:1',
    ])
    const named = await collect(readFindings('gitleaks', bytesOf(report), { root: '/src' }))
    expect(named.findings[0]?.asset_value).toBe('app/a.py:1')
  })

  test('gosec: equal lines are told apart by their order, and a file that does not compile has failed', async () => {
    const found = await collect(readFindings('gosec', file('gosec.json')))
    const same = found.findings.filter(({ vuln_info }) => vuln_info === 'G401')
    expect(same.map(({ severity, confidence }) => [severity, confidence])).toEqual([
      ['medium', 'Certain'],
      ['medium', 'Certain'],
    ])
    expect(new Set(same.map(({ fingerprint }) => fingerprint)).size).toBe(2)
    expect((await collect(readFindings('gosec', file('gosec-broken.json')))).failed).toEqual(['main.go'])
  })

  test('gosec: the folder that was scanned may be written as on Windows', async () => {
    const Issues = [{ rule_id: 'G1', details: 'x', file: 'C:\\src\\app\\a.go', line: '1', severity: 'LOW' }]
    const body = bytesOf(JSON.stringify({ 'Golang errors': {}, Issues }))
    const { findings } = await collect(readFindings('gosec', body, { root: 'C:\\src' }))
    expect(findings).toMatchObject([{ asset_value: 'app/a.go:1' }])
  })

  test('gosec: a line that is added above changes no identity', async () => {
    const issue = (number: number) => ({
      rule_id: 'G1',
      file: 'a.go',
      line: `${number}`,
      code: `${number}: \tcall()\n${number + 1}: }\n`,
      severity: 'LOW',
    })
    const fingerprints = async (number: number) =>
      (await guess(JSON.stringify({ 'Golang errors': {}, Issues: [issue(number)] }))).findings.map(
        ({ fingerprint }) => fingerprint,
      )
    expect(await fingerprints(3)).toEqual(await fingerprints(4))
  })
})

test('nmap: a script that crashed was not tested at its place, and says nothing about other scripts', async () => {
  const script = (id: string, output: string) => `<script id="${id}" output="${output}"/>`
  const crashed = 'ERROR: Script execution failed (use -d to debug)'
  const text = `<nmaprun scanner="nmap" start="1"><host><status state="up" reason="reset"/>
    <address addr="192.0.2.1" addrtype="ipv4"/><hostnames><hostname name="a.example" type="user"/></hostnames>
    <ports><port protocol="tcp" portid="6379"><state state="open" reason="syn-ack"/>
      ${script('redis-info', crashed)}${script('ftp-anon', 'Anonymous FTP login allowed')}</port></ports>
    <hostscript>${script('smb-vuln-ms17-010', crashed)}</hostscript></host></nmaprun>`
  const batches = await Array.fromAsync(readFindings('nmap', bytesOf(text)))
  expect(batches).toMatchObject([
    {
      errors: 2,
      failures: 2,
      failed: {
        hosts: [],
        places: [
          { place: 'a.example', check: 'smb-vuln-ms17-010', reason: expect.stringContaining(crashed) },
          { place: 'a.example:6379', check: 'redis-info' },
        ],
      },
      vulnerabilities: [
        {
          vuln_info: 'ftp-anon',
          asset_value: 'a.example:6379',
          vuln_desc: expect.stringMatching(/^Anyone can read the files\. Switch off anonymous logins/),
        },
      ],
    },
  ])
})

test('nuclei: a template of the type file names a file and its line', async () => {
  const row = {
    'template-id': 'aws-key',
    info: { name: 'Key', severity: 'high' },
    type: 'file',
    'matched-at': '/src/my%20dir/a.py',
  }
  const places = async (more: object) =>
    (await guess(JSON.stringify({ ...row, ...more }))).findings.map(
      (one) => `${one.asset_type} ${one.asset_value}`,
    )
  expect(await places({ 'matched-line': [3, 9] })).toEqual(['file /src/my dir/a.py:3'])
  expect(await places({})).toEqual(['file /src/my dir/a.py'])
  expect(await places({ type: 'http', 'matched-at': 'http://h/my%20dir' })).toEqual(['web http://h/my%20dir'])
})

describe('Vulnerabilities of packages', () => {
  const OSV = {
    results: [
      {
        source: { path: 'web/package-lock.json', type: 'lockfile' },
        packages: [
          {
            package: { name: 'left', version: '1.0.0', ecosystem: 'npm' },
            vulnerabilities: [
              {
                id: 'GHSA-aaaa-bbbb-cccc',
                summary: 'Prototype pollution',
                aliases: ['CVE-2026-1'],
                affected: [
                  { ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '1.0.1' }] }] },
                ],
              },
              { id: 'OSV-2026-1' },
            ],
            groups: [{ ids: ['GHSA-aaaa-bbbb-cccc', 'OSV-2026-1'], max_severity: '9.8' }],
          },
        ],
      },
    ],
    experimental_config: {},
  }
  const TRIVY = {
    SchemaVersion: 2,
    ArtifactName: 'shop:1',
    Results: [
      {
        Target: 'shop:1 (debian 12)',
        Class: 'os-pkgs',
        Type: 'debian',
        Vulnerabilities: [
          {
            VulnerabilityID: 'CVE-2026-2',
            PkgName: 'libx',
            InstalledVersion: '1',
            FixedVersion: '2',
            Severity: 'CRITICAL',
            Title: 'Overflow',
          },
        ],
      },
      {
        Target: 'Dockerfile',
        Class: 'config',
        Misconfigurations: [
          {
            AVDID: 'AVD-DS-0002',
            Title: 'root',
            Severity: 'HIGH',
            Status: 'FAIL',
            CauseMetadata: { StartLine: 3 },
          },
          { ID: 'ok', Status: 'PASS' },
        ],
      },
      {
        Target: 'a.env',
        Class: 'secret',
        Secrets: [{ RuleID: 'aws', Severity: 'CRITICAL', StartLine: 1, Match: 'KEY=***' }],
      },
    ],
  }
  const GRYPE = {
    matches: [
      {
        vulnerability: { id: 'GHSA-1', severity: 'Medium', fix: { versions: ['3'] } },
        relatedVulnerabilities: [{ id: 'CVE-2026-3' }],
        artifact: { name: 'liby', version: '2', locations: [{ path: '/app/y.lock' }] },
      },
      {
        vulnerability: { id: 'GHSA-2', severity: 'Unknown', cvss: [{ metrics: { baseScore: 7.5 } }] },
        artifact: { name: 'libz', version: '1' },
      },
    ],
    source: {},
  }
  const GHSA = 'https://a.example/advisories/GHSA-aaaa-bbbb-cccc'
  const NPM = {
    auditReportVersion: 2,
    vulnerabilities: {
      left: {
        name: 'left',
        severity: 'high',
        via: [
          {
            source: 1,
            name: 'left',
            title: 'Injection',
            url: GHSA,
            severity: 'moderate',
            cwe: ['CWE-74'],
          },
        ],
        nodes: ['node_modules/left'],
      },
      right: { name: 'right', severity: 'high', via: ['left'] },
    },
  }
  const BUN = { left: [{ id: 1, url: GHSA, severity: 'moderate', vulnerable_versions: '<2' }] }
  const OLD_NPM = {
    advisories: {
      7: {
        id: 7,
        module_name: 'left',
        severity: 'low',
        title: 'x',
        cves: ['CVE-2026-4'],
        patched_versions: '<0.0.0',
        findings: [{ version: '1.0.0' }],
      },
    },
    metadata: {},
  }
  const lines = (...rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n')
  const yarn = (path: string) => ({
    type: 'auditAdvisory',
    data: { resolution: { path }, advisory: OLD_NPM.advisories[7] },
  })
  const YARN = lines(yarn('a>left'), yarn('b>left'), { type: 'auditSummary', data: {} })
  const yarn4 = (value: string, ID: unknown, Severity: string, version: string, URL?: string) => ({
    value,
    children: { ID, Issue: 'x', URL, Severity, 'Vulnerable Versions': '<3', 'Tree Versions': [version] },
  })
  const YARN_4 = lines(
    yarn4('left', 7, 'high', '1.0.0', GHSA),
    yarn4('right', 'right (deprecation)', 'moderate', '2.0.0'),
  )
  const osv = (source: object, found: object, more: object) => ({
    results: [{ source, packages: [{ package: found, vulnerabilities: [{ id: 'OSV-1' }] }] }],
    experimental_config: {},
    ...more,
  })
  const OSV_COMMIT = osv({ path: '/src/vendor', type: 'git' }, { name: '', version: '', commit: '9a6b' }, {})
  const OSV_IMAGE = osv(
    { path: '/lib/apk/db/installed', type: 'os' },
    { name: 'libx', version: '3' },
    { image_metadata: { os: 'Alpine' } },
  )
  const PIP = {
    dependencies: [
      {
        name: 'jin',
        version: '1',
        vulns: [{ id: 'PYSEC-1', aliases: ['CVE-2026-5'], fix_versions: ['2'], description: 'x' }],
      },
      { name: 'ok', version: '1', vulns: [] },
    ],
    fixes: [],
  }

  test.each([
    ['osv-scanner', OSV, ['GHSA-aaaa-bbbb-cccc critical web/package-lock.json:left@1.0.0']],
    [
      'trivy',
      TRIVY,
      [
        'CVE-2026-2 critical shop:1:libx@1',
        'DS-0002 high Dockerfile:3',
        expect.stringMatching(/^aws critical a\.env:1 [0-9a-f]{16}$/),
      ],
    ],
    ['grype', GRYPE, ['GHSA-1 medium app/y.lock:liby@2', 'GHSA-2 high libz@1']],
    ['npm-audit', NPM, ['GHSA-aaaa-bbbb-cccc medium left']],
    ['npm-audit', BUN, ['GHSA-aaaa-bbbb-cccc medium left']],
    ['npm-audit', OLD_NPM, ['CVE-2026-4 low left@1.0.0']],
    ['npm-audit', YARN, ['CVE-2026-4 low left@1.0.0', 'CVE-2026-4 low left@1.0.0']],
    ['npm-audit', YARN_4, ['GHSA-aaaa-bbbb-cccc high left@1.0.0', 'npm-deprecation medium right@2.0.0']],
    ['osv-scanner', OSV_COMMIT, ['OSV-1 medium vendor:vendor@9a6b']],
    ['osv-scanner', OSV_IMAGE, ['OSV-1 medium /lib/apk/db/installed:libx@3']],
    ['pip-audit', PIP, ['PYSEC-1 medium jin@1']],
    ['pip-audit', PIP.dependencies, ['PYSEC-1 medium jin@1']],
  ])('%s', async (format, report, expected) => {
    const found = await guess(typeof report === 'string' ? report : JSON.stringify(report))
    expect(found).toMatchObject({ format, errors: 0 })
    expect(short(found)).toEqual(expected)
  })

  test.each([
    [OSV, 'pkg:npm/left@1.0.0'],
    [YARN_4, 'pkg:npm/left@1.0.0'],
    [JSON.stringify(OSV).replaceAll('"npm"', '"constructor"'), undefined],
    [JSON.stringify(PIP).replace('jin', 'Jin_ja'), 'pkg:pypi/jin-ja@1'],
    [JSON.stringify(OLD_NPM).replace('"left"', '"@a/left"'), 'pkg:npm/%40a/left@1.0.0'],
    [NPM, undefined],
  ])('packages are known by their purl, if their version is known: %j', async (report, purl) => {
    const { findings } = await guess(typeof report === 'string' ? report : JSON.stringify(report))
    expect((JSON.parse(findings[0]?.raw_vuln_json ?? '') as { purl?: string }).purl).toBe(purl)
  })

  test('osv-scanner: the record of a finding has the fields of its first advisory', async () => {
    const { findings } = await guess(JSON.stringify(OSV))
    expect(JSON.parse(findings[0]?.raw_vuln_json ?? '')).toMatchObject({ id: 'GHSA-aaaa-bbbb-cccc' })
  })

  test('npm-audit: fixed versions below 0.0.0 mean that there is none', async () => {
    const { findings } = await guess(JSON.stringify(OLD_NPM))
    expect(findings[0]?.vuln_desc).toContain('No fixed version')
  })

  test.each(['Resources', 'Findings', 'Vulnerabilities'])(
    'trivy: %s of a cluster are places, and images are told apart in them',
    async (list) => {
      const found = (PkgName: string) => [{ VulnerabilityID: 'CVE-1', PkgName, Severity: 'HIGH' }]
      const [Kind, Name] = ['Deployment', 'web']
      const web = (Namespace: string, Results: readonly object[]) => ({ Results, Kind, Name, Namespace })
      const Misconfigurations = [{ ID: 'KSV-1', Severity: 'LOW' }, { Status: 'PASS' }]
      const image = { Target: 'nginx:1 (debian 12)', Class: 'os-pkgs', Vulnerabilities: found('a') }
      const resources = [
        web('shop', [image, { Vulnerabilities: found('a'), Target: 'side:2' }]),
        web('other', [{ Target: 'Deployment/web', Misconfigurations }]),
      ]
      const report = await guess(JSON.stringify({ ClusterName: 'demo', [list]: resources }))
      expect(report).toMatchObject({ format: 'trivy', errors: 0 })
      expect(short(report)).toEqual([
        'CVE-1 high shop/Deployment/web:a nginx:1',
        'CVE-1 high shop/Deployment/web:a side:2',
        'KSV-1 low other/Deployment/web',
      ])
    },
  )

  const sarif = (name: string, ruleId: string, text: string, place: string, rule = {}, run = {}) => {
    const [uri, fullyQualifiedName] = place.split(' in ')
    const physicalLocation = { artifactLocation: { uri }, region: { startLine: 1 } }
    const rules = [{ id: ruleId, properties: { 'security-severity': '9.8' }, ...rule }]
    const locations = [{ physicalLocation, logicalLocations: [{ fullyQualifiedName }] }]
    const results = [{ ruleId, message: { text }, locations }]
    return { runs: [{ results, tool: { driver: { name, rules } }, ...run }], version: '2.1.0' }
  }
  const PACKAGE = { VulnerabilityID: 'CVE-1', PkgName: '@b/c', InstalledVersion: '1', Severity: 'LOW' }
  const OF_TRIVY = 'Package: @b/c\nInstalled Version: 1\nVulnerability CVE-1\nSeverity: LOW\nFixed Version: 2'
  const inTrivy = (target: object) => ({
    SchemaVersion: 2,
    ArtifactName: 'shop:1',
    Results: [{ Vulnerabilities: [PACKAGE], ...target }],
  })
  const inGrype = (type: string, target: unknown, severity: string, path: string) => {
    const artifact = { name: 'b-c', version: '1', locations: [{ path }] }
    return { matches: [{ vulnerability: { id: 'GHSA-1', severity }, artifact }], source: { type, target } }
  }
  const ofGrype = (word: string, where: string) =>
    `A ${word} vulnerability in npm package: b-c, version 1 was found ${where}`
  const group = { ids: ['GO-1', 'GHSA-1'], aliases: ['CVE-1'], max_severity: '9.8' }
  const inOsv = {
    packages: [{ package: { name: 'd', version: '1' }, groups: [group] }],
    source: { path: '/src/y' },
  }

  test.each([
    [
      'trivy',
      inTrivy({ Target: 'my dir/a.lock' }),
      sarif('Trivy', 'CVE-1', OF_TRIVY, 'my%20dir/a.lock'),
      'CVE-1 low my dir/a.lock:@b/c@1',
    ],
    [
      'an image in trivy',
      inTrivy({ Target: 'shop:1 (alpine 3.1)', Class: 'os-pkgs' }),
      sarif(
        'Trivy',
        'CVE-1',
        OF_TRIVY,
        'library/shop',
        { name: 'OsPackageVulnerability' },
        {
          properties: { imageName: 'shop:1' },
        },
      ),
      'CVE-1 low shop:1:@b/c@1',
    ],
    [
      'a folder in grype',
      inGrype('directory', '/src', 'Medium', '/my dir/a.lock'),
      sarif('grype', 'GHSA-1-b-c', ofGrype('medium', 'at: /my dir/a.lock'), '/my%20dir/a.lock'),
      'GHSA-1 medium my dir/a.lock:b-c@1',
    ],
    [
      'an image in grype',
      inGrype('image', { userInput: 'shop:1' }, 'Negligible', '/lib/db'),
      sarif('grype', 'GHSA-1-b-c', ofGrype('low', 'in image shop:1 at: /lib/db'), 'shop//lib/db', {
        properties: { 'security-severity': '0.0' },
      }),
      'GHSA-1 info shop:1:/lib/db:b-c@1',
    ],
    [
      'a list of the packages of an image in grype',
      inGrype('sbom-file', 'my shop.json', 'High', '/lib/db'),
      sarif('grype', 'GHSA-1-b-c', ofGrype('high', 'from SBOM file my shop.json'), '/lib/db'),
      'GHSA-1 high my shop.json:/lib/db:b-c@1',
    ],
    [
      'an archive in grype',
      inGrype('file', 'app.jar', 'High', '/b.jar'),
      sarif('grype', 'GHSA-1-b-c', ofGrype('high', 'at: /b.jar'), '/b.jar in app.jar://b.jar'),
      'GHSA-1 high app.jar:/b.jar:b-c@1',
    ],
    [
      'a file of an image in trivy',
      { ...inTrivy({ Target: 'app/a.lock', Class: 'lang-pkgs' }), ArtifactType: 'container_image' },
      sarif('Trivy', 'CVE-1', OF_TRIVY, 'app/a.lock', {}, { properties: { imageName: 'shop:1' } }),
      'CVE-1 low shop:1:/app/a.lock:@b/c@1',
    ],
    [
      'osv-scanner',
      { results: [inOsv] },
      sarif(
        'osv-scanner',
        'CVE-1',
        "Package 'd@1' is vulnerable to 'CVE-1' (also known as 'GO-1', 'GHSA-1').",
        'file:///src/y',
      ),
      'GO-1 critical y:d@1',
    ],
  ])('%s: JSON and SARIF name one package in one way', async (_, json, log, expected) => {
    const found = await guess(JSON.stringify(log))
    expect(short(await guess(JSON.stringify(json)))).toEqual([expected])
    expect(short(found)).toEqual([expected])
    expect(found.findings[0]).toMatchObject({
      asset_type: 'package',
      vuln_title: expect.stringMatching(/^(@b\/c|b-c|d): /),
    })
  })

  test.each([
    ['cyclonedx', 'Node.js', 'lang-pkgs', 'my shop.json:/Node.js:@b/c@1'],
    ['spdx', './my%20shop.json', 'lang-pkgs', 'my shop.json:@b/c@1'],
    ['cyclonedx', './my%20shop.json (debian 12)', 'os-pkgs', 'my shop.json:@b/c@1'],
    ['vm', 'app/a.lock', 'lang-pkgs', 'my shop.json:/app/a.lock:@b/c@1'],
  ])(
    'trivy: packages of an artifact of the type %s are in it: %s',
    async (ArtifactType, Target, Class, place) => {
      const report = { ...inTrivy({ Target, Class }), ArtifactType, ArtifactName: './my%20shop.json' }
      expect(short(await guess(JSON.stringify(report)))).toEqual([`CVE-1 low ${place}`])
    },
  )

  const WORDS = { Severity: 'HIGH', Title: 'Flaw' }
  const KSV = { ...WORDS, AVDID: 'AVD-KSV-0118', ID: 'KSV118', Message: 'a\n b', Status: 'FAIL' }
  const KEY = { ...WORDS, RuleID: 'aws', StartLine: 1, Match: 'KEY=*' }
  test.each([
    [
      'KSV-0118',
      'KSV118',
      'Vulnerability KSV118\nSeverity: HIGH\nMessage: a\n b\nLink: [a](b)',
      { Misconfigurations: [KSV] },
    ],
    ['aws', 'aws', 'Secret Flaw\nSeverity: HIGH\nMatch: KEY=*', { Secrets: [KEY] }],
  ])('trivy: JSON and SARIF name %s in one way, by its image', async (id, ruleId, said, results) => {
    const rule = { shortDescription: { text: 'Flaw' } }
    for (const [ArtifactType, imageName, Target, place] of [
      ['filesystem', '', 'a.x', 'a.x'],
      ['container_image', 'shop:1', '/my/a.x', 'shop:1:/my/a.x'],
    ] as const) {
      const json = {
        SchemaVersion: 2,
        ArtifactName: imageName,
        ArtifactType,
        Results: [{ Target, ...results }],
      }
      const text = `Artifact: a.x\nType: x\n${said}`
      const log = sarif('Trivy', ruleId, text, Target, rule, { properties: { imageName } })
      const { findings: one } = await guess(JSON.stringify(json))
      const { findings: other } = await guess(JSON.stringify(log))
      const [fingerprint, asset_type] = [expect.stringMatching(/^\w{16}$/), 'file']
      const known = { vuln_info: id, vuln_title: 'Flaw', severity: 'high', asset_type, fingerprint }
      expect(one).toMatchObject([{ ...known, asset_value: expect.stringContaining(place) }])
      expect(other).toMatchObject([{ ...known, asset_value: `${place}:1`, fingerprint: one[0]?.fingerprint }])
    }
  })

  test('trivy: misconfigurations keep their identity when a line is added, and when trivy calls the check by its new name', async () => {
    const cause = (first: number, Content: string, more: object) => ({
      Message: `${Content} is wrong`,
      Status: 'FAIL',
      ...more,
      CauseMetadata: {
        StartLine: first,
        Code: {
          Lines: [
            { Number: first - 1, Content: 'x', IsCause: false },
            { Number: first, Content, IsCause: true },
          ],
        },
      },
    })
    const identities = async (first: number, more: object) => {
      const Misconfigurations = ['- name: a', '- name: b', '- name: a'].map((text, n) =>
        cause(first + n, text, more),
      )
      const { findings } = await guess(
        JSON.stringify({
          SchemaVersion: 2,
          ArtifactName: '.',
          Results: [{ Target: 'pod.yaml', Misconfigurations }],
        }),
      )
      return findings.map(({ vuln_info: id, fingerprint }) => `${id} ${fingerprint}`)
    }
    const known = await identities(19, { AVDID: 'AVD-KSV-0118', ID: 'KSV118' })
    expect(new Set(known).size).toBe(3)
    expect(await identities(20, { ID: 'KSV-0118' })).toEqual(known)
  })

  test('JSON that also lists dependencies is not taken for a report of pip-audit', async () => {
    const sbom = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [], dependencies: [{ ref: 'a' }] }
    await expect(guess(JSON.stringify(sbom))).rejects.toThrow('its format is not recognised')
  })

  test.each([
    ['experimentalAnalysis', { called: false }, 'Tentative'],
    ['experimental_analysis', { called: true }, 'Firm'],
    ['experimental_analysis', { called: true, unimportant: true }, 'Tentative'],
  ])(
    'osv-scanner: a vulnerability is info, as the tool lets it pass, if its code is not used: %s %j',
    async (name, analysis, confidence) => {
      const group = { ids: ['OSV-1'], max_severity: '9.8', [name]: { 'OSV-1': analysis } }
      const packages = [{ package: { name: 'a' }, vulnerabilities: [{ id: 'OSV-1' }], groups: [group] }]
      const report = JSON.stringify({ results: [{ source: { path: 'go.mod' }, packages }] })
      const isUsed = confidence === 'Firm'
      const { findings } = await guess(report)
      expect(findings).toMatchObject([{ severity: isUsed ? 'critical' : 'info', confidence }])
      expect(findings[0]?.vuln_desc.includes('no use of')).toBe(!isUsed)
    },
  )

  test('grype: a file of a folder is named by its path in it', async () => {
    expect(short(await collect(readFindings('grype', file('grype.json'))))).toEqual([
      'GHSA-demo-demo-demo medium package-lock.json:minimist@0.0.8',
    ])
  })

  test('names of the vulnerability in other databases are tags', async () => {
    expect((await guess(JSON.stringify(PIP))).findings[0]).toMatchObject({
      asset_type: 'package',
      tags: ['pip-audit', 'CVE-2026-5'],
      vuln_desc: expect.stringContaining('Fixed in: 2'),
    })
  })

  test.each(['pip-audit-unchecked.json', 'npm-audit-refused.json'])(
    'a scan that checked nothing has failed: %s',
    async (name) => {
      const { batches } = await openReport(undefined, file(name))
      const report = await collect(batches)
      expect(report.findings).toEqual([])
      // At least one failure that concerns everything.
      expect(report.errors).toBeGreaterThan(report.failed.length)
    },
  )

  test.each([
    '{"results":[],"experimental_config":{}}',
    '{"matches":[],"source":{}}',
    '{"SchemaVersion":2,"ArtifactName":"a"}',
    '{"auditReportVersion":2,"vulnerabilities":{}}',
    '{"dependencies":[],"fixes":[]}',
    '{"results":[]}',
    '{"dependencies":[{"name":"a","version":"1","vulns":[]}]}',
    '{"results": null}',
    'null',
    '{"Golang errors":{},"Issues":null}',
    '{"type":"auditSummary","data":{"vulnerabilities":{}}}',
    '{"type":"auditSummary","data":{}}\n{"type":"info","data":"Done"}',
    '[INF] Current nuclei version: v3.3.0\n[INF] No results found.',
    '[ ]',
    '',
  ])('a scan without results is no failure: %s', async (text) => {
    expect(await guess(text)).toMatchObject({ findings: [], assets: [], errors: 0 })
  })
})

/** A report with its keys in another order, as other programs write it. */
const reordered = (value: unknown, order: (names: string[]) => string[]): unknown =>
  Array.isArray(value)
    ? value.map((one) => reordered(one, order))
    : isRecord(value)
      ? Object.fromEntries(order(Object.keys(value)).map((name) => [name, reordered(value[name], order)]))
      : value

const REPORTS = readdirSync(new URL('reports/', import.meta.url))
const bytesOfReport = (name: string) => readFileSync(new URL(`reports/${name}`, import.meta.url))

/** Without a process for large ones. A refused report has an error. */
const readHere = async (format: ImportFormat, bytes: Uint8Array) => {
  const report = collect(batchesOf(format, bytesOf(bytes, bytes.length), ''))
  const { findings, assets, errors } = await report.catch(() => ({ findings: [], assets: [], errors: 1 }))
  return { rows: new Set([...findings, ...assets].map((one) => JSON.stringify(one))), errors }
}

/** Lines that nothing follows: a report of fewer lines looks the same. */
const HAS_NO_END = /^(?:gobuster(?:-web)?\.txt|masscan\.ndjson|zmap.*)$/
const CUTS = 40

test.each(REPORTS.filter((name) => !HAS_NO_END.test(name)))(
  '%s that ends anywhere is not taken for a whole report',
  async (name) => {
    const bytes = bytesOfReport(name)
    const { format } = await openReport(undefined, file(name))
    const whole = await readHere(format, bytes)
    for (let part = 1; part < CUTS; part += 1) {
      const size = Math.floor((bytes.length * part) / CUTS)
      const { rows, errors } = await readHere(format, bytes.subarray(0, size))
      if (errors === 0) expect([size, rows]).toEqual([size, whole.rows])
    }
  },
)

const JSON_REPORTS = REPORTS.filter((name) =>
  /^(?!whatweb|masscan\.ndjson|zmap\.json).*\.(?:json|sarif)$/.test(name),
)

test.each(JSON_REPORTS)('the order of keys changes nothing in %s', async (name) => {
  const report: unknown = JSON.parse(readFileSync(new URL(`reports/${name}`, import.meta.url), 'utf8'))
  const told = async (order: (names: string[]) => string[]) => {
    const { findings, assets, failed, errors } = await guess(JSON.stringify(reordered(report, order)))
    const rows = [...findings, ...assets].map(({ asset_value, ...one }) =>
      'vuln_info' in one ? [one.vuln_info, one.severity, asset_value, one.fingerprint] : asset_value,
    )
    return { rows: rows.map(String).toSorted(), failed: failed.toSorted(), errors }
  }
  const known = await told((names) => names)
  expect(await told((names) => names.toSorted())).toEqual(known)
  expect(await told((names) => names.toReversed())).toEqual(known)
})

test.each(JSON_REPORTS)('A list of %s and the same report is read as one behind the other', async (name) => {
  const text = bytesOfReport(name).toString()
  const list = Buffer.from(`[${text},\n${text}]`)
  const { format } = await openReport(undefined, file(name))
  const read = await readHere(format, list)
  // These have objects and lists.
  if (/^(?:ffuf|pip-audit|testssl)/.test(name) && text.startsWith('{')) expect(read.errors).toBeGreaterThan(0)
  else {
    expect(read).toEqual(await readHere(format, Buffer.from(`${text}\n${text}`)))
    expect((await openReport(undefined, bytesOf(list, list.length))).format).toBe(format)
  }
})

test('A report of grype that ends in its first list is recognised', async () => {
  const report: unknown = JSON.parse(readFileSync(new URL('reports/grype.json', import.meta.url), 'utf8'))
  const [match] = asList(at(report, 'matches'))
  const { format, findings, errors } = await guess(`{"matches":[${JSON.stringify(match)},{"vulnerab`)
  expect([format, findings.length, errors]).toEqual(['grype', 1, 1])
})

test.each([
  ['npm-audit', '{}'],
  ['testssl', '[ ]'],
] as const)('%s: %s is a scan without results', async (format, text) => {
  expect(await read(format, text)).toMatchObject({ findings: [], errors: 0 })
})

test.each([
  ['{"error":{"code":"ENOLOCK","summary":"No lockfile"}}', 'No lockfile'],
  ['{"error":{"code":"ENOAUDIT","summary":"","detail":""}}', 'ENOAUDIT'],
  ['{"type":"error","data":"The registry did not answer"}', 'The registry did not answer'],
  ['{"type":"info","data":"Visit the documentation"}', 'yarn wrote no summary of an audit'],
  ['{"error":{"code":"ERR_PNPM_AUDIT_NO_LOCKFILE","message":"No pnpm-lock.yaml"}}', 'No pnpm-lock.yaml'],
  ['{"message":"request to http://a/ failed, reason: no","error":{"summary":""}}', 'request to http://a/'],
  ['{"error":{"summary":"","detail":""},"message":"network timeout at: http://a/"}', 'network timeout'],
  ['{"message":"invalid json response body at http://a/ reason: x","error":{"summary":""}}', 'invalid json'],
])('an error of npm is recognised: %s', async (text, reason) => {
  expect(await guess(text)).toMatchObject({
    format: 'npm-audit',
    errors: 1,
    problems: [{ reason: expect.stringContaining(reason) }],
  })
})

test.each([
  ['npm-audit', '{"error":"no audit here"}', 'no audit here'],
  ['trivy', '[{"SchemaVersion":2,"ArtifactName":"a","Results":[]}]', 'a list of reports'],
] as const)('%s: %s is no scan without results', async (format, text, reason) => {
  expect((await read(format, text)).problems).toMatchObject([{ reason: expect.stringContaining(reason) }])
})

test.each([
  ['npm warn config production', '2 low\nnpm notice New version', 0],
  ['npm error code ENOTFOUND', '', 1],
  ['3 errors occurred', '', 1],
  ['0 errors, swiftly', 'no errors', 0],
  ['"auditReportVersion": 1},', '', 1],
])(
  'lines of a log beside a report are none of it, unless they tell of trouble: %s',
  async (before, after, errors) => {
    const report = '{"auditReportVersion":2,"vulnerabilities":{}}'
    expect(await guess(`${before}\n${report}\n${after}`)).toMatchObject({ format: 'npm-audit', errors })
  },
)

test.each([
  ['nmap', '# Nmap 7.93 scan initiated as: nmap -oG - 192.0.2.1', '-oX'],
  ['zmap', '192.0.2.1\n192.0.2.2', '-O json'],
  ['testssl', '"id","fqdn/ip","port","severity","finding"', '--jsonfile'],
  ['wapiti', '<report type="security"/>', '-f json'],
] as const)('another form of %s is refused, with the one that is read', async (format, text, form) => {
  await expect(read(format, text)).rejects.toThrow(`expected: ${format} (${form}`)
  await expect(guess(text)).rejects.toThrow(`${format} (${form}`)
})

test.each([
  'whatweb',
  'gitleaks',
  'pip-audit',
  'npm-audit',
  'osv-scanner',
  'trivy',
  'grype',
  'gosec',
  'sslyze',
  'testssl',
] as const)('%s refuses a report of another tool', async (format) => {
  await expect(read(format, '{"other":1}')).rejects.toThrow(`expected: ${format} (`)
})
