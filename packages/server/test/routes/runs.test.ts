import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { NO_WORK, type Run, type RunTally } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { refusal, testServer } from '../_server.ts'
import { claimLocalRuns, endRun, stepRecord, type RunOfWorker } from '../_worker.ts'

const server = forAllTests(() => testServer({ master: true }))

const create = async (body: object = {}): Promise<{ job_id: string; run_uuid: string }> =>
  (
    await server.operator
      .post('/api/runs')
      .send({ module: 'probe', target: 'a.example', ...body })
      .expect(202)
  ).body as { job_id: string; run_uuid: string }

/** A run that a worker has claimed. */
const running = async (body: object = {}): Promise<RunOfWorker> => {
  const { run_uuid } = await create({ ...body, priority: 'critical' })
  const claimed = await claimLocalRuns(server.runStore)
  const run = claimed.find(({ runUuid }) => runUuid === run_uuid)
  if (run === undefined) throw new Error('the run was not claimed')
  return run
}

const EVERY_PATH: readonly ['get' | 'post' | 'delete', string][] = [
  ['get', ''],
  ['delete', ''],
  ['get', '/steps'],
  ['get', '/attempts'],
  ['get', '/artifacts'],
  ['post', '/duplicate'],
  ['post', '/start'],
]

describe('run paths', () => {
  test.each(EVERY_PATH)(
    '%s /runs/{id}%s accepts number and uuid, and answers 404 for unknown runs',
    async (method, rest) => {
      const { run_uuid } = await create()
      const { body } = await server.viewer.get(`/api/runs/${run_uuid}`).expect(200)
      const call = (id: string | number) => server.operator[method](`/api/runs/${id}${rest}`)
      for (const id of [body.data.id as number, run_uuid, run_uuid.toUpperCase()])
        expect((await call(id)).status).not.toBe(404)
      for (const id of ['999999999', randomUUID(), 'abc', '0', '-1', '1.5', '99999999999999999999', '1e3']) {
        const response = await call(id).expect(404)
        expect(response.body).toEqual(refusal('not_found', `there is no run "${id}"`))
      }
    },
  )
})

describe('GET /runs 200', () => {
  test('runs are listed newest first with a page object', async () => {
    const uuids = [await create(), await create(), await create()].map(({ run_uuid }) => run_uuid)
    const response = await server.viewer.get('/api/runs?limit=2').expect(200)
    expect(Object.keys(response.body as object)).toEqual(['data', 'pagination'])
    expect((response.body.data as { run_uuid: string }[]).map(({ run_uuid }) => run_uuid)).toEqual(
      uuids.toReversed().slice(0, 2),
    )
    expect(response.body.pagination).toMatchObject({ offset: 0, limit: 2, total: expect.any(Number) })
    const next = await server.viewer.get('/api/runs?limit=1&offset=2').expect(200)
    expect(next.body.data[0].run_uuid).toBe(uuids[0])
    const cursor = encodeURIComponent(response.body.pagination.next_cursor as string)
    const deeper = await server.viewer.get(`/api/runs?limit=1&cursor=${cursor}`).expect(200)
    expect(deeper.body.data[0].run_uuid).toBe(uuids[0])
  })

  test('a run has the fields of the API contract', async () => {
    await create()
    const { body } = await server.viewer.get('/api/runs?limit=1').expect(200)
    expect(body.data[0]).toMatchObject({
      id: expect.any(Number),
      run_uuid: expect.any(String),
      workflow_name: 'probe',
      workflow_kind: 'module',
      target: 'a.example',
      params: {},
      status: 'queued',
      workspace: 'a.example',
      started_at: null,
      completed_at: null,
      total_steps: expect.any(Number),
      completed_steps: 0,
      current_pid: 0,
      trigger_type: 'manual',
      run_group_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updated_at: expect.stringMatching(/Z$/),
    })
  })

  test('runs are filtered by every field', async () => {
    const { job_id } = await create({
      target: 'filter.example',
      workspace: 'filtered',
      flow: 'survey',
      module: undefined,
      priority: 'high',
    })
    const total = async (query: string): Promise<number> =>
      (await server.viewer.get(`/api/runs?${query}`).expect(200)).body.pagination.total as number
    for (const query of [
      'target=filter.example',
      'workspace=filtered',
      `job_id=${job_id}`,
      `run_group_id=${job_id}`,
      'target=filter.example&workflow_name=survey&status=queued&run_mode=local',
      'target=filter.example&workflow=survey&status=pending',
      'priority=high',
      'target=filter.example&status=queued&priority=high',
    ])
      expect(await total(query)).toBe(1)
    for (const query of [
      'target=filter',
      'workflow_name=Survey',
      'target=filter.example&status=completed',
      'run_mode=cloud',
      'priority=critical',
      'target=filter.example&priority=normal',
    ])
      expect(await total(query)).toBe(0)
  })

  test.each(['/api', '/osm/api'])('ended runs are filtered by outcome below %s', async (root) => {
    const targets = ['o-1.example', 'o-2.example', 'o-3.example']
    const { job_id } = await create({ targets, target: undefined, concurrency: 3 })
    const reason = 'module web left out: required command not found: httpx'
    const outcomes: Readonly<Record<string, RunTally>> = {
      'o-1.example': { ...NO_WORK, worked: true },
      'o-2.example': { ...NO_WORK, worked: true, leftOutModules: 1, reasons: [reason] },
    }
    for (const run of await claimLocalRuns(server.runStore))
      await endRun(server.runStore, run, {}, { tally: outcomes[run.target] ?? NO_WORK })
    const list = async (outcome: string): Promise<Run[]> => {
      const { body } = await server.viewer.get(`${root}/runs?outcome=${outcome}&job_id=${job_id}`).expect(200)
      return (body as { data: Run[] }).data
    }
    expect(await list('partial')).toMatchObject([
      {
        target: 'o-2.example',
        outcome: 'partial',
        failed_steps: 0,
        left_out_modules: 1,
        left_out_steps: 0,
        outcome_reasons: [reason],
      },
    ])
    expect((await list('nothing_done,clean')).map(({ target }) => target)).toEqual([
      'o-3.example',
      'o-1.example',
    ])
  })

  test('the list is empty if no run matches', async () => {
    const { body } = await server.viewer.get('/api/runs?target=nobody').expect(200)
    expect(body).toEqual({ data: [], pagination: { total: 0, offset: 0, limit: 20 } })
  })

  test('a limit is lowered to 10000', async () => {
    const { body } = await server.viewer.get('/api/runs?limit=99999999').expect(200)
    expect(body.pagination.limit).toBe(10_000)
  })
})

