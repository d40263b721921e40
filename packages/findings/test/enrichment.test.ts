import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { cvssOf } from '../src/index.ts'
import { MAX_ENRICHMENT_BYTES, readEnrichment } from '../src/enrichment.ts'
import { bytesOf } from './records.ts'

const EPSS = `#model_version:v2025.03.14,score_date:2026-11-27T12:55:00Z
cve,epss,percentile
CVE-1999-0001,0.00955,0.77123
CVE-2021-44228,0.94358,0.99958
CVE-2026-10001,4.3e-04,0.1
`
const KEV = {
  title: 'CISA Catalog of Known Exploited Vulnerabilities',
  catalogVersion: '2026.11.27',
  dateReleased: '2026-11-27T15:00:00.0Z',
  count: 2,
  vulnerabilities: [
    { cveID: 'CVE-2021-44228', vendorProject: 'Apache', dateAdded: '2021-12-10', dueDate: '2021-12-24' },
    { cveID: 'CVE-2026-10001', dateAdded: '2026-11-20' },
  ],
}

describe('Files about CVEs', () => {
  test.each([
    ['as text', Buffer.from(EPSS)],
    ['packed, as FIRST publishes them', gzipSync(EPSS)],
    [
      'with the byte order mark and line ends of Windows',
      Buffer.from(`\ufeff${EPSS.replaceAll('\n', '\r\n')}`),
    ],
  ])('The scores of EPSS are read %s', async (_, file) => {
    expect(await readEnrichment(bytesOf(file))).toEqual({
      kind: 'epss',
      version: 'v2025.03.14',
      published: '2026-11-27T12:55:00Z',
      rows: [
        { cve: 'CVE-1999-0001', score: 0.00955, percentile: 0.77123 },
        { cve: 'CVE-2021-44228', score: 0.94358, percentile: 0.99958 },
        { cve: 'CVE-2026-10001', score: 0.00043, percentile: 0.1 },
      ],
    })
  })

  test('The catalog of CISA is read', async () => {
    expect(await readEnrichment(bytesOf(JSON.stringify(KEV, null, 2)))).toEqual({
      kind: 'kev',
      version: '2026.11.27',
      published: '2026-11-27T15:00:00.0Z',
      rows: [
        { cve: 'CVE-2021-44228', added: '2021-12-10', due: '2021-12-24' },
        { cve: 'CVE-2026-10001', added: '2026-11-20', due: null },
      ],
    })
  })

  test.each([
    ['an empty file', '', /neither a CSV file of EPSS .* nor the JSON catalog/],
    ['another CSV file', 'a,b\n1,2\n', /neither/],
    ['another JSON file', '{"matches": []}', /neither/],
    ['only a header', 'cve,epss,percentile\n', /it has no rows/],
    [
      'a score above 1',
      'cve,epss,percentile\nCVE-2026-1000,1.5,0.1\n',
      /row 1 must be a CVE and two numbers/,
    ],
    ['a row that ends early', `${EPSS}CVE-2026-10`, /row 4 must be/],
    [
      'a wrong day',
      JSON.stringify({ vulnerabilities: [{ cveID: 'CVE-2026-1000', dateAdded: 'soon' }] }),
      /entry 1/,
    ],
    ['a packed file that ends early', gzipSync(EPSS).subarray(0, 60), /cannot be unpacked/],
  ])('%s is refused whole', async (_, file, problem) => {
    await expect(readEnrichment(bytesOf(file))).rejects.toThrow(problem)
  })

  test('A packed file that grows beyond the bound is refused while it is read', async () => {
    const packed = gzipSync(Buffer.alloc(MAX_ENRICHMENT_BYTES + 1, `#${' '.repeat(1024 * 1024)}\n`))
    await expect(readEnrichment(bytesOf(packed, 64 * 1024))).rejects.toMatchObject({
      code: 'payload_too_large',
    })
  })
})

describe('Vectors of CVSS', () => {
  test.each([
    ['AV:N/AC:L/Au:N/C:P/I:P/A:P', '2.0', 7.5],
    ['CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', '3.0', 9.8],
    ['CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N/E:P', '3.1', 6.1],
    ['CVSS:3.1/E:P/S:U/C:H/I:H/A:H/PR:N/UI:N/AC:L/AV:N', '3.1', 9.8],
    ['CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', '4.0', 9.3],
  ])('%s has version and base score', (vector, version, score) => {
    expect(cvssOf({ info: { classification: { 'cvss-metrics': vector } } })).toEqual({
      version,
      vector,
      score,
    })
  })

  test('The newest version in a record counts', () => {
    const v3 = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H'
    const v4 = 'CVSS:4.0/AV:L/AC:L/AT:N/PR:L/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N'
    expect(
      cvssOf({ CVSS: { nvd: { V3Vector: v3, V2Vector: '(AV:N/AC:L/Au:N/C:P/I:P/A:P)' } } })?.vector,
    ).toBe(v3)
    expect(cvssOf([{ score: v3 }, { score: v4 }])).toMatchObject({ vector: v4, score: 6.8 })
  })

  test.each([
    '',
    'AV:N',
    'CVSS:3.1/AV:N/AC:L',
    'CVSS:4.0/AC:L/AV:N/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/AV:P',
    'CVSS:3.1/AV:Q/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    'CVSS:9.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H',
    `CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H${'/E:P'.repeat(1_000)}`,
  ])('%s is no vector', (text) => {
    expect(cvssOf({ vector: text })).toBeUndefined()
  })
})
