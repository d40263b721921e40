import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import type { FindingContent, Vulnerability } from '@scanfarm/contracts'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { readFindings, writeFindings } from '../src/index.ts'
import { bytesOf, pagesOf, textOf, ZOO } from './records.ts'

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
    verified: true,
    vuln_id_from_tool: 'CVE-2026-1234',
    unique_id_from_tool: 'ab'.repeat(32),
    cve: 'CVE-2026-1234',
    endpoints: ['https://a.example/login?a=1'],
    component_name: 'https://a.example/login?a=1',
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