describe('GET /runs 400', () => {
  test.each([
    ['limit=0', 'limit: must be >= 1', '/limit'],
    ['limit=-1', 'limit: must be >= 1', '/limit'],
    ['limit=x', 'limit: must be integer', '/limit'],
    ['limit=1.5', 'limit: must be integer', '/limit'],
    ['limit=1e3', 'limit: must be integer', '/limit'],
    ['limit=', 'limit: must be integer', '/limit'],
    ['limit=1&limit=2', 'limit: must be integer', '/limit'],
    ['offset=-1', 'offset: must be >= 0', '/offset'],
    ['offset=x', 'offset: must be integer', '/offset'],
    [
      'status=done',
      'status: must be one of pending, queued, running, completed, failed, cancelled',
      '/status',
    ],
    ['outcome=clean,failed', 'outcome: must be one of clean, partial, nothing_done', '/outcome'],
    ['run_mode=far', 'run_mode: must be one of local, distributed, cloud', '/run_mode'],
    ['priority=urgent', 'priority: must be one of low, normal, high, critical', '/priority'],
    ['statsu=failed', 'statsu: is not a known field', '/statsu'],
  ])('the query is refused: %s', async (query, message, path) => {
    const { body } = await server.viewer.get(`/api/runs?${query}`).expect(400)
    expect(body).toEqual(
      refusal('invalid_input', message, [{ path, message: message.slice(path.length + 1) }]),
    )
  })

  test('a made-up cursor is refused', async () => {
    const { body } = await server.viewer.get('/api/runs?cursor=abc').expect(400)
    expect(body).toEqual(
      refusal('bad_request', 'the cursor is invalid', [
        { path: '/cursor', message: 'must be the next_cursor of an earlier response' },
      ]),
    )
  })

  test('two aliases with different values are refused', async () => {
    await server.viewer.get('/api/runs?workflow=probe&workflow_name=probe').expect(200)
    const { body } = await server.viewer.get('/api/runs?workflow=a&workflow_name=b').expect(400)
    expect(body).toEqual(
      refusal('invalid_input', 'workflow: is an alias of workflow_name but has another value', [
        { path: '/workflow', message: 'is an alias of workflow_name: send only one of them' },
      ]),
    )
  })

  test('NUL is refused, because no text can contain it', async () => {
    const { body } = await server.viewer.get('/api/runs?target=a%00b').expect(400)
    expect(body).toEqual(refusal('bad_request', 'the path and query must not contain NUL (%00)'))
    await server.viewer.get('/api/runs/%00').expect(400)
  })
})

