import type { Vulnerability } from '@scanfarm/contracts'

export const record = (changes: Partial<Vulnerability> = {}): Vulnerability => ({
  id: 1,
  workspace: 'w',
  org_uuid: '00000000-0000-0000-0000-000000000001',
  vuln_info: 'CVE-2026-1234',
  vuln_title: 'Old library',
  vuln_desc: 'It is old.',
  vuln_poc: 'curl https://a.example',
  severity: 'critical',
  confidence: 'Certain',
  asset_type: 'web',
  asset_value: 'https://a.example/login?a=1',
  tags: ['cve', 'web'],
  detail_http_request: '',
  detail_http_response: '',
  raw_vuln_json: '',
  fingerprint: '',
  occurrences: 1,
  finding_hash: 'ab'.repeat(32),
  state: 'open',
  seen: 'open',
  seen_reason: '',
  verdict: 'none',
  reason: '',
  until: null,
  decided_by: '',
  decided_at: null,
  back_at: null,
  assignee: '',
  ticket: '',
  scan_severity: 'critical',
  cves: ['CVE-2026-1234'],
  epss: null,
  epss_percentile: null,
  kev: false,
  kev_due: null,
  priority: { score: 50, why: [] },
  first_seen: '2026-01-31T12:00:00.000Z',
  last_seen: '2026-02-01T12:00:00.000Z',
  last_seen_at: '2026-02-01T12:00:00.000Z',
  times_seen: 2,
  gone_at: null,
  first_run_uuid: '',
  run_uuid: '',
  source: 'nuclei',
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
  ...changes,
})

/** What occurs on the way, hostile ones among them. */
export const ZOO: readonly Vulnerability[] = [
  record(),
  record({ id: 2, severity: 'info', asset_type: 'network', asset_value: 'a.example:443', finding_hash: '' }),
  record({
    id: 3,
    severity: 'low',
    asset_type: 'file',
    asset_value: 'src/a b.ts:12',
    fingerprint: 'eval(x)',
    occurrences: 3,
  }),
  record({
    id: 4,
    severity: 'medium',
    asset_value: '',
    vuln_info: '',
    state: 'gone',
    gone_at: '2026-02-02T00:00:00.000Z',
  }),
  record({
    id: 5,
    severity: 'high',
    asset_value: 'https://[::1]:8443/{{x}}?q=|^ü',
    vuln_title: '=cmd|"/C calc"!A0,\n"x"',
  }),
  record({
    id: 7,
    asset_type: '',
    tags: ['one, with a comma', 'two'],
    detail_http_request: 'GET / HTTP/1.1\r\n\r\n',
    detail_http_response: 'HTTP/1.1 200 OK\r\n\r\n',
    raw_vuln_json: '{"a":1}',
  }),
  record({ id: 6, vuln_info: '', vuln_title: '', asset_type: 'file', asset_value: 'C:\\x\\y' }),
]

export async function* pagesOf(records: readonly Vulnerability[], size = 2): AsyncGenerator<Vulnerability[]> {
  for (let from = 0; from < records.length; from += size) yield records.slice(from, from + size)
}

export const textOf = async (pieces: AsyncIterable<string>): Promise<string> =>
  (await Array.fromAsync(pieces)).join('')

/** Bytes in small pieces, cut anywhere. */
export async function* bytesOf(text: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}
