import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import type { AssetContent } from '@scanfarm/contracts'
import { assetOf } from '@scanfarm/store/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { refusal, testServer } from '../_server.ts'
import { claimLocalRuns, endRun } from '../_worker.ts'

const server = forAllTests(() => testServer())

const create = async (body: object = {}) =>
  (
    await server.operator
      .post('/api/vulnerabilities')
      .send({ workspace: 'w', ...body })
      .expect(201)
  ).body.data as Record<string, unknown>

describe('POST /vulnerabilities', () => {
  test('POST /vulnerabilities returns the record with its defaults', async () => {
    const { body } = await server.operator
      .post('/api/vulnerabilities')
      .send({ workspace: 'defaults', vuln_title: 'Weak cipher', tags: ['tls'] })
      .expect(201)
    expect(body).toEqual({
      message: 'Vulnerability created successfully',
      data: {
        id: expect.any(Number),
        workspace: 'defaults',
        org_uuid: '00000000-0000-0000-0000-000000000001',
        vuln_info: '',
        vuln_title: 'Weak cipher',
        vuln_desc: '',
        vuln_poc: '',
        severity: 'info',
        confidence: 'Certain',
        asset_type: '',
        asset_value: '',
        tags: ['tls'],
        detail_http_request: '',
        detail_http_response: '',
        raw_vuln_json: '',
        fingerprint: '',
        occurrences: 1,
        finding_hash: '',
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
        scan_severity: 'info',
        cves: [],
        epss: null,
        epss_percentile: null,
        kev: false,
        kev_due: null,
        priority: {
          score: 0,
          why: [
            { factor: 'severity', points: 0, text: 'info' },
            { factor: 'exposure', points: 0, text: 'not on a network' },
          ],
        },
        first_seen: expect.any(String),
        last_seen: expect.any(String),
        last_seen_at: expect.any(String),
        times_seen: 1,
        gone_at: null,
        first_run_uuid: '',
        run_uuid: '',
        source: 'api',
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
    })
  })

  test('POST /vulnerabilities always creates a new record', async () => {
    const body = { vuln_info: 'CVE-1', asset_value: 'https://twice.example' }
    const [one, two] = [await create(body), await create(body)]
    expect(one?.['id']).not.toBe(two?.['id'])
    const { body: found } = await server.viewer
      .get('/api/vulnerabilities?asset_value=twice.example')
      .expect(200)
    expect(found.pagination.total).toBe(2)
  })

  test.each([
    [{}, '/workspace', 'is required'],
    [{ workspace: ' ' }, '/workspace', 'must not be blank'],
    [{ workspace: 'w', severity: 'High' }, '/severity', 'must be one of critical, high, medium, low, info'],
    [
      { workspace: 'w', confidence: 'sure' },
      '/confidence',
      'must be one of Certain, Firm, Tentative, Manual Review Required',
    ],
    [{ workspace: 'w', tags: 'one' }, '/tags', 'must be array'],
    [{ workspace: 'w', raw_vuln_json: '{' }, '/raw_vuln_json', 'must be valid JSON text'],
    [{ workspace: 'w', vuln_name: 'x' }, '/vuln_name', 'is not a known field'],
  ])('the body %j answers 400 with the field', async (body, path, message) => {
    const answer = await server.operator.post('/api/vulnerabilities').send(body).expect(400)
    expect(answer.body).toEqual(refusal('invalid_input', `${path.slice(1)}: ${message}`, [{ path, message }]))
  })
})

describe('GET /vulnerabilities', () => {
  test('filters are combined, and their lists ignore case', async () => {
    const workspace = 'filters'
    await create({
      workspace,
      severity: 'critical',
      confidence: 'Firm',
      asset_value: 'https://One.example/a',
    })
    await create({
      workspace,
      severity: 'low',
      confidence: 'Manual Review Required',
      asset_value: 'one.example',
    })
    await create({ workspace, severity: 'low', asset_value: 'two.example/100%_sure' })
    const total = async (query: string): Promise<number> =>
      (await server.viewer.get(`/api/vulnerabilities?workspace=${workspace}&${query}`).expect(200)).body
        .pagination.total as number
    expect(await total('')).toBe(3)
    expect(await total('severity=critical,LOW')).toBe(3)
    expect(await total('severity=CRITICAL&confidence=firm')).toBe(1)
    expect(await total('confidence=manual%20review%20required, firm')).toBe(2)
    expect(await total('asset_value=one.exam')).toBe(2)
    expect(await total('asset_value=%25_s')).toBe(1)
    expect(await total('asset_value=e_s')).toBe(0)
    expect(await total('asset_value=one.exam&severity=low')).toBe(1)
    expect(await total('state=gone')).toBe(0)
    expect(await total('state=open,gone')).toBe(3)
    const wrong = await server.viewer.get('/api/vulnerabilities?severity=low,urgent').expect(400)
    expect(wrong.body.details).toEqual([
      { path: '/severity', message: 'must be one of critical, high, medium, low, info' },
    ])
    await server.viewer.get('/api/vulnerabilities?limit=0').expect(400)
    await server.viewer.get('/api/vulnerabilities?colour=red').expect(400)
    const clamped = await server.viewer.get('/api/vulnerabilities?limit=999999').expect(200)
    expect(clamped.body.pagination.limit).toBe(10_000)
  })

  test('findings are searched by text and tag, and by when they were found', async () => {
    const workspace = 'search'
    const old = Math.floor(Date.now() / 1000) - 10
    await create({ workspace, vuln_title: 'Open 100% redirect', tags: ['triaged', 'web'] })
    await create({ workspace, vuln_info: 'CVE-2026-1', asset_value: 'https://redirect.example' })
    const total = async (query: string): Promise<number> =>
      (await server.viewer.get(`/api/vulnerabilities?workspace=${workspace}&${query}`).expect(200)).body
        .pagination.total as number
    expect(await total('search=REDIRECT')).toBe(2)
    expect(await total('search=100%25%20r')).toBe(1)
    expect(await total('search=cve-2026&asset_value=redirect')).toBe(1)
    expect(await total('asset_value=CVE')).toBe(0)
    expect(await total('tag=triaged')).toBe(1)
    expect(await total('tag=triage')).toBe(0)
    expect(await total(`new_since=${old}`)).toBe(2)
    expect(await total('new_since=2999-01-01T00:00:00Z')).toBe(0)
    const wrong = await server.viewer.get('/api/vulnerabilities?new_since=yesterday').expect(400)
    expect(wrong.body.details).toMatchObject([{ path: '/new_since' }])
  })

  test('findings are listed that were found since the end of a job', async () => {
    const workspace = 'since'
    await create({ workspace, vuln_info: 'CVE-2026-2' })
    const { body } = await server.operator
      .post('/api/runs')
      .send({ module: 'probe', target: 'since.test' })
      .expect(202)
    const since = (job: string, status = 200) =>
      server.viewer.get(`/api/vulnerabilities?workspace=${workspace}&new_since=${job}`).expect(status)
    const job = String(body.job_id)
    expect((await since(job, 400)).body.message).toContain(`job ${job} has not ended`)
    for (const run of await claimLocalRuns(server.runStore)) await endRun(server.runStore, run)
    expect((await since(job)).body.data).toEqual([])
    await create({ workspace, vuln_info: 'CVE-2026-3' })
    expect((await since(job)).body.data).toMatchObject([{ vuln_info: 'CVE-2026-3' }])
    await server.store.jobs.settle(0, 100)
    expect((await since(job)).body.data).toMatchObject([{ vuln_info: 'CVE-2026-3' }])
    const unknown = await since('0123456789abcdef', 400)
    expect(unknown.body.message).toContain('there is no job 0123456789abcdef')
  })

  test('a workspace is found by its exact name, including commas and blanks', async () => {
    await create({ workspace: 'one, two ' })
    await create({ workspace: 'one' })
    const total = async (workspace: string): Promise<number> =>
      (await server.viewer.get('/api/vulnerabilities').query({ workspace }).expect(200)).body.pagination
        .total as number
    expect(await total('one, two ')).toBe(2)
    expect(await total('one')).toBe(1)
    expect(await total('on')).toBe(0)
  })

  test('pages are sorted newest first, by offset and by cursor', async () => {
    for (const n of [1, 2, 3]) await create({ workspace: 'pages', vuln_title: `t${n}` })
    const titles = (body: { data: { vuln_title: string }[] }) => body.data.map(({ vuln_title }) => vuln_title)
    const first = await server.viewer.get('/api/vulnerabilities?workspace=pages&limit=2').expect(200)
    expect(titles(first.body)).toEqual(['t3', 't2'])
    const cursor = encodeURIComponent(first.body.pagination.next_cursor as string)
    const rest = await server.viewer.get(`/api/vulnerabilities?workspace=pages&cursor=${cursor}`).expect(200)
    expect(titles(rest.body)).toEqual(['t1'])
    const byOffset = await server.viewer.get('/api/vulnerabilities?workspace=pages&offset=2').expect(200)
    expect(titles(byOffset.body)).toEqual(['t1'])
  })
})

describe('the order of lists', () => {
  interface Listed {
    readonly data: readonly { readonly vuln_title: string; readonly asset_value: string }[]
    readonly pagination: { readonly next_cursor?: string }
  }
  const list = async (path: string): Promise<Listed> =>
    (await server.viewer.get(`/api/${path}`).expect(200)).body as Listed

  /** All pages of two. */
  const pages = async (path: string): Promise<Listed['data'][number][]> => {
    const found: Listed['data'][number][] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const { data, pagination } = await list(
        `${path}&limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      found.push(...data)
      cursor = pagination.next_cursor
    }
    return found
  }

  test('findings are sorted by severity and other columns, equal ones newest first, page by page', async () => {
    const workspace = 'sorted'
    for (const [vuln_title, severity, asset_value] of [
      ['b', 'low', 'https://z.example'],
      ['Ö', 'critical', 'https://y.example'],
      ['a', 'info', 'https://x.example'],
      ['c', 'critical', 'https://w.example'],
      ['B', 'low', 'https://v.example'],
    ])
      await create({ workspace, vuln_title, severity, asset_value })
    const titles = async (sort: string) =>
      (await pages(`vulnerabilities?workspace=${workspace}&sort=${sort}`)).map(({ vuln_title }) => vuln_title)
    expect(await titles('severity')).toEqual(['c', 'Ö', 'B', 'b', 'a'])
    expect(await titles('-severity')).toEqual(['a', 'b', 'B', 'Ö', 'c'])
    expect((await titles('title')).filter((title) => title !== 'Ö')).toEqual(['a', 'B', 'b', 'c'])
    expect(await titles('asset')).toEqual(['B', 'c', 'a', 'Ö', 'b'])
    expect(await titles('-last_seen')).toEqual(['B', 'c', 'a', 'Ö', 'b'])
    expect(await titles('workspace')).toHaveLength(5)
    const { pagination } = await list(`vulnerabilities?workspace=${workspace}&sort=severity&limit=2`)
    const cursor = encodeURIComponent(pagination.next_cursor ?? '')
    await server.viewer.get(`/api/vulnerabilities?sort=title&cursor=${cursor}`).expect(400)
    await server.viewer.get(`/api/vulnerabilities?cursor=${cursor}`).expect(400)
    await server.viewer.get('/api/vulnerabilities?sort=colour').expect(400)
  })

  test('findings are grouped by check and by host, the worst group first, and a group is a filter', async () => {
    const workspace = 'grouped'
    for (const [vuln_info, severity, asset_value, asset_type] of [
      ['weak', 'low', 'https://one.example/a', 'web'],
      ['weak', 'medium', 'One.example:8443', 'port'],
      ['weak', 'low', 'two.example', 'port'],
      ['bad', 'critical', 'user@[2001:DB8::1]:22', 'port'],
      ['', 'info', 'src/one.example', 'file'],
    ])
      await create({
        workspace,
        vuln_info,
        vuln_title: `title of ${vuln_info || 'none'}`,
        severity,
        asset_value,
        asset_type,
      })
    const groups = async (by: string) =>
      (await server.viewer.get(`/api/vulnerabilities/groups?workspace=${workspace}&by=${by}`).expect(200))
        .body.data as object
    expect(await groups('check')).toEqual({
      counted: 5,
      complete: true,
      total: 3,
      groups: [
        { value: 'bad', title: 'title of bad', severity: 'critical', count: 1, checks: 1, hosts: 1 },
        { value: 'weak', title: 'title of weak', severity: 'medium', count: 3, checks: 1, hosts: 2 },
        { value: 'title of none', title: 'title of none', severity: 'info', count: 1, checks: 1, hosts: 1 },
      ],
    })
    expect(await groups('host')).toMatchObject({
      total: 4,
      groups: [
        { value: '2001:db8::1', severity: 'critical', count: 1 },
        { value: 'one.example', severity: 'medium', count: 2 },
        { value: 'two.example', severity: 'low', count: 1 },
        { value: '', severity: 'info', count: 1 },
      ],
    })
    const sorted = async (by: string, sort: string) =>
      ((await groups(`${by}&sort=${sort}`)) as { groups: { value: string }[] }).groups.map(
        ({ value }) => value,
      )
    expect(await sorted('check', '-count')).toEqual(['weak', 'bad', 'title of none'])
    expect(await sorted('check', '-severity')).toEqual(['title of none', 'weak', 'bad'])
    expect(await sorted('check', '-name')).toEqual(['weak', 'title of none', 'bad'])
    expect(await sorted('host', 'value')).toEqual(['', '2001:db8::1', 'one.example', 'two.example'])
    expect(await sorted('host', '-hosts')).toHaveLength(4)
    const places = async (filter: string) =>
      (await list(`vulnerabilities?workspace=${workspace}&${filter}`)).data.map((row) => row.asset_value)
    expect(await places('host=ONE.example')).toEqual(['One.example:8443', 'https://one.example/a'])
    expect(await places('host=2001:db8::1')).toEqual(['user@[2001:DB8::1]:22'])
    expect(await places('check=weak&host=two.example')).toEqual(['two.example'])
    expect(await places('check=wea')).toEqual([])
    expect(await places('check=title of none')).toEqual(['src/one.example'])
    await server.viewer.get('/api/vulnerabilities/groups').expect(400)
  })

  test('a host has its ports, technologies, findings and runs', async () => {
    const workspace = 'one-host'
    const asset = (fields: Partial<AssetContent>): AssetContent =>
      assetOf({ asset_type: 'ip', asset_value: '', ...fields })
    await server.store.assets.import(workspace, 'nmap', [
      asset({
        asset_type: 'ip',
        asset_value: '10.9.8.7',
        host_ip: '10.9.8.7',
        open_ports: ['22/tcp', '443/tcp'],
      }),
      asset({
        asset_type: 'port',
        asset_value: '10.9.8.7:22',
        host_ip: '10.9.8.7',
        open_ports: ['22/tcp'],
        title: 'ssh OpenSSH',
      }),
      asset({
        asset_type: 'http',
        asset_value: 'www.host.example',
        url: 'https://www.host.example/',
        host_ip: '10.9.8.7',
        technologies: ['nginx:1.22'],
      }),
      asset({ asset_type: 'ip', asset_value: '10.9.8.77', host_ip: '10.9.8.77', open_ports: ['1/tcp'] }),
    ])
    await create({ workspace, severity: 'high', asset_value: '10.9.8.7:22', asset_type: 'port' })
    await create({ workspace, severity: 'high', asset_value: '10.9.8.77:22', asset_type: 'port' })
    const read = async (host: string) =>
      (await server.viewer.get(`/api/hosts/${encodeURIComponent(host)}`).expect(200)).body.data as object
    expect(await read('10.9.8.7')).toMatchObject({
      host: '10.9.8.7',
      names: ['www.host.example'],
      addresses: ['10.9.8.7'],
      workspaces: [workspace],
      technologies: ['nginx:1.22'],
      assets: 3,
      ports: [
        { port: '22/tcp', service: 'ssh OpenSSH', state: 'open' },
        { port: '443/tcp', service: '' },
      ],
      findings: { high: 1 },
      runs: [],
    })
    expect(await read('WWW.host.example')).toMatchObject({ addresses: ['10.9.8.7'], assets: 1, findings: {} })
    const sorted = await pages(`assets?host=10.9.8.7&sort=-asset`)
    expect(sorted.map((row) => row.asset_value)).toEqual(['www.host.example', '10.9.8.7:22', '10.9.8.7'])
    await server.operator.post('/api/runs').send({ module: 'probe', target: '10.9.8.7' }).expect(202)
    for (const run of await claimLocalRuns(server.runStore)) await endRun(server.runStore, run)
    expect(await read('10.9.8.7')).toMatchObject({ runs: [{ target: '10.9.8.7', status: 'completed' }] })
    const { body: inOne } = await server.viewer.get(`/api/hosts/10.9.8.7?workspace=${workspace}`).expect(200)
    expect(inOne.data.runs).toEqual([])
    const { body } = await server.viewer.get('/api/hosts/10.9.8.70').expect(404)
    expect(body.message).toContain('no asset and no finding is at host "10.9.8.70"')
  })
})

describe('GET /vulnerabilities/summary', () => {
  test('the summary always has all five severities', async () => {
    await create({ workspace: 'sum', severity: 'high' })
    await create({ workspace: 'sum' })
    expect((await server.viewer.get('/api/vulnerabilities/summary?workspace=sum').expect(200)).body).toEqual({
      data: {
        by_severity: { critical: 0, high: 1, medium: 0, low: 0, info: 1 },
        total: 2,
        workspace: 'sum',
      },
    })
    const { body } = await server.viewer.get('/api/vulnerabilities/summary?workspace=none').expect(200)
    expect(body.data).toEqual({
      by_severity: { critical: 0, high: 0, medium: 0, low: 0, info: 0 },
      total: 0,
      workspace: 'none',
    })
    expect((await server.viewer.get('/api/vulnerabilities/summary').expect(200)).body.data.workspace).toBe('')
  })

  test('the summary counts open records, and gone ones on request', async () => {
    await create({ workspace: 'fixed', severity: 'high' })
    await create({ workspace: 'fixed', severity: 'high', vuln_title: 'mended' })
    await server.database.sql(
      "update vulnerabilities set state = 'gone', gone_at = now() where vuln_title = 'mended'",
    )
    const total = async (state: string): Promise<unknown> =>
      (await server.viewer.get(`/api/vulnerabilities/summary?workspace=fixed${state}`).expect(200)).body.data
        .total
    expect([await total(''), await total('&state=gone'), await total('&state=open,gone')]).toEqual([1, 1, 2])
  })
})

describe('single vulnerabilities', () => {
  test('a vulnerability is read and deleted by its id, then answers 404', async () => {
    const { id } = await create({ vuln_title: 'short life' })
    const path = `/api/vulnerabilities/${String(id)}`
    expect((await server.viewer.get(path).expect(200)).body.data).toMatchObject({
      id,
      vuln_title: 'short life',
    })
    await server.viewer.delete(path).expect(403)
    expect((await server.operator.delete(path).expect(200)).body).toEqual({
      message: 'Vulnerability deleted successfully',
      id,
    })
    await server.viewer.get(path).expect(404)
    await server.operator.delete(path).expect(404)
  })

  test.each(['0', '-1', 'abc', '999999999999', '99999999999999999999'])(
    'the id %s answers 404',
    async (id) => {
      const answer = await server.viewer.get(`/api/vulnerabilities/${id}`).expect(404)
      expect(answer.body).toEqual(refusal('not_found', `there is no vulnerability "${id}"`))
    },
  )
})

describe('assets', () => {
  test('assets have the columns and filters of existing dashboards', async () => {
    const workspace = 'columns'
    const bare = {
      asset_type: 'http',
      host_ip: '192.0.2.7',
      scheme: 'https',
      status_code: 200,
      title: '',
      content_type: 'text/html; charset=utf-8',
      technologies: ['nginx', 'PHP'],
      open_ports: [],
      dns_records: [],
      remarks: ['login'],
    }
    const raw = {
      input: 'one.example',
      method: 'GET',
      content_length: 1256,
      words: 90,
      lines: 12,
      time: '20ms',
      tls: { tls_version: 'tls13' },
    }
    await server.store.assets.import(workspace, 'httpx', [
      {
        ...bare,
        asset_value: 'one',
        url: 'https://one.example:8443/a/b?c',
        raw_json_data: JSON.stringify(raw),
      },
      { ...bare, asset_value: 'two', url: '', technologies: [], remarks: [], raw_json_data: 'no { json' },
    ])
    const list = async (query: string) =>
      (await server.viewer.get(`/api/assets?workspace=${workspace}&${query}`).expect(200)).body.data as {
        asset_value: string
      }[]
    const names = async (query: string) => (await list(query)).map(({ asset_value }) => asset_value).sort()
    expect((await list('search=one'))[0]).toMatchObject({
      tech: ['nginx', 'PHP'],
      input: 'one.example',
      method: 'GET',
      path: '/a/b',
      content_length: 1256,
      words: 90,
      lines: 12,
      tls: 'tls13',
      time: '20ms',
    })
    expect((await list('search=two'))[0]).toMatchObject({
      tech: [],
      content_length: 0,
      tls: '',
      path: '',
      method: '',
    })
    for (const query of [
      'tech=PHP,java',
      'remarks=login,x',
      'location=ONE.example',
      'tls=tls13',
      'min_content_length=1000',
      'min_content_length=1&max_content_length=2000',
    ])
      expect(await names(query)).toEqual(['one'])
    expect(await names('max_content_length=1000')).toEqual(['two'])
    expect(await names('content_type=HTML,json&asset_type=HTTP,x&source=httpx,y')).toEqual(['one', 'two'])
    expect(await names('content_type=image')).toEqual([])
    await server.viewer.get('/api/assets?min_content_length=-1').expect(400)
  })

  test('assets are listed, filtered, read and summarised', async () => {
    await server.store.assets.import('estate', 'httpx', [
      assetOf({
        url: 'https://a.example',
        host_ip: '192.0.2.1',
        scheme: 'https',
        status_code: 200,
        title: 'Shop',
        content_type: 'text/html',
        technologies: ['nginx'],
      }),
    ])
    const { body } = await server.viewer
      .get('/api/assets?workspace=estate&search=SHOP&status_code=200,301&asset_type=http&technology=nginx')
      .expect(200)
    expect(body.data).toMatchObject([{ asset_value: 'a.example', state: 'open', times_seen: 1 }])
    expect(body.pagination).toEqual({ total: 1, offset: 0, limit: 20 })
    const { id } = body.data[0] as { id: number }
    expect((await server.viewer.get(`/api/assets/${id}`).expect(200)).body.data).toEqual({
      ...body.data[0],
      runs: [],
    })
    expect((await server.viewer.get('/api/assets?workspace=estate&new_since=0').expect(200)).body).toEqual(
      body,
    )
    const facets = await server.viewer.get('/api/assets/facets?workspace=estate&search=SHOP').expect(200)
    expect(facets.body.data).toMatchObject({
      counted: 1,
      complete: true,
      state: [{ value: 'open', count: 1 }],
      status_code: [{ value: '200', count: 1 }],
      technology: [{ value: 'nginx', count: 1 }],
      port: [],
    })
    await server.viewer.get('/api/assets/facets?limit=1').expect(400)
    await server.viewer.get('/api/assets/0').expect(404)
    await server.viewer.get('/api/assets?status_code=ok').expect(400)
    expect((await server.viewer.get('/api/asset-stats?workspace=estate').expect(200)).body.data).toEqual({
      technologies: ['nginx'],
      sources: ['httpx'],
      remarks: [],
      asset_types: ['http'],
    })
  })
})

describe('import and export', () => {
  const nuclei = (n: number) =>
    JSON.stringify({
      'template-id': `t-${n}`,
      info: { name: `Finding ${n}`, severity: 'high' },
      'matched-at': `https://a.example/${n}`,
    })
  const send = (query: string, body: string, type = 'application/octet-stream') =>
    server.operator.post(`/api/vulnerabilities/import?${query}`).set('Content-Type', type).send(body)

  test('importing the same file twice creates its records once', async () => {
    const file = Array.from({ length: 700 }, (_, n) => nuclei(n)).join('\n')
    const first = await send('workspace=import&format=nuclei', `${file}\nnonsense`).expect(200)
    expect(first.body).toEqual({
      message: 'Findings imported',
      workspace: 'import',
      format: 'nuclei',
      vulnerabilities: { new: 700, updated: 0, unchanged: 0, known: 0, merged: 0, errors: 1 },
      assets: { new: 0, updated: 0, unchanged: 0, known: 0, merged: 0 },
      problems: [{ reason: expect.any(String), line: 701 }],
    })
    const again = await send('workspace=import&format=nuclei', file, 'application/json').expect(200)
    expect(again.body.vulnerabilities).toMatchObject({
      new: 0,
      updated: 0,
      unchanged: 700,
      known: 700,
      errors: 0,
    })
    const form = await server.operator
      .post('/api/vulnerabilities/import?workspace=import&format=nuclei')
      .attach('file', Buffer.from(nuclei(0)), 'x.jsonl')
      .expect(200)
    expect(form.body.vulnerabilities.unchanged).toBe(1)
  })

  test('an empty file is the report of a scan that found nothing', async () => {
    const { body } = await send('workspace=empty', '').expect(200)
    expect(body.vulnerabilities).toMatchObject({ new: 0, errors: 0 })
  })

  test.each([
    ['workspace=w&format=nuclei', 'nonsense', 'the findings cannot be read: it is not valid JSON: line 1'],
    ['workspace=w&format=sarif', '{}', 'the findings cannot be read: it is not SARIF 2.1.0'],
    ['workspace=w&format=nmap', 'x', 'the findings cannot be read: '],
    [
      'workspace=w',
      'x',
      'its format is not recognised; name it if it is one of sarif (2.1.0), nuclei (-jsonl), nmap (-oX)',
    ],
    [
      'workspace=w&format=testssl',
      '[{"id":"scanProblem","severity":"FATAL","finding":"x"}]',
      'or the scan that it reports failed',
    ],
    ['workspace=%20&format=nuclei', 'x', 'workspace: must match pattern'],
    ['workspace=w&format=pdf', 'x', 'format: must be one of sarif, nuclei, nmap, jsonl'],
  ])('an import with %s and the body %j answers 400', async (query, body, message) => {
    const answer = await send(query, body).expect(400)
    expect(answer.body.message).toContain(message)
  })

  test('an import without a format recognises it, and saves the assets of a report', async () => {
    const report = [
      { target: 'http://a.example/', http_status: 200, plugins: { nginx: { version: ['1.22.1'] } } },
      { target: 'http://b.example/', http_status: 404, plugins: {} },
    ]
    const answer = await send('workspace=guessed', JSON.stringify(report)).expect(200)
    expect(answer.body).toMatchObject({ format: 'whatweb', assets: { new: 2 } })
    const assets = await server.viewer.get(
      '/api/assets?workspace=guessed&source=whatweb&technology=nginx:1.22.1',
    )
    expect(assets.body.data).toMatchObject([{ url: 'http://a.example', status_code: 200 }])
  })

  test('at most four imports run at the same time', async () => {
    const query = 'workspace=many&format=nuclei'
    const begun = Array.from({ length: 4 }, () => {
      const one = httpRequest(`${server.url}/api/vulnerabilities/import?${query}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${server.tokens.operator}` },
      })
      one.write(nuclei(1))
      return { one, answer: once(one, 'response') }
    })
    const statusIs = async (wanted: number) => {
      for (;;) {
        const answer = await send(query, nuclei(2))
        if (answer.status === wanted) return answer
      }
    }
    const refused = await statusIs(503)
    expect(refused.body).toMatchObject({ code: 'unavailable' })
    expect(refused.headers).toMatchObject({ 'retry-after': '5' })
    for (const { one, answer } of begun) {
      one.end()
      const [{ statusCode }] = (await answer) as [IncomingMessage]
      expect(statusCode).toBe(200)
    }
    await statusIs(200)
  })

  test('an export contains all matching records in pages, newest first', async () => {
    const file = Array.from({ length: 250 }, (_, n) => nuclei(n)).join('\n')
    await send('workspace=out&format=nuclei', file).expect(200)
    const jsonl = await server.viewer
      .get('/api/vulnerabilities/export?format=jsonl&workspace=out&severity=HIGH')
      .buffer(true)
      .parse((response, done) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => done(null, text))
      })
      .expect(200)
      .expect('Content-Type', 'application/x-ndjson')
      .expect('Content-Disposition', /filename="vulnerabilities.jsonl"/)
    const lines = (jsonl.body as string).trimEnd().split('\n')
    expect(lines).toHaveLength(250)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ workspace: 'out', vuln_info: expect.any(String) })
    const back = await send('workspace=back&format=jsonl', jsonl.body as string).expect(200)
    expect(back.body.vulnerabilities).toMatchObject({ new: 250, errors: 0 })
    const dojo = await server.viewer
      .get('/api/vulnerabilities/export?format=defectdojo&workspace=out')
      .expect(200)
    expect((dojo.body as { findings: unknown[] }).findings).toHaveLength(250)
    await server.viewer.get('/api/vulnerabilities/export').expect(400)
  })

  test('OpenVEX without a statement answers 400, and says what to do', async () => {
    const add = (vuln_info: string) =>
      server.operator
        .post('/api/vulnerabilities')
        .send({ workspace: 'vex', vuln_info, vuln_title: 'one', asset_value: 'a.example' })
        .expect(201)
    const path = '/api/vulnerabilities/export?format=openvex&workspace=vex'
    await add('exposed-panel')
    const { body } = await server.viewer.get(path).expect(400)
    expect(body).toMatchObject({
      code: 'bad_request',
      message: 'no finding that matches names a CVE or an advisory',
      details: [{ path: '/format', message: expect.stringContaining('choose other filters') }],
    })
    await add('CVE-2021-44228')
    const document = await server.viewer.get(path).expect(200)
    expect(document.body.statements).toMatchObject([{ vulnerability: { name: 'CVE-2021-44228' } }])
  })
})