describe('GET /runs/{id} 200', () => {
  test('a single run has additional fields, and no current_pid', async () => {
    const { run_uuid } = await create()
    const { body } = await server.viewer.get(`/api/runs/${run_uuid}`).expect(200)
    expect(Object.keys(body as object)).toEqual(['data'])
    expect(body.data).toMatchObject({ error_message: '', schedule_id: '', trigger_name: '' })
    expect(body.data).not.toHaveProperty('current_pid')
    expect(body.data).not.toHaveProperty('steps')
  })

  test('steps and artifacts are added on request', async () => {
    const run = await running()
    await endRun(server.runStore, run, {}, { totalSteps: 1, completedSteps: 1, steps: [stepRecord()] })
    const { body } = await server.viewer
      .get(`/api/runs/${run.runId}?include_steps=true&include_artifacts=true`)
      .expect(200)
    expect(body.data.steps).toHaveLength(1)
    expect(body.data.artifacts).toEqual([])
    await server.viewer.get(`/api/runs/${run.runId}?include_steps=maybe`).expect(400)
  })
})

describe('GET /runs/{id}/steps 200', () => {
  test('the steps are listed in order', async () => {
    const run = await running()
    const steps = [
      stepRecord({ seq: 1, name: 'first' }),
      stepRecord({
        seq: 2,
        name: 'second',
        status: 'failed',
        exitCode: 3,
        errorMessage: 'it broke',
        exports: {},
      }),
    ]
    await endRun(
      server.runStore,
      run,
      { status: 'failed', errorMessage: 'second: it broke' },
      { totalSteps: 2, completedSteps: 1, steps },
    )
    const { body } = await server.viewer.get(`/api/runs/${run.runId}/steps`).expect(200)
    expect(body.data).toMatchObject([
      {
        step_name: 'first',
        step_type: 'bash',
        status: 'completed',
        output: 'hello\n',
        exports: { greeting: 'hello' },
        duration_ms: 12,
        log_file: '',
      },
      { step_name: 'second', status: 'failed', exit_code: 3, error_message: 'it broke', error: 'it broke' },
    ])
    const detail = await server.viewer.get(`/api/runs/${run.runId}`).expect(200)
    expect(detail.body.data).toMatchObject({
      status: 'failed',
      error_message: 'second: it broke',
      total_steps: 2,
    })
    expect(detail.body.data.completed_at).toMatch(/Z$/)
  })

  test('a run that has not started has no steps', async () => {
    const { run_uuid } = await create()
    const { body } = await server.viewer.get(`/api/runs/${run_uuid}/steps`).expect(200)
    expect(body).toEqual({ data: [] })
  })
})

describe('GET /runs/{id}/steps/{step_id}/log', () => {
  test('the whole log is returned as text', async () => {
    const run = await running()
    const logFile = `logs/${run.runUuid}.log`
    await server.artifacts.put(logFile, Readable.from([Buffer.from('the whole\nlog <b>\n')]))
    const step = stepRecord({ logFile, output: 'log <b>\n' })
    await endRun(server.runStore, run, {}, { steps: [step] })
    const { body } = await server.viewer.get(`/api/runs/${run.runId}/steps`).expect(200)
    expect(body.data[0].log_file).toBe(`/runs/${run.runUuid}/steps/${step.id}/log`)
    const log = await server.viewer
      .get(`/api${body.data[0].log_file as string}`)
      .expect(200)
      .expect('Content-Type', 'text/plain; charset=utf-8')
    expect(log.text).toBe('the whole\nlog <b>\n')
  })

  test('the end of the output is returned if no log was kept', async () => {
    const run = await running()
    const step = stepRecord()
    await endRun(server.runStore, run, {}, { steps: [step] })
    const log = await server.viewer.get(`/api/runs/${run.runId}/steps/${step.id}/log`).expect(200)
    expect(log.text).toBe('hello\n')
  })

  test('a step of another run answers 404', async () => {
    const { run_uuid } = await create()
    for (const id of [randomUUID(), 'abc']) {
      const { body } = await server.viewer.get(`/api/runs/${run_uuid}/steps/${id}/log`).expect(404)
      expect(body).toEqual(refusal('not_found', `this run has no step "${id}"`))
    }
  })
})

