import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import type { FindingContent, Vulnerability } from '@scanfarm/contracts'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { readFindings, writeFindings } from '../src/index.ts'
import { bytesOf, pagesOf, record, textOf, ZOO } from './records.ts'

const sarifProblems = async (log: unknown): Promise<unknown> => {
  const text = await readFile(new URL('sarif-2.1.0.schema.json', import.meta.url), 'utf8')
  // Its keywords mean the same in draft 7, which the validator knows.
  const { $schema: _, id: __, ...schema } = JSON.parse(text) as Record<string, unknown>
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false })
  formats.default(ajv)
  const validate = ajv.compile(schema)
  validate(log)
  return validate.errors
}

test('exported SARIF matches its schema for any findings', async () => {
  const log: unknown = JSON.parse(await textOf(writeFindings('sarif', pagesOf(ZOO))))
  expect(await sarifProblems(log)).toBeNull()
  expect(log).toMatchObject({
    version: '2.1.0',
    runs: [
      { results: ZOO.map(() => ({ ruleId: expect.any(String) })), tool: { driver: { name: 'Scanfarm' } } },
    ],
  })
  expect(await sarifProblems(JSON.parse(await textOf(writeFindings('sarif', pagesOf([])))))).toBeNull()
  expect(await sarifProblems({ version: '2.1.0', runs: [{ results: [{}] }] })).not.toBeNull()
})

const contentOf = (finding: Vulnerability): FindingContent => ({
  vuln_info: finding.vuln_info,
  vuln_title: finding.vuln_title,
  vuln_desc: finding.vuln_desc,
  vuln_poc: finding.vuln_poc,
  severity: finding.severity,
  confidence: finding.confidence,
  asset_type: finding.asset_type,
  asset_value: finding.asset_value,
  tags: finding.tags,
  detail_http_request: finding.detail_http_request,
  detail_http_response: finding.detail_http_response,
  raw_vuln_json: finding.raw_vuln_json,
  fingerprint: finding.fingerprint,
  occurrences: finding.occurrences,
})

test.each(['sarif', 'jsonl'] as const)('what goes out as %s comes in again the same', async (format) => {
  const text = await textOf(writeFindings(format, pagesOf(ZOO)))
  const batches = await Array.fromAsync(readFindings(format, bytesOf(text)))
  const back = batches.flatMap(({ vulnerabilities }) => vulnerabilities)
  const named = ZOO.filter(({ vuln_info, vuln_title }) => vuln_info !== '' || vuln_title !== '')
  expect(back).toEqual(named.map(contentOf))
})

