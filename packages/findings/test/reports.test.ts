import { createReadStream, readdirSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { openReport, readFindings, type ImportFormat } from '../src/index.ts'
import { bytesOf } from './records.ts'

/** Reads a report that a tool wrote, or a text. */
const read = async (format: ImportFormat, report: string | AsyncIterable<Uint8Array>) => {
  const body =
    typeof report === 'string' ? createReadStream(new URL(`reports/${report}`, import.meta.url)) : report
  const batches = await Array.fromAsync(readFindings(format, body))
  return {
    findings: batches.flatMap((batch) => batch.vulnerabilities),
    assets: batches.flatMap((batch) => batch.assets),
    reached: batches.flatMap((batch) => batch.reached),
    errors: batches.reduce((sum, batch) => sum + batch.errors, 0),
  }
}
const text = (format: ImportFormat, content: string) => read(format, bytesOf(content))
const short = ({ findings }: Awaited<ReturnType<typeof read>>) =>
  findings.map(({ vuln_info, severity, asset_value }) => [vuln_info, severity, asset_value].join(' '))

const WEAK = '127.0.0.1:18143'

test('whatweb: answers become assets with technologies, and a target that refused has no record', async () => {
  const { assets, reached, errors } = await read('whatweb', 'whatweb.json')
  expect(errors).toBe(0)
  expect(reached).toEqual(['127.0.0.1', '127.0.0.1'])
  const common = {
    asset_type: 'http',
    asset_value: '127.0.0.1',
    host_ip: '127.0.0.1',
    status_code: 200,
    title: 'Lab shop',
    technologies: ['nginx:1.22.1', 'WordPress:5.8'],
  }
  expect(assets).toMatchObject([
    { ...common, url: 'https://127.0.0.1:18144', scheme: 'https' },
    { ...common, url: 'http://127.0.0.1:18180', scheme: 'http' },
  ])
})

test('whatweb: the lists of several runs, headers of unknown servers and unusable answers are read', async () => {
  const answer = (plugins: object, target = 'http://a.test/x?y=1') =>
    JSON.stringify([{ target, http_status: 200, plugins }])
  const { assets, errors } = await text(
    'whatweb',
    [
      answer({
        HTTPServer: { string: ['Weird/2.0 (Unix)'] },
        jQuery: {},
        'X-Frame-Options': { string: ['DENY'] },
      }),
      answer({}, 'nonsense'),
      '[\n]',
    ].join('\n'),
  )
  expect(errors).toBe(1)
  expect(assets).toMatchObject([{ url: 'http://a.test/x?y=1', technologies: ['Weird:2.0', 'jQuery'] }])
})

test('ffuf: URLs become assets with status and size', async () => {
  const { assets, errors } = await read('ffuf', 'ffuf.json')
  expect(errors).toBe(0)
  expect(assets).toHaveLength(5)
  expect(assets[0]).toMatchObject({
    asset_type: 'content',
    asset_value: 'http://127.0.0.1:18180/admin',
    url: 'http://127.0.0.1:18180/admin',
    status_code: 301,
  })
  expect(JSON.parse(assets[0]?.raw_json_data ?? '')).toEqual({
    method: 'GET',
    content_length: 169,
    words: 5,
    lines: 8,
    location: 'http://127.0.0.1:18180/admin/',
    input: { FUZZ: 'admin' },
  })
})

test('ffuf: concatenated reports are read, and a server that refused is not named as reached', async () => {
  const one = JSON.stringify({
    config: {},
    results: [{ url: 'http://a/"}', status: 200 }, { url: 'nonsense' }],
  })
  const none = '{"config":{},"results":null}'
  const { assets, errors } = await text('ffuf', `${one}${none}\n${one}`)
  expect(assets.map(({ url }) => url)).toEqual(['http://a/"}', 'http://a/"}'])
  expect(errors).toBe(2)
  expect(await read('ffuf', 'ffuf-refused.json')).toEqual({
    findings: [],
    assets: [],
    reached: [],
    errors: 0,
  })
})

const MASSCAN =
  '{"ip":"::1","ports":[{"port":53,"proto":"udp","status":"open"},{"port":80,"status":"closed"}]}'

test.each([
  ['a list that ends with a comma', `[\n${MASSCAN},\n\n]\n`],
  ['a list that ends with the mark of old versions', `[\n${MASSCAN},\n{finished: 1}\n]\n`],
  [
    'a banner of an open port',
    `[${MASSCAN},{"ip":"::1","ports":[{"port":53,"proto":"udp","service":{"name":"dns"}}]}]`,
  ],
])('masscan: %s is read', async (_, content) => {
  const { assets, errors } = await text('masscan', content)
  expect(errors).toBe(0)
  expect([...new Set(assets.map(({ asset_value }) => asset_value))]).toEqual(['[::1]:53/udp', '::1'])
})

test('wapiti: vulnerabilities and anomalies have the place, the parameter and the request', async () => {
  const report = await read('wapiti', 'wapiti.json')
  const [page, search] = ['http://127.0.0.1:18180/', 'http://127.0.0.1:18180/search.php']
  expect(report.errors).toBe(0)
  expect(short(report)).toEqual([
    `wapiti-content-security-policy-configuration-CSP low ${page}`,
    `wapiti-path-traversal-q critical ${search}`,
    `wapiti-http-secure-headers-X-Frame-Options low ${page}`,
    `wapiti-http-secure-headers-X-XSS-Protection low ${page}`,
    `wapiti-http-secure-headers-X-Content-Type-Options low ${page}`,
    `wapiti-http-secure-headers-Strict-Transport-Security low ${page}`,
    `wapiti-httponly-flag-cookie-sid low ${page}`,
    `wapiti-secure-flag-cookie-sid low ${page}`,
    `wapiti-cross-site-scripting-q medium ${search}`,
    `wapiti-internal-server-error-q high ${search}`,
  ])
  expect(report.findings[1]).toMatchObject({
    vuln_title: 'Path Traversal (q)',
    vuln_desc: expect.stringContaining('via injection in the parameter q'),
    vuln_poc: expect.stringMatching(/^curl "http/),
    asset_type: 'web',
    tags: ['wapiti'],
    detail_http_request: expect.stringMatching(/^GET \/search.php\?q=/),
  })
})

test('wapiti: the report of a server that refused has no record, and additional information has the severity info', async () => {
  expect(await read('wapiti', 'wapiti-refused.json')).toEqual({
    findings: [],
    assets: [],
    reached: [],
    errors: 0,
  })
  const report = {
    vulnerabilities: {},
    additionals: {
      'Fingerprint web technology': [{ path: '/', level: 4, parameter: '', info: 'nginx' }, {}],
    },
    infos: { target: 'http://a.test/' },
  }
  expect(await text('wapiti', JSON.stringify(report))).toMatchObject({
    findings: [
      { vuln_info: 'wapiti-fingerprint-web-technology', severity: 'info', asset_value: 'http://a.test/' },
      { severity: 'info' },
    ],
    reached: [],
  })
})

test('sslscan: protocols, ciphers and certificates that are weak become findings', async () => {
  const report = await read('sslscan', 'sslscan-weak.xml')
  expect(short(report)).toEqual([
    `sslscan-tls10 low ${WEAK}`,
    `sslscan-tls11 low ${WEAK}`,
    `sslscan-cipher-anonymous critical ${WEAK}`,
    `sslscan-cipher-null critical ${WEAK}`,
    `sslscan-cert-expired medium ${WEAK}`,
    `sslscan-cert-self-signed medium ${WEAK}`,
    `sslscan-cert-weak-key medium ${WEAK}`,
    `sslscan-cert-weak-signature medium ${WEAK}`,
  ])
  expect(report).toMatchObject({ reached: ['127.0.0.1'], errors: 0 })
  expect(report.findings[3]).toMatchObject({
    vuln_title: 'Ciphers without encryption',
    vuln_desc: expect.stringContaining('TLSv1.2 NULL-SHA256'),
    asset_type: 'network',
    tags: ['sslscan', 'tls'],
  })
})

const sslscan = (inside: string) =>
  `<document title="SSLScan Results"><ssltest host="a.test" port="443"><protocol type="tls" version="1.2" enabled="1" />${inside}</ssltest></document>`
const accepted = (name: string) =>
  `<cipher status="accepted" sslversion="TLSv1.2" bits="1" cipher="${name}" />`

test.each([
  [accepted('ECDHE-RSA-RC4-SHA'), 'sslscan-cipher-rc4 high'],
  [accepted('TLS_RSA_WITH_3DES_EDE_CBC_SHA'), 'sslscan-cipher-3des medium'],
  [accepted('DES-CBC3-SHA'), 'sslscan-cipher-3des medium'],
  [accepted('DES-CBC-SHA'), 'sslscan-cipher-des high'],
  [accepted('EXP-RC4-MD5'), 'sslscan-cipher-export critical'],
  [accepted('TLS_DH_anon_WITH_AES_128_CBC_SHA'), 'sslscan-cipher-anonymous critical'],
  ['<protocol type="ssl" version="2" enabled="1" />', 'sslscan-sslv2 critical'],
  ['<protocol type="ssl" version="3" enabled="1" />', 'sslscan-sslv3 high'],
  ['<heartbleed sslversion="TLSv1.2" vulnerable="1" />', 'sslscan-heartbleed critical'],
  ['<renegotiation supported="1" secure="0" />', 'sslscan-insecure-renegotiation critical'],
  ['<compression supported="1" />', 'sslscan-compression high'],
])('sslscan: %s is %s', async (inside, expected) => {
  expect(short(await text('sslscan', sslscan(inside)))).toEqual([`${expected} a.test:443`])
})

test.each([
  ['<pk error="false" type="EC" curve_name="prime256v1" bits="128" />', []],
  [
    '<pk error="false" type="EC" curve_name="secp160r1" bits="80" />',
    ['sslscan-cert-weak-key medium a.test:443'],
  ],
  ['<pk error="false" type="RSA" bits="1024" />', ['sslscan-cert-weak-key medium a.test:443']],
  ['<pk error="false" type="RSA" bits="2048" />', []],
])('sslscan: a certificate with the key %s has the findings %j', async (key, expected) => {
  const report = sslscan(`<certificates><certificate type="short">${key}</certificate></certificates>`)
  expect(short(await text('sslscan', report))).toEqual(expected)
})

test.each(['AES128-SHA', 'TLS_AES_256_GCM_SHA384', 'ECDHE-RSA-CHACHA20-POLY1305', 'ADHOC'])(
  'sslscan: the cipher %s is no finding',
  async (cipher) => {
    expect((await text('sslscan', sslscan(accepted(cipher)))).findings).toEqual([])
  },
)

test('testssl: lines from LOW are findings with the severity of the tool', async () => {
  const report = await read('testssl', 'testssl.json')
  expect(report).toMatchObject({ reached: ['127.0.0.1'], errors: 0 })
  const found = short(report)
  expect(found).toHaveLength(18)
  expect(found).toEqual(
    expect.arrayContaining([
      `testssl-TLS1 low ${WEAK}`,
      `testssl-cipherlist_NULL critical ${WEAK}`,
      `testssl-cert_keySize medium ${WEAK}`,
      `testssl-cert_subjectAltName high ${WEAK}`,
      `testssl-BEAST low ${WEAK}`,
    ]),
  )
  expect(report.findings.find(({ vuln_info }) => vuln_info === 'testssl-BEAST')).toMatchObject({
    vuln_title: expect.stringMatching(/^BEAST: VULNERABLE/),
    tags: ['testssl', 'tls', 'CVE-2011-3389'],
  })
})

test('testssl: the pretty form is read like the flat one', async () => {
  const report = await read('testssl', 'testssl-pretty.json')
  expect(report).toMatchObject({ reached: ['127.0.0.1'], errors: 0 })
  expect(short(report)).toEqual(
    expect.arrayContaining(['testssl-LUCKY13 low 127.0.0.1:18144', 'testssl-HSTS low 127.0.0.1:18144']),
  )
})

test.each([
  ['engine_problem', ['a.test']],
  ['heartbleed', []],
])(
  'testssl: a host with a check that was not possible is not named as reached: %s',
  async (warning, reached) => {
    const line = { ip: 'a.test/192.0.2.1', port: '443', finding: 'x' }
    const lines = [
      { id: warning, severity: 'WARN', ...line },
      { id: 'BEAST', severity: 'OK', ...line },
    ]
    expect(await text('testssl', JSON.stringify(lines))).toMatchObject({ reached, errors: 0 })
  },
)

test.each([
  ['sslscan', 'sslscan-refused.xml'],
  ['sslscan', 'sslscan-plain.xml'],
  ['testssl', 'testssl-refused.json'],
  ['testssl', 'testssl-pretty-refused.json'],
] as const)('%s: a scan that could not test the server is an error: %s', async (format, file) => {
  const { errors, ...rest } = await read(format, file)
  expect(errors).toBeGreaterThan(0)
  expect(rest).toEqual({ findings: [], assets: [], reached: [] })
})

test.each([
  ['whatweb', '{}', '--log-json'],
  ['whatweb', '', '--log-json'],
  ['ffuf', '{"results":[]}', '-of json'],
  ['masscan', '{}', '-oJ'],
  ['wapiti', '{"vulnerabilities":{}}', '-f json'],
  ['testssl', '[{"id":"x"}]', '--jsonfile'],
  ['testssl', '{}', '--jsonfile'],
  ['sslscan', '<document title="x"/>', '--xml'],
  ['sslscan', '<!DOCTYPE x [<!ENTITY a "aa">]><document title="SSLScan"/>', 'declares XML entities'],
] as const)('%s refuses %s', async (format, content, message) => {
  await expect(text(format, content)).rejects.toThrow(message)
})

test('nmap: results of scripts and services that are weaknesses by themselves become findings', async () => {
  const report = await read('nmap', 'nmap.xml')
  expect(report).toMatchObject({ reached: ['127.0.0.1'], errors: 0 })
  expect(short(report)).toEqual([
    'ftp-anon medium 127.0.0.1:21',
    'service-telnet medium 127.0.0.1:23',
    'http-git medium 127.0.0.1:80',
    'http-enum medium http://127.0.0.1:80/.git/HEAD',
    'ssl-cert medium 127.0.0.1:443',
    'http-git medium 127.0.0.1:443',
    'http-enum medium https://127.0.0.1:443/.git/HEAD',
    'ssl-enum-ciphers high 127.0.0.1:443',
    'redis-info critical 127.0.0.1:6379',
  ])
  expect(report.findings[0]).toMatchObject({
    vuln_title: 'Anonymous FTP login',
    vuln_desc: expect.stringContaining('FTP code 230'),
    confidence: 'Firm',
    asset_type: 'network',
    tags: ['nmap', 'ftp-anon'],
  })
  expect(report.findings[1]).toMatchObject({ confidence: 'Firm' })
})

test('nmap: a service that is only known by the number of its port is tentative, and none within TLS', async () => {
  const service = (attributes: string) => text('nmap', nmapPort(`<service ${attributes}/>`))
  const guess = await service('name="shell" method="table"')
  expect(guess.findings).toMatchObject([
    { vuln_info: 'service-shell', confidence: 'Tentative', asset_value: '192.0.2.7:99' },
  ])
  expect(guess.assets.map(({ title }) => title)).toContain('shell?')
  expect((await service('name="telnet" tunnel="ssl" method="probed"')).findings).toEqual([])
})

const nmapPort = (inside: string) =>
  `<nmaprun start="1700000000"><host><status state="up" reason="syn-ack"/><address addr="192.0.2.7" addrtype="ipv4"/><ports><port protocol="tcp" portid="99"><state state="open" reason="syn-ack"/>${inside}</port></ports></host></nmaprun>`
const script = (id: string, output: string) =>
  `<script id="${id}" output="${output.replaceAll('\n', '&#xa;').replaceAll('"', '&quot;')}"/>`

test.each([
  [
    'ftp-anon',
    'Anonymous FTP login allowed (FTP code 230)\ndrwx 2 0 0 4096 incoming [NSE: writeable]',
    'high',
  ],
  ['smtp-open-relay', 'Server is an open relay (1/16 tests)\n MAIL FROM:<a> -> RCPT TO:<b>', 'high'],
  ['dns-recursion', 'Recursion appears to be enabled', 'medium'],
  [
    'mysql-empty-password',
    '\n  anonymous account has empty password\n  root account has empty password',
    'critical',
  ],
  ['mysql-empty-password', '\n  anonymous account has empty password', 'high'],
  ['mongodb-info', '\n  Server status\n    ok = 1\n    uptime = 747', 'critical'],
  ['memcached-info', '\n  Process ID: 1\n  Authentication: no', 'high'],
  ['nfs-showmount', '\n  /home 192.0.2.0/255.255.255.0\n  /srv *', 'high'],
  ['nfs-showmount', '\n  /srv', 'high'],
  [
    'smb-security-mode',
    '\n  account_used: guest\n  message_signing: disabled (dangerous, but default)',
    'medium',
  ],
  ['smb2-security-mode', '\n  3.1.1: \n    Message signing enabled but not required', 'medium'],
  ['sshv1', 'Server supports SSHv1', 'high'],
  ['http-open-proxy', 'Potentially OPEN proxy.\nMethods supported: GET', 'high'],
  ['http-default-accounts', '\n  [Cacti] at /\n    admin:admin', 'critical'],
  ['http-config-backup', '\n  /config.php~ HTTP/1.1 200 OK', 'high'],
  ['vnc-info', '\n  Protocol version: 3.8\n  WARNING: Server does not require authentication', 'critical'],
  ['x11-access', 'X server access is granted', 'critical'],
  ['rsync-list-modules', '\n  www   www directory', 'low'],
  ['snmp-brute', '\n  public - Valid credentials', 'high'],
  ['ssl-cert', 'Subject: commonName=a\nNot valid after:  2023-11-14T22:13:19', 'medium'],
])('nmap: %s with %j is %s', async (id, output, severity) => {
  expect(short(await text('nmap', nmapPort(script(id, output))))).toEqual([`${id} ${severity} 192.0.2.7:99`])
})

test.each([
  ['ftp-bounce', 'server forbids bouncing to low ports &lt;1025'],
  ['redis-info', '\n  ERROR: Authentication required'],
  ['smtp-open-relay', 'Server doesn&apos;t seem to be an open relay, all tests failed'],
  ['mongodb-info', '\n  MongoDB Build info\n    version = 6\n  Server status\n    errmsg = not authorized'],
  ['memcached-info', '\n  Authentication: SASL'],
  ['nfs-showmount', '\n  /home 192.0.2.0/255.255.255.0\n  /srv 192.0.2.1/255.255.255.255'],
  ['smb2-security-mode', '\n  3.1.1: \n    Message signing enabled and required'],
  ['ssl-cert', 'Subject: commonName=a\nNot valid after:  2023-11-14T22:13:21'],
  ['ssl-cert', 'Subject: commonName=a'],
  ['http-enum', '\n  /icons/: Icons and images\n  /robots.txt: Robots file'],
  ['ssh-auth-methods', '\n  Supported authentication methods: \n    password'],
  ['vulners', '\n  cpe:/a:x:\n    CVE-2020-1 9.8'],
  ['constructor', 'x'],
])('nmap: %s with %j is no finding', async (id, output) => {
  expect((await text('nmap', nmapPort(script(id, output)))).findings).toEqual([])
})

test('nmap: a scan that failed is an error, and a host that sent nothing is not reached', async () => {
  const silent = nmapPort('').replaceAll('reason="syn-ack"', 'reason="user-set"')
  expect(await text('nmap', silent)).toMatchObject({ reached: [], errors: 0 })
  const failed = '<nmaprun><runstats><finished exit="error" errormsg="x"/></runstats></nmaprun>'
  expect(await text('nmap', failed)).toMatchObject({ errors: 1 })
})

const REPORTS = readdirSync(new URL('reports', import.meta.url))
const SAMPLES: readonly (readonly [ImportFormat, string])[] = [
  ['sarif', '\ufeff{"version":"2.1.0","runs":[]}'],
  ['jsonl', '{"vuln_info":"x","asset_value":"a","raw_vuln_json":"{\\"template-id\\":1,\\"info\\":1}"}'],
]

describe('The format of a file is recognised', () => {
  const guess = async (content: AsyncIterable<Uint8Array>) => {
    const { format, batches } = await openReport(undefined, content)
    return { format, batches: await Array.fromAsync(batches) }
  }

  test.each(REPORTS)('by its name in %s', async (file) => {
    const { format } = await guess(createReadStream(new URL(`reports/${file}`, import.meta.url)))
    const name = file.endsWith('.sarif') ? 'sarif' : (file.split('.')[0] ?? '')
    expect(name).toMatch(new RegExp(`^${format}`))
  })

  test.each(SAMPLES)('as %s in %s', async (format, content) => {
    expect(await guess(bytesOf(content, 5))).toMatchObject({ format })
  })

  test('in the start of a large report, which is then read as a whole', async () => {
    const results = Array.from({ length: 3_000 }, (_, n) => ({ url: `http://a/${n}`, status: 200 }))
    const report = JSON.stringify({ commandline: 'ffuf', results, config: {} })
    const { format, batches } = await guess(bytesOf(report, 10_000))
    expect(format).toBe('ffuf')
    expect(batches.flatMap(({ assets }) => assets)).toHaveLength(3_000)
  })

  test.each([
    ['hello', 'not recognised'],
    ['<html></html>', 'not recognised'],
    ['{"x":{"template-id":1,"info":2}}', 'not recognised'],
    ['{"ip":"a","ports":[]}', 'not recognised'],
    [`{"a":"${'"'.repeat(70_000)}`, 'not recognised'],
  ])('or refused: %j', async (content, message) => {
    await expect(guess(bytesOf(content))).rejects.toThrow(message)
  })
})