describe('GET /runs/{id}/artifacts and their content', () => {
  const CONTENT = '<script>alert(1)</script>\n'
  const keep = async (
    name: string,
    content: string | undefined = CONTENT,
    contentType: 'html' | 'json' | 'png' | 'zip' | 'unknown' = 'html',
  ) => {
    const run = await running()
    const storeKey = `artifacts/${run.runUuid}/report`
    const sha256 =
      content === undefined
        ? 'gone'
        : (await server.artifacts.put(storeKey, Readable.from([Buffer.from(content)]))).sha256
    const artifact = {
      id: randomUUID(),
      name,
      path: `/tmp/${name}`,
      type: 'report' as const,
      contentType,
      sizeBytes: 26,
      lineCount: 1,
      description: 'What was found',
      storeKey,
      sha256,
    }
    await endRun(server.runStore, run, {}, { artifacts: [artifact] })
    return { run, artifact, path: `/api/runs/${run.runId}/artifacts/${artifact.id}/content` }
  }

  test('the artifacts are listed', async () => {
    const { run, artifact } = await keep('report.html')
    const { body } = await server.viewer.get(`/api/runs/${run.runUuid}/artifacts`).expect(200)
    expect(body).toEqual({
      data: [
        {
          id: artifact.id,
          run_id: run.runId,
          workspace: 'a.example',
          name: 'report.html',
          artifact_path: '/tmp/report.html',
          artifact_type: 'report',
          content_type: 'html',
          size_bytes: 26,
          line_count: 1,
          description: 'What was found',
          created_at: expect.stringMatching(/Z$/),
        },
      ],
    })
  })

  test('the content is an attachment that cannot execute anything', async () => {
    const { path, artifact } = await keep('über "report".html')
    const response = await server.viewer.get(path).expect(200)
    expect(response.text).toBe(CONTENT)
    expect(response.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': '26',
      'content-disposition': `attachment; filename="_ber _report_.html"; filename*=UTF-8''%C3%BCber%20%22report%22.html`,
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      etag: `"${artifact.sha256}"`,
    })
  })

  test('a range answers 206, and a range after the end 416', async () => {
    const { path } = await keep('report.html')
    const part = await server.viewer.get(path).set('Range', 'bytes=1-6').expect(206)
    expect(part.text).toBe('script')
    expect(part.headers).toMatchObject({ 'content-range': 'bytes 1-6/26', 'content-length': '6' })
    const tail = await server.viewer.get(path).set('Range', 'bytes=-3').expect(206)
    expect(tail.text).toBe('t>\n')
    const { body } = await server.viewer.get(path).set('Range', 'bytes=26-').expect(416)
    expect(body).toEqual(refusal('range_not_satisfiable', 'the file has 26 bytes'))
  })

  test('known content answers 304', async () => {
    const { path, artifact } = await keep('report.html')
    const same = await server.viewer.get(path).set('If-None-Match', `"${artifact.sha256}"`).expect(304)
    expect(same.headers.etag).toBe(`"${artifact.sha256}"`)
    await server.viewer.get(path).set('If-None-Match', '"other"').expect(200)
    await server.viewer.get(path).set('Range', 'bytes=0-1').set('If-Range', '"other"').expect(200)
    await server.viewer
      .get(path)
      .set('Range', 'bytes=0-1')
      .set('If-Range', `"${artifact.sha256}"`)
      .expect(206)
  })

  test('HEAD answers with the headers only', async () => {
    const { path } = await keep('report.html')
    const response = await server.viewer.head(path).expect(200)
    expect(response.headers['content-length']).toBe('26')
  })

  test.each([
    ['report.html', 'html', 'text/html; charset=utf-8'],
    ['hosts.json', 'json', 'text/plain; charset=utf-8'],
    ['shot.png', 'png', 'image/png'],
    ['shot.SVG', 'unknown', 'image/svg+xml'],
    ['shot.jpeg', 'unknown', 'image/jpeg'],
  ] as const)('a frame can show %s, in a sandbox', async (name, contentType, type) => {
    const { path } = await keep(name, undefined, contentType)
    const { headers } = await server.viewer.get(`${path}?view=frame`).expect(200)
    expect(headers).toMatchObject({
      'content-type': type,
      'content-disposition': 'inline',
      'content-security-policy':
        "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'",
      'x-frame-options': 'SAMEORIGIN',
      'x-content-type-options': 'nosniff',
    })
  })

  test('a frame cannot show an archive', async () => {
    const { path } = await keep('all.zip', undefined, 'zip')
    const { body } = await server.viewer.get(`${path}?view=frame`).expect(415)
    expect(body.message).toBe('this artifact cannot be shown: download it, without view=frame')
    await server.viewer.get(`${path}?view=page`).expect(400)
  })

  test('an unknown artifact, one of another run and one without content answer 404', async () => {
    const { artifact } = await keep('report.html')
    const { run_uuid } = await create()
    for (const id of [randomUUID(), 'abc', artifact.id]) {
      const { body } = await server.viewer.get(`/api/runs/${run_uuid}/artifacts/${id}/content`).expect(404)
      expect(body).toEqual(refusal('not_found', `this run has no artifact "${id}"`))
    }
    const kept = await keep('gone.html')
    await server.artifacts.remove(kept.artifact.storeKey)
    const { body } = await server.viewer.get(kept.path).expect(404)
    expect(body).toEqual(refusal('not_found', 'the content of this artifact no longer exists'))
  })
})

