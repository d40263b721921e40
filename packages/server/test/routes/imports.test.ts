import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openReport } from '@scanfarm/findings'
import { testServer, type TestServer } from '../_server.ts'

const REPORTS = join(import.meta.dirname, '../../../findings/test/reports')

let server: TestServer
beforeAll(async () => {
  server = await testServer()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

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
