import { closed, named, Run, withoutPassword, withoutPasswords, WorkflowKind } from '@scanfarm/contracts'
import { Type, type Static } from 'typebox'
import { json, type Answer } from '../../http/answer.ts'
import { route, type Handle } from '../../http/route.ts'
import { createRuns } from './create-runs.ts'
import { runShape } from '../../compat/runs.ts'
import { found } from '../../http/refusal.ts'

const Facts = Type.Pick(Run, [
  'workflow_name',
  'workflow_kind',
  'target',
  'params',
  'status',
  'worker_id',
  'created_at',
  'started_at',
  'completed_at',
])

const Task = named('Task', {
  id: Type.String({ description: '`run_uuid` of the run' }),
  task_id: Type.String({ description: 'The same' }),
  scan_id: Type.String({ description: 'The same' }),
  ...Facts.properties,
})

const task = (run: Static<typeof Facts> & Pick<Run, 'run_uuid'>): Static<typeof Task> => ({
  id: run.run_uuid,
  task_id: run.run_uuid,
  scan_id: run.run_uuid,
  workflow_name: run.workflow_name,
  workflow_kind: run.workflow_kind,
  target: withoutPassword(run.target),
  params: withoutPasswords(run.params),
  status: run.status,
  worker_id: run.worker_id,
  created_at: run.created_at,
  started_at: run.started_at,
  completed_at: run.completed_at,
})

/** Maximum tasks of one status. */
const MOST = 100
const ENDED = ['completed', 'failed', 'cancelled'] as const

export const listTasks = route(
  {
    endpoint: 'GET /tasks',
    summary: 'List the newest distributed runs as tasks',
    description: `A task is a distributed run. The newest ${MOST} of each status are listed; GET /runs lists all.`,
    role: 'viewer',
    responses: {
      200: Type.Object({
        pending: Type.Array(Task),
        running: Type.Array(Task),
        completed: Type.Array(Task, { description: 'Ended tasks: completed, failed, cancelled' }),
      }),
    },
  },
  async (context, { http }) => {
    const { store } = context
    const shape = await runShape(context, http.root)
    const shown = (run: Run) => task(shape(run))
    const newest = async (status: Run['status']) =>
      (await store.runs.list({ status, runMode: 'distributed' }, { offset: 0, limit: MOST })).data
    const [pending, running, ...ended] = await Promise.all([
      newest('pending'),
      newest('running'),
      ...ENDED.map(newest),
    ])
    const completed = ended.flat().sort((one, other) => other.id - one.id)
    return { pending: pending.map(shown), running: running.map(shown), completed: completed.map(shown) }
  },
)

const TaskDetail = Type.Object({ ...Task.properties, error: Type.String() })

export const getTask = route(
  {
    endpoint: 'GET /tasks/{id}',
    summary: 'Read one run as a task',
    role: 'viewer',
    params: Type.Object({ id: Type.String({ description: 'Number or run_uuid of the run' }) }),
    responses: { 200: TaskDetail },
  },
  async (context, { params: { id }, http }) => {
    const run = found('run', id, await context.store.runs.find(id))
    const shown = await runShape(context, http.root)
    return { ...task(shown(run)), error: run.error_message }
  },
)

let submit: Handle | undefined

export const createTask = route(
  {
    endpoint: 'POST /tasks',
    summary: 'Start a distributed run',
    description: 'Like POST /runs with `run_mode: distributed`, with the same validation.',
    role: 'operator',
    body: closed({
      workflow_name: Type.String({ minLength: 1 }),
      workflow_kind: Type.Optional(
        Type.Enum([...WorkflowKind.enum, ''], { description: 'Missing: the kind of the workflow' }),
      ),
      target: Type.String(),
      params: Type.Optional(
        Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
      ),
    }),
    // Targets and params have their own validation.
    anyText: true,
    responses: {
      202: Type.Object({
        message: Type.String(),
        task_id: Type.String(),
        run_uuid: Type.String({ description: 'The same' }),
        job_id: Type.String(),
      }),
    },
    errors: createRuns.spec.errors ?? [],
  },
  async (context, { body, caller, http }) => {
    const kind = body.workflow_kind || (await context.catalog.find(body.workflow_name)).kind
    submit ??= createRuns.prepare()
    const answer = await submit(context, {
      params: {},
      query: {},
      caller,
      http,
      body: {
        [kind]: body.workflow_name,
        target: body.target,
        run_mode: 'distributed',
        params: body.params ?? {},
      },
    })
    const { run_uuid, job_id } = JSON.parse(String((answer as Answer).body)) as Record<string, string>
    return json(202, { message: 'Task submitted', task_id: run_uuid, run_uuid, job_id })
  },
)