describe('DELETE /runs/{id}', () => {
  test('a waiting run is cancelled with a note', async () => {
    const { run_uuid } = await create()
    const { body } = await server.operator.delete(`/api/runs/${run_uuid}`).expect(200)
    expect(body).toEqual({
      message: 'Run cancelled successfully',
      id: expect.any(Number),
      run_uuid,
      note: 'No active process was found; the stored status was updated',
    })
    const run = await server.viewer.get(`/api/runs/${run_uuid}`).expect(200)
    expect(run.body.data.status).toBe('cancelled')
    const again = await server.operator.delete(`/api/runs/${run_uuid}`).expect(200)
    expect(again.body).toMatchObject({ run_uuid, status: 'cancelled', note: 'The run was already cancelled' })
  })

  test('the answer contains the processes that the owner of a running run killed', async () => {
    const run = await running()
    const answer = server.operator.delete(`/api/runs/${run.runUuid}`).then((response) => response)
    for (;;) {
      const { runs } = await server.runStore.heartbeat(run.workerId, 1, false)
      if (runs.some(({ runId, cancelRequested }) => runId === run.runId && cancelRequested)) break
    }
    await endRun(server.runStore, run, { status: 'cancelled', killedPids: [11, 12] })
    const { status, body } = await answer
    expect(status).toBe(200)
    expect(body).toEqual({
      message: 'Run cancelled successfully',
      id: run.runId,
      run_uuid: run.runUuid,
      killed_pids: [11, 12],
      processes_terminated: 2,
      kill_method: 'registry',
    })
  })

  test('a run whose owner does not answer is cancelled after five seconds, and later writes are refused', async () => {
    const run = await running()
    const started = performance.now()
    const { body } = await server.operator.delete(`/api/runs/${run.runUuid}`).expect(200)
    expect(performance.now() - started).toBeGreaterThan(4_900)
    expect(body).toEqual({
      message: 'Run cancelled successfully',
      id: run.runId,
      run_uuid: run.runUuid,
      note: 'The process that owns the run did not answer; the stored status was updated',
    })
    expect(await endRun(server.runStore, run)).toHaveLength(1)
    const after = await server.viewer.get(`/api/runs/${run.runUuid}`).expect(200)
    expect(after.body.data.status).toBe('cancelled')
  })

  test('within a longer grace period the answer does not wait for its end, and the owner can still report', async () => {
    await using patient = await testServer({
      database: server.database,
      settings: { 'runs.cancel_grace_ms': 60_000 },
    })
    const run = await running()
    const began = performance.now()
    const { body } = await patient.operator.delete(`/api/runs/${run.runUuid}`).expect(200)
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(body).toEqual({
      message: 'Run cancelled successfully',
      id: run.runId,
      run_uuid: run.runUuid,
      status: 'running',
      note: expect.stringMatching(/^Processes of the run have 60 s/),
    })
    expect(await endRun(server.runStore, run, { status: 'cancelled', killedPids: [11] })).toEqual([])
    const after = await server.viewer.get(`/api/runs/${run.runUuid}`).expect(200)
    expect(after.body.data).toMatchObject({ status: 'cancelled', killed_pids: [11] })
    const old = await running()
    await server.store.runs.requestCancel(old.runUuid)
    await server.database.sql(`update runs set cancel_requested_at = now() - interval '64 s' where id = $1`, [
      old.runId,
    ])
    const late = await patient.operator.delete(`/api/runs/${old.runUuid}`).expect(200)
    expect(late.body.note).toBe('The process that owns the run did not answer; the stored status was updated')
  })

  test.each(['completed', 'failed'] as const)('a run that is %s is not changed', async (status) => {
    const run = await running()
    await endRun(server.runStore, run, { status })
    const { body } = await server.operator.delete(`/osm/api/runs/${run.runUuid}`).expect(200)
    expect(body).toEqual({
      message: `Nothing to cancel: the run is ${status}`,
      id: run.runId,
      run_uuid: run.runUuid,
      status,
      note: 'The run had already ended',
    })
    const after = await server.viewer.get(`/api/runs/${run.runUuid}`).expect(200)
    expect(after.body.data.status).toBe(status)
  })
})

