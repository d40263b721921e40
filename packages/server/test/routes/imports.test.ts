import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openReport } from '@scanfarm/findings'
import { testServer } from '../_server.ts'

const REPORTS = join(import.meta.dirname, '../../../findings/test/reports')

const server = forAllTests(testServer)

interface Counts {
  readonly new: number
  readonly known: number
  readonly merged: number
  readonly errors?: number
}
interface Answer {
  readonly vulnerabilities: Counts
  readonly assets: Counts
}

/** The results, with errors, and the assets of a report; it is refused if it only has errors of the whole scan. */
const contentOf = async (path: string) => {
  const { batches } = await openReport(undefined, createReadStream(path))
  const all = await Array.fromAsync(batches)
  const sum = (of: (batch: (typeof all)[number]) => number) => all.reduce((total, one) => total + of(one), 0)
  return {
    results: sum(({ vulnerabilities, errors }) => vulnerabilities.length + errors),
    assets: sum(({ assets }) => assets.length),
    isRefused:
      sum(({ errors, failures }) => errors - failures) > 0 &&
      sum(({ vulnerabilities, assets }) => vulnerabilities.length + assets.length) === 0,
  }
}

const total = (counts: Counts): number => counts.new + counts.known + counts.merged + (counts.errors ?? 0)
const saved = ({ vulnerabilities: a, assets: b }: Answer) => [a, b].map((one) => [one.new, one.known])

test.each(readdirSync(REPORTS))(
  'The counts of an import of %s add up to its results, and a second import knows all of them',
  async (name) => {
    const path = join(REPORTS, name)
    const content = await contentOf(path)
    const send = async (status: number) => {
      const { body } = await server.operator
        .post(`/api/vulnerabilities/import?workspace=${name}`)
        .set('Content-Type', 'application/octet-stream')
        .send(readFileSync(path))
        .expect(status)
      return body as Answer
    }
    if (content.isRefused) {
      await send(400)
      return
    }
    const first = await send(200)
    expect(total(first.vulnerabilities)).toBe(content.results)
    expect(total(first.assets)).toBe(content.assets)
    expect([first.vulnerabilities.known, first.assets.known]).toEqual([0, 0])

    const second = await send(200)
    expect(saved(second)).toEqual(saved(first).map(([created]) => [0, created]))
    expect([total(second.vulnerabilities), total(second.assets)]).toEqual([content.results, content.assets])
  },
)

const atPath = (path: string) => ({
  RuleID: 'key',
  File: path,
  StartLine: 1,
  Match: `key of ${path.split('/').at(-1)}`,
})
const gitleaks = (paths: readonly string[]) => paths.map(atPath)
const sarif = (paths: readonly string[]) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'Demo' } },
      results: paths.map((uri) => ({
        ruleId: 'r',
        locations: [
          { physicalLocation: { artifactLocation: { uri: `file://${uri}` }, region: { startLine: 1 } } },
        ],
      })),
    },
  ],
})
const gosec = (paths: readonly string[]) => ({
  'Golang errors': {},
  Issues: paths.map((file) => ({
    rule_id: 'G1',
    details: 'Demo',
    severity: 'LOW',
    file,
    line: '1',
    code: '1: x',
  })),
})
const osvScanner = (paths: readonly string[]) => ({
  results: paths.map((path) => ({
    source: { path, type: 'lockfile' },
    packages: [
      { package: { name: '@a/b', version: '1.0.0' }, vulnerabilities: [{ id: 'GHSA-1' }], groups: [] },
    ],
  })),
})

test.each([
  ['gitleaks', gitleaks, ':1'],
  ['sarif', sarif, ':1'],
  ['gosec', gosec, ':1'],
  ['osv-scanner', osvScanner, ':@a/b@1.0.0'],
] as const)(
  'Findings of %s at absolute paths stay the same when the files have another folder in common',
  async (format, report, end) => {
    const workspace = `folders-${format}`
    const send = async (...paths: string[]) => {
      const { body } = await server.operator
        .post(`/api/vulnerabilities/import?workspace=${workspace}&format=${format}`)
        .set('Content-Type', 'application/octet-stream')
        .send(Buffer.from(JSON.stringify(report(paths))))
        .expect(200)
      const { vulnerabilities } = body as Answer
      return [vulnerabilities.new, vulnerabilities.known]
    }
    const places = async () => {
      const { body } = await server.viewer.get(`/api/vulnerabilities?workspace=${workspace}`).expect(200)
      return (body as { data: { asset_value: string }[] }).data
        .map(({ asset_value: place }) => place.replace(end, ''))
        .sort()
    }
    expect(await send('/src/shop/app/a', '/src/shop/app/web/b')).toEqual([2, 0])
    expect(await places()).toEqual(['a', 'web/b'])
    // Elsewhere, and in one folder only.
    expect(await send('/src/shop/app/a', '/src/shop/app/web/b', '/src/shop/lib/c')).toEqual([1, 2])
    expect(await send('/src/shop/app/web/b')).toEqual([0, 1])
    expect(await send('/src/shop/app/web/b', '/src/shop/app/web/new/d')).toEqual([1, 1])
    // A checkout in another folder, with files that have nothing in common.
    expect(await send('/builds/8/app/a', '/builds/8/app/web/b', '/other/e')).toEqual([1, 2])
    expect(await send('/src/shop/app/a', '/src/shop/lib/c', '/other/e')).toEqual([0, 3])
    expect(await places()).toEqual(['/other/e', '/src/shop/lib/c', 'a', 'web/b', 'web/new/d'])
  },
)