test('exported CSV has a header, quotes values where needed, and contains no formulas', async () => {
  const text = await textOf(writeFindings('csv', pagesOf(ZOO)))
  const [head, first] = text.split('\n')
  expect(head).toMatch(/^id,workspace,severity,confidence,vuln_info,vuln_title,asset_type,asset_value,state/)
  expect(first).toMatch(
    /^1,w,critical,Certain,CVE-2026-1234,Old library,web,https:\/\/a.example\/login\?a=1,open,/,
  )
  expect(text).toContain(`"'=cmd|""/C calc""!A0,\n""x"""`)
  const judged = record({
    id: 1,
    verdict: 'accepted',
    reason: 'Internal.',
    until: '2026-06-01T00:00:00.000Z',
    assignee: 'kim',
    cves: ['CVE-2026-1', 'CVE-2026-2'],
    epss: 0.25,
    kev: true,
    kev_due: '2026-05-01',
    priority: { score: 65, why: [] },
    raw_vuln_json: JSON.stringify({
      info: { classification: { 'cvss-metrics': 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' } },
    }),
  })
  const [names = '', values = ''] = (await textOf(writeFindings('csv', pagesOf([judged])))).split('\n')
  const cells = values.split(',')
  expect(Object.fromEntries(names.split(',').map((name, at) => [name, cells[at]]))).toMatchObject({
    seen: 'open',
    verdict: 'accepted',
    reason: 'Internal.',
    until: '2026-06-01T00:00:00.000Z',
    assignee: 'kim',
    priority: '65',
    cves: 'CVE-2026-1 CVE-2026-2',
    epss: '0.25',
    kev: 'true',
    kev_due: '2026-05-01',
    cvss_score: '9.8',
    cvss: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  })
})

test('the DefectDojo export uses the field values of DefectDojo', async () => {
  const { findings } = JSON.parse(await textOf(writeFindings('defectdojo', pagesOf(ZOO)))) as {
    findings: unknown[]
  }
  expect(findings).toHaveLength(ZOO.length)
  expect(findings[0]).toEqual({
    title: 'Old library',
    description: 'It is old.\n\nAsset: https://a.example/login?a=1\n\nWorkspace: w\n\nConfidence: Certain',
    severity: 'Critical',
    date: '2026-01-31',
    active: true,
    is_mitigated: false,
    false_p: false,
    risk_accepted: false,
    verified: true,
    vuln_id_from_tool: 'CVE-2026-1234',
    unique_id_from_tool: 'ab'.repeat(32),
    vulnerability_ids: ['CVE-2026-1234'],
    endpoints: ['https://a.example/login?a=1'],
    dynamic_finding: true,
    steps_to_reproduce: 'curl https://a.example',
    tags: ['cve', 'web'],
  })
  expect(findings[3]).toMatchObject({
    active: false,
    is_mitigated: true,
    mitigated: '2026-02-02T00:00:00.000Z',
  })
  expect(findings[6]).toMatchObject({ title: 'Finding 6' })
  expect(JSON.parse(await textOf(writeFindings('defectdojo', pagesOf([]))))).toEqual({ findings: [] })
})

test('the product in OpenVEX is the purl that SARIF of grype names', async () => {
  const rules = [{ id: 'r', properties: { purls: ['pkg:npm/b@9', 'pkg:npm/b@1%3A2'] } }]
  const message = { text: 'A low vulnerability in npm package: b, version 1:2 was found at: /a' }
  const runs = [{ tool: { driver: { name: 'grype', rules } }, results: [{ ruleId: 'r', message }] }]
  const body = bytesOf(JSON.stringify({ version: '2.1.0', runs }))
  const [batch] = await Array.fromAsync(readFindings('sarif', body))
  const raw_vuln_json = batch?.vulnerabilities[0]?.raw_vuln_json ?? ''
  const text = await textOf(writeFindings('openvex', pagesOf([record({ raw_vuln_json })])))
  expect(text).toContain('[{"@id":"pkg:npm/b@1%3A2"}]')
})

test('the OpenVEX export says what people decided about known vulnerabilities', async () => {
  const purl = 'pkg:npm/lodash@4.17.20'
  let id = 0
  const one = (changes: Partial<Vulnerability>) => record({ id: (id += 1), vuln_poc: '', ...changes })
  const { statements, ...document } = JSON.parse(
    await textOf(
      writeFindings(
        'openvex',
        pagesOf([
          one({}),
          one({
            verdict: 'false_positive',
            reason: 'The function is not called.',
            decided_at: '2026-03-01T00:00:00.000Z',
            vuln_info: 'GHSA-29mw-wpgm-hmr9',
            tags: ['grype', 'CVE-2020-28500'],
            raw_vuln_json: JSON.stringify({ artifact: { purl } }),
          }),
          one({ verdict: 'accepted', reason: 'Internal.', until: '2026-06-01T00:00:00.000Z' }),
          one({ verdict: 'confirmed', raw_vuln_json: '{"solution":"Update it."}' }),
          one({ verdict: 'fixed_claimed' }),
          one({ seen: 'gone', vuln_info: 'PYSEC-2023-1', asset_value: 'a.example:22' }),
          one({ vuln_info: 'weak-cipher' }),
        ]),
      ),
    ),
  ) as { statements: object[] }
  expect(document).toMatchObject({
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': expect.stringMatching(/^urn:uuid:/),
    author: 'Scanfarm',
    version: 1,
  })
  const web = {
    vulnerability: { name: 'CVE-2026-1234' },
    products: [{ '@id': 'https://a.example/login?a=1' }],
  }
  expect(statements).toEqual([
    {
      '@id': 'urn:scanfarm:finding:1:CVE-2026-1234',
      ...web,
      timestamp: '2026-02-01T12:00:00.000Z',
      status: 'under_investigation',
    },
    {
      '@id': 'urn:scanfarm:finding:2:CVE-2020-28500',
      vulnerability: { name: 'CVE-2020-28500', aliases: ['GHSA-29mw-wpgm-hmr9'] },
      products: [{ '@id': purl }],
      timestamp: '2026-03-01T00:00:00.000Z',
      status: 'not_affected',
      impact_statement: 'The function is not called.',
    },
    expect.objectContaining({
      ...web,
      status: 'affected',
      action_statement: 'Accepted until 2026-06-01T00:00:00.000Z. Internal.',
    }),
    expect.objectContaining({ status: 'affected', action_statement: 'Update it.' }),
    expect.objectContaining({ status: 'fixed' }),
    expect.objectContaining({
      vulnerability: { name: 'PYSEC-2023-1' },
      products: [{ '@id': 'urn:scanfarm:place:a.example%3A22' }],
      status: 'fixed',
    }),
  ])
  await expect(
    textOf(writeFindings('openvex', pagesOf([one({ vuln_info: 'weak-cipher' })]))),
  ).rejects.toThrow('no finding that matches names a CVE or an advisory')
})

interface Sarif {
  readonly runs: readonly {
    readonly results: readonly {
      readonly locations: readonly {
        readonly physicalLocation: {
          readonly artifactLocation: { readonly uri: string }
          readonly region: { readonly startLine: number }
        }
        readonly logicalLocations?: readonly { readonly fullyQualifiedName: string }[]
      }[]
      readonly properties: Readonly<Record<string, unknown>>
    }[]
    readonly tool: { readonly driver: { readonly version: string; readonly rules: readonly Rule[] } }
    readonly automationDetails: { readonly id: string }
  }[]
}
interface Rule {
  readonly id: string
  readonly helpUri?: string
  readonly help: { readonly text: string }
  readonly properties: Readonly<Record<string, unknown>>
}
const sarif = async (records: readonly Vulnerability[], size?: number) =>
  JSON.parse(await textOf(writeFindings('sarif', pagesOf(records, size)))) as Sarif

test.each([
  ['file', 'src/a b.ts:12', 'src/a%20b.ts', 12],
  ['file', '/etc/my conf', 'etc/my%20conf', 1],
  ['file', 'C:\\x\\y', './C:/x/y', 1],
  ['file', 'a%20b#c.ts:3', 'a%2520b%23c.ts', 3],
  ['web', 'https://a.example/login?a=1', 'targets/a.example/login%3Fa=1', 1],
  ['web', 'https://[::1]:8443/x', 'targets/%5B::1%5D:8443/x', 1],
  ['network', '[2001:db8::1]:443', 'targets/%5B2001:db8::1%5D:443', 1],
  ['network', 'a.example:53/udp', 'targets/a.example:53/udp', 1],
  ['', '', 'targets/unknown', 1],
])(
  'Each result is at a relative path with a line: %s %s',
  async (asset_type, asset_value, uri, startLine) => {
    const log = await sarif([record({ asset_type, asset_value })])
    expect(await sarifProblems(log)).toBeNull()
    const [place] = log.runs[0]?.results[0]?.locations ?? []
    expect(place?.physicalLocation).toEqual({ artifactLocation: { uri }, region: { startLine } })
    const named = place?.logicalLocations?.map(({ fullyQualifiedName }) => fullyQualifiedName)
    expect(named).toEqual(asset_type === 'file' || asset_value === '' ? undefined : [asset_value])
  },
)

const NUCLEI_RAW = JSON.stringify({
  info: {
    reference: ['https://a.example/advisory', 'no address'],
    remediation: 'Update it.',
    classification: {
      'cve-id': ['cve-2026-1111'],
      'cwe-id': ['cwe-79'],
      'cvss-metrics': 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
      'cvss-score': 9.8,
    },
  },
})

test('Rules have help, tags and the worst score, and results the facts of the scanner', async () => {
  const log = await sarif([
    record({ raw_vuln_json: NUCLEI_RAW }),
    record({ id: 2, severity: 'low', tags: ['more'], raw_vuln_json: 'no JSON', seen: 'unreachable' }),
  ])
  expect(await sarifProblems(log)).toBeNull()
  const [run] = log.runs
  expect(run?.tool.driver).toMatchObject({
    name: 'Scanfarm',
    version: expect.stringMatching(/^\d/),
    rules: [
      {
        id: 'CVE-2026-1234',
        shortDescription: { text: 'Old library' },
        fullDescription: { text: 'It is old.' },
        helpUri: 'https://a.example/advisory',
        help: { text: expect.stringContaining('Remediation: Update it.') },
        properties: {
          'security-severity': '9.8',
          tags: ['security', 'external/cwe/cwe-079', 'cve', 'web', 'more'],
        },
      },
    ],
  })
  expect(run?.results.map(({ properties }) => properties)).toMatchObject([
    {
      cves: ['CVE-2026-1234', 'CVE-2026-1111'],
      cwes: ['CWE-79'],
      cvssScore: 9.8,
      cvssVector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
      references: ['https://a.example/advisory'],
      remediation: 'Update it.',
    },
    { 'security-severity': '2.0', references: [], seen: 'unreachable' },
  ])
})

test('A severity that was changed by hand wins over the score of CVSS', async () => {
  const log = await sarif([record({ severity: 'medium', raw_vuln_json: NUCLEI_RAW })])
  expect(log.runs[0]?.tool.driver.rules[0]?.properties['security-severity']).toBe('5.5')
})

test('A package is at the file that names it, and only a score of CVSS 3 is one', async () => {
  const cvss = 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N'
  const place = { asset_type: 'package', asset_value: 'a/go.mod:stdlib@1.20', vuln_title: 'stdlib: Old' }
  const finding = record({ ...place, raw_vuln_json: JSON.stringify({ cvss }) })
  const [result] = (await sarif([finding])).runs[0]?.results ?? []
  expect(result).toMatchObject({
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: 'a/go.mod' } },
        logicalLocations: [{ fullyQualifiedName: 'a/go.mod:stdlib@1.20' }],
      },
    ],
  })
  const written = await textOf(writeFindings('defectdojo', pagesOf([finding])))
  expect(written).not.toContain('cvssv3')
})