describe('POST /runs/{id}/duplicate and start', () => {
  test('a run whose params exceed the limits of new runs answers 400', async () => {
    const { run_uuid } = await create()
    await server.database.sql(
      `update jobs set params = jsonb_build_object('list', repeat('x', 65537))
           from runs where runs.job_no = jobs.id and run_uuid = $1`,
      [run_uuid],
    )
    const { body } = await server.operator.post(`/api/runs/${run_uuid}/duplicate`).expect(400)
    expect(body).toMatchObject({ code: 'invalid_input', details: [{ path: '/params/list' }] })
  })

  test('a duplicate copies everything into a pending run of a new job, which can be started once', async () => {
    const original = await create({
      params: { depth: '3' },
      priority: 'high',
      timeout: 5,
      workspace: 'shared',
      run_mode: 'distributed',
      runner_type: 'ssh',
      ssh_host: 'h',
    })
    const copy = await server.operator.post(`/api/runs/${original.run_uuid}/duplicate`).expect(201)
    expect(copy.body).toEqual({
      message: 'Run duplicated',
      original_run_id: original.run_uuid,
      new_run_uuid: expect.any(String),
      status: 'pending',
      job_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      original_run_uuid: original.run_uuid,
      run_uuid: copy.body.new_run_uuid,
      workflow: 'probe',
      target: 'a.example',
    })
    const uuid = copy.body.new_run_uuid as string
    expect(uuid).not.toBe(original.run_uuid)
    const pending = await server.viewer.get(`/api/runs/${uuid}`).expect(200)
    expect(pending.body.data).toMatchObject({
      status: 'pending',
      params: { depth: '3' },
      priority: 'high',
      timeout: 5,
      workspace: 'shared',
      run_mode: 'distributed',
      ssh_host: 'h',
    })

    const start = await server.operator.post(`/api/runs/${uuid}/start`).expect(202)
    expect(start.body).toEqual({
      message: 'Run started',
      run_uuid: uuid,
      status: 'running',
      workflow: 'probe',
      kind: 'module',
      target: 'a.example',
    })
    const queued = await server.viewer.get(`/api/runs/${uuid}`).expect(200)
    expect(queued.body.data.status).toBe('queued')
    const again = await server.operator.post(`/api/runs/${uuid}/start`).expect(400)
    expect(again.body).toEqual(
      refusal('bad_request', 'only a pending run can be started, but this run is queued'),
    )
  })

  test('an ended run answers 400, and an unknown one 404', async () => {
    const { run_uuid } = await create()
    const copy = await server.operator.post(`/api/runs/${run_uuid}/duplicate`).expect(201)
    await server.operator.delete(`/api/runs/${copy.body.new_run_uuid as string}`).expect(200)
    await server.operator.post(`/api/runs/${copy.body.new_run_uuid as string}/start`).expect(400)
    const run = await running()
    await endRun(server.runStore, run)
    const { body } = await server.operator.post(`/osm/api/runs/${run.runUuid}/start`).expect(400)
    expect(body).toEqual(
      refusal('bad_request', 'only a pending run can be started, but this run is completed'),
    )
    await server.operator.post('/osm/api/runs/999999/start').expect(404)
  })
})

describe('POST /runs/{id}/start 400', () => {
  test('a distributed run is refused on a server that is not a master', async () => {
    const { run_uuid } = await create({ run_mode: 'distributed' })
    const copy = await server.operator.post(`/api/runs/${run_uuid}/duplicate`).expect(201)
    await using other = await testServer({ database: server.database })
    const { body } = await other.operator.post(`/api/runs/${copy.body.run_uuid as string}/start`).expect(400)
    expect(body).toEqual(
      refusal('master_required', 'distributed mode requires the server to be started with the --master flag'),
    )
  })
})
