import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const server = forAllTests(() => testServer({ master: true }))

const submit = (body: object) => server.operator.post('/osm/api/tasks').send(body)
const TASK = { workflow_name: 'probe', workflow_kind: 'module', target: 'a.example' }

describe('POST /tasks', () => {
  test('POST /tasks starts a distributed run that is listed as a task', async () => {
    const { body } = await submit({ ...TASK, params: { depth: 3 } }).expect(202)
    expect(body).toEqual({
      message: 'Task submitted',
      task_id: expect.any(String),
      run_uuid: body.task_id,
      job_id: expect.any(String),
    })
    const run = await server.viewer.get(`/api/runs/${body.task_id}`).expect(200)
    expect(run.body.data).toMatchObject({
      workflow_name: 'probe',
      run_mode: 'distributed',
      target: 'a.example',
      params: { depth: '3' },
    })
    const task = await server.viewer.get(`/osm/api/tasks/${body.task_id}`).expect(200)
    expect(task.body).toMatchObject({
      id: body.task_id,
      task_id: body.task_id,
      scan_id: body.task_id,
      workflow_name: 'probe',
      workflow_kind: 'module',
      target: 'a.example',
      worker_id: '',
      status: 'pending',
      error: '',
    })
    const ours = await server.viewer.get(`/api/tasks/${body.task_id}`).expect(200)
    expect(ours.body.status).toBe('queued')
    const { body: list } = await server.viewer.get('/osm/api/tasks').expect(200)
    expect(list).toMatchObject({ running: [], completed: [] })
    expect(list.pending).toContainEqual(expect.objectContaining({ id: body.task_id, status: 'pending' }))
    await server.operator.delete(`/api/runs/${body.task_id}`).expect(200)
    const after = await server.viewer.get('/osm/api/tasks').expect(200)
    expect(after.body.completed).toContainEqual(
      expect.objectContaining({ task_id: body.task_id, status: 'cancelled' }),
    )
  })

  test('POST /tasks finds the kind of the workflow', async () => {
    await submit({ workflow_name: 'survey', target: 'a.example' }).expect(202)
    await submit({ workflow_name: 'survey', workflow_kind: '', target: 'a.example' }).expect(202)
  })

  test.each([
    ['no workflow', { target: 'a.example' }, 400],
    ['an unknown one', { ...TASK, workflow_name: 'none' }, 404],
    ['the other kind', { ...TASK, workflow_kind: 'flow' }, 404],
    ['a dangerous target', { ...TASK, target: 'a;id' }, 400],
    ['an unknown field', { ...TASK, colour: 'red' }, 400],
  ])('POST /tasks refuses %s', async (_what, body, status) => {
    await submit(body).expect(status)
  })

  test('POST /tasks answers 400 without --master and 403 for viewers', async () => {
    await server.viewer.post('/api/tasks').send(TASK).expect(403)
    await using alone = await testServer()
    const { body } = await alone.operator.post('/api/tasks').send(TASK).expect(400)
    expect(body.code).toBe('master_required')
    expect((await alone.viewer.get('/api/tasks').expect(200)).body).toEqual({
      pending: [],
      running: [],
      completed: [],
    })
  })
})

describe('GET /tasks/{id}', () => {
  test('GET /tasks/{id} answers 404 for an unknown task', async () => {
    await server.viewer.get('/api/tasks/none').expect(404)
  })
})