test('More than 25,000 results are in several runs with different ids', async () => {
  const records = Array.from({ length: 25_001 }, (_, id) => record({ id, vuln_info: `r${id % 7}` }))
  const log = await sarif(records, 5_000)
  expect(log.runs.map(({ results }) => results.length)).toEqual([25_000, 1])
  expect(log.runs.map(({ tool }) => tool.driver.rules.length)).toEqual([7, 1])
  expect(new Set(log.runs.map(({ automationDetails }) => automationDetails.id)).size).toBe(2)
})

test.each<[string, Partial<Vulnerability>, object]>([
  [
    'a URL',
    { asset_value: 'https://[::1]:8443/x' },
    { endpoints: ['https://[::1]:8443/x'], dynamic_finding: true },
  ],
  ['a host', { asset_type: 'network', asset_value: 'a.example' }, { endpoints: ['a.example'] }],
  ['a port', { asset_type: 'network', asset_value: 'a.example:443' }, { endpoints: ['a.example:443'] }],
  [
    'a port of UDP',
    { asset_type: 'network', asset_value: 'a.example:53/udp' },
    { endpoints: ['udp://a.example:53'] },
  ],
  ['an address', { asset_type: 'ip', asset_value: '2001:db8::1' }, { endpoints: ['[2001:db8::1]'] }],
  [
    'a port of an address with a zone',
    { asset_type: 'network', asset_value: '[fe80::1%eth0]:443' },
    { endpoints: ['[fe80::1]:443'] },
  ],
  [
    'a line',
    { asset_type: 'file', asset_value: 'src/a.c:12' },
    { file_path: 'src/a.c', line: 12, static_finding: true },
  ],
  [
    'a package',
    { asset_type: 'package', asset_value: '@a/b@1.2.3' },
    { component_name: '@a/b', component_version: '1.2.3' },
  ],
  [
    'a package in a file',
    { asset_type: 'package', asset_value: 'a b/pom.xml:org.demo:a@1.2', vuln_title: 'org.demo:a: Old' },
    { component_name: 'org.demo:a', component_version: '1.2', file_path: 'a b/pom.xml' },
  ],
  [
    'facts of the scanner',
    { raw_vuln_json: NUCLEI_RAW, occurrences: 3 },
    {
      vulnerability_ids: ['CVE-2026-1234', 'CVE-2026-1111'],
      cwe: 79,
      cvssv3: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
      cvssv3_score: 9.8,
      references: 'https://a.example/advisory',
      mitigation: 'Update it.',
      nb_occurences: 3,
    },
  ],
  ...[
    { references: [{ type: 'WEB', url: 'https://a.example/1' }] },
    { References: ['https://a.example/1'] },
    { vulnerability: { urls: ['https://a.example/1'] } },
  ].map((raw): [string, Partial<Vulnerability>, object] => [
    `references like ${JSON.stringify(raw)}`,
    { raw_vuln_json: JSON.stringify(raw) },
    { references: 'https://a.example/1' },
  ]),
])('DefectDojo gets fields for %s', async (_name, changes, expected) => {
  const { findings } = JSON.parse(await textOf(writeFindings('defectdojo', pagesOf([record(changes)])))) as {
    findings: Readonly<Record<string, unknown>>[]
  }
  expect(findings[0]).toMatchObject(expected)
  expect(Object.hasOwn(findings[0] ?? {}, 'component_name')).toBe(Object.hasOwn(expected, 'component_name'))
})
