import { expect, test } from '@jest/globals'
import { assetOf, findingOf, readFindings, type ImportFormat } from '../src/index.ts'
import { bytesOf } from './records.ts'

const read = async (format: ImportFormat, text: string) => {
  const batches = await Array.fromAsync(readFindings(format, bytesOf(text)))
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

test('nuclei writes one finding a line; lines that are none are counted', async () => {
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
  })
})

test('SARIF of other tools is read by rule, level and place', async () => {
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
      vuln_desc: 'SQL injection',
      severity: 'high',
      asset_type: 'file',
      asset_value: 'src/db.ts:7',
      tags: ['semgrep'],
    },
    { vuln_info: 'sqli', vuln_title: 'sqli', severity: 'low', asset_value: '' },
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
<port protocol="tcp" portid="443"><state state="open"/><service name="https"/>
<script id="ssl-poodle" output="&#xa;  VULNERABLE:&#xa;  SSL POODLE information leak&#xa;    State: LIKELY VULNERABLE&#xa;    IDs:  CVE:CVE-2014-3566&#xa;"/>
<script id="ssl-date" output="fine"/></port>
</ports></host><host><status state="down"/><address addr="192.0.2.8" addrtype="ipv4"/></host></nmaprun>`

test('nmap tells hosts and open ports, and what its scripts hold for vulnerable', async () => {
  const { vulnerabilities, assets, errors } = await read('nmap', NMAP)
  expect(errors).toBe(0)
  expect(assets).toMatchObject([
    { asset_type: 'ip', asset_value: 'a.example', host_ip: '192.0.2.7', open_ports: ['22', '443'] },
    {
      asset_type: 'port',
      asset_value: 'a.example:22',
      title: 'ssh OpenSSH 9.2 & <x>',
      technologies: ['OpenSSH'],
    },
    { asset_type: 'port', asset_value: 'a.example:443', title: 'https' },
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
  ['sarif', 'x', 'it is no JSON'],
  ['sarif', '{"version":"2.0.0","runs":[]}', 'it is no SARIF 2.1.0'],
  ['nmap', '{}', 'cannot be read'],
  ['nmap', '<html></html>', 'it is no XML of nmap'],
  ['nmap', '<nmaprun><host></nmaprun>', 'cannot be read'],
  ['nmap', '<!DOCTYPE x [<!ENTITY a "aa">]><nmaprun>&a;</nmaprun>', 'it declares entities of its own'],
] as const)('%s refuses %s', async (format, text, message) => {
  await expect(read(format, text)).rejects.toThrow(message)
})

test('records are cut to what the contract allows, and batches to what one statement takes', async () => {
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

test('keys of prototypes are no fields', () => {
  expect(findingOf(JSON.parse('{"__proto__":{"name":"x"}}') as Record<string, unknown>)).toBeUndefined()
  expect(assetOf({ title: 'no value' })).toBeUndefined()
  expect(assetOf({ host: 'a', status_code: 'x', open_ports: [22, '22'] })).toMatchObject({
    asset_value: 'a',
    status_code: 0,
    open_ports: ['22'],
  })
})
