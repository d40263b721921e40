import { describe, expect, test } from '@jest/globals'
import type { FindingContent } from '@scanfarm/contracts'
import { testServer } from '../_server.ts'
import { scanOf } from '../_worker.ts'
import { findingOf } from '@scanfarm/store/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'

const server = forAllTests(() => testServer())

const finding = (vuln_info: string, severity: FindingContent['severity']): FindingContent =>
  findingOf({ vuln_info, vuln_title: vuln_info, severity, asset_value: 'https://a.example' })

const scan = (items: FindingContent[]) => scanOf(server, 'diffs', items)

describe('comparisons', () => {
  test('a comparison lists new, gone and changed records of two runs, or of a workspace over time', async () => {
    const a = await scan([finding('stays', 'low'), finding('goes', 'low')])
    const b = await scan([finding('stays', 'high'), finding('comes', 'low')])
    const { body } = await server.viewer.get(`/api/runs/${a}/diff/${b}`).expect(200)
    expect(body.data).toMatchObject({
      from: { run_uuid: a, target: 'a.example', status: 'completed' },
      to: { run_uuid: b },
      vulnerabilities: {
        new: [{ id: expect.any(Number), before: null, after: { vuln_info: 'comes' } }],
        gone: [{ before: { vuln_info: 'goes' }, after: null }],
        changed: [{ before: { severity: 'low' }, after: { severity: 'high' } }],
        total_new: 1,
        total_gone: 1,
        total_changed: 1,
      },
      assets: { new: [], total_new: 0 },
    })
    const gone = await server.viewer.get('/api/vulnerabilities?workspace=diffs&state=gone').expect(200)
    expect(gone.body.data).toMatchObject([{ vuln_info: 'goes', state: 'gone', run_uuid: a }])
    const byTime = await server.viewer.get('/api/vulnerabilities/diff?workspace=diffs&from=0').expect(200)
    expect(byTime.body.data).toMatchObject({ workspace: 'diffs', total_new: 2, total_gone: 1 })
    const rest = await server.viewer.get(`/api/runs/${a}/diff/${b}?change=new&after=${2 ** 40}`).expect(200)
    expect(rest.body.data.vulnerabilities).toMatchObject({ new: [], gone: [], total_new: 1, total_gone: 1 })
    const page = async (after: number): Promise<{ new: { id: number }[] }> => {
      const path = `/api/vulnerabilities/diff?workspace=diffs&from=0&change=new&limit=1&after=${after}`
      const { body } = await server.viewer.get(path).expect(200)
      return body.data as { new: { id: number }[] }
    }
    const first = await page(0)
    expect(first).toMatchObject({ new: [{}], gone: [], total_new: 2, total_gone: 1 })
    const second = await page(first.new[0]?.id ?? 0)
    expect(second).toMatchObject({ new: [{}], total_new: 2 })
    expect(await page(second.new[0]?.id ?? 0)).toMatchObject({ new: [], total_new: 2 })
    const assets = await server.viewer.get('/api/assets/diff?workspace=diffs&from=2026-01-01').expect(200)
    expect(assets.body.data).toMatchObject({ total_new: 0, from: '2026-01-01T00:00:00.000Z' })
  })

  test.each([
    '/api/vulnerabilities/diff?from=0',
    '/api/vulnerabilities/diff?workspace=w',
    '/api/vulnerabilities/diff?workspace=w&from=yesterday',
    '/api/assets/diff?workspace=w&from=2026-02-01&to=2026-01-01',
    '/api/assets/diff?workspace=w&from=0&limit=0',
  ])('a comparison with %s answers 400', async (path) => {
    await server.viewer.get(path).expect(400)
  })

  test('a comparison of unknown runs answers 404', async () => {
    const a = await scan([])
    await server.viewer.get(`/api/runs/${a}/diff/999999`).expect(404)
    await server.viewer.get(`/api/runs/x/diff/${a}`).expect(404)
  })
})
