import { setTimeout as delay } from 'node:timers/promises'
import { call, farm, nextCursorOf, type Answer } from './attacked-farm.ts'

export interface StepRow {
  readonly step_name: string
  readonly status: string
  readonly command: string
  readonly output: string
  readonly error_message: string
  readonly exports: Readonly<Record<string, string>>
}

export interface EndedRun {
  readonly id: number
  readonly run_uuid: string
  readonly workspace: string
  readonly target: string
  readonly status: string
  readonly error_message: string
  readonly params: Readonly<Record<string, string>>
  readonly steps: readonly StepRow[]
}

const POLL_MS = 50
const RUN_MS = 60_000
const ENDED = ['completed', 'failed', 'cancelled']

/** The values are JSON, which is also YAML. */
const moduleYaml = (name: string, fields: Readonly<Record<string, unknown>>): string =>
  [
    `kind: module\nname: ${name}`,
    ...Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
  ].join('\n')

/** Uploads a module as administrator. */
export async function uploadModule(name: string, fields: Readonly<Record<string, unknown>>): Promise<string> {
  const answer = await sendWorkflow(moduleYaml(name, fields), `${name}.yaml`)
  if (answer.status !== 201)
    throw new Error(`the upload of module ${name} returned ${answer.status}, expected 201: ${answer.text}`)
  return name
}

interface LintAnswer {
  readonly valid: boolean
  readonly problems: readonly { readonly severity: string; readonly message: string }[]
}

/** The problems that the checker reports for a module. */
export async function lintModule(fields: Readonly<Record<string, unknown>>): Promise<LintAnswer> {
  const answer = await call('post', '/workflows/lint', {
    token: farm.tokens.viewer,
    headers: { 'content-type': 'application/octet-stream' },
    body: moduleYaml('linted', fields),
  })
  if (answer.status !== 200) throw new Error(`lint returned ${answer.status}, expected 200: ${answer.text}`)
  return answer.json as unknown as LintAnswer
}

export const sendWorkflow = (yaml: string, filename: string): Promise<Answer> => {
  const form = new FormData()
  form.append('file', new Blob([yaml]), filename)
  return call('post', '/workflow-upload', { form })
}

/** Starts one distributed run; the answer may be a refusal. */
export const submit = (body: Readonly<Record<string, unknown>>, token?: string): Promise<Answer> =>
  call('post', '/runs', { body: { run_mode: 'distributed', ...body }, token })

/** The UUID of the started run. */
export const runOf = (answer: Answer): string => {
  if (answer.status !== 202)
    throw new Error(`the start of the run returned ${answer.status}, expected 202: ${answer.text}`)
  return String(answer.json?.['run_uuid'])
}

let runsMade = 0

/** Starts a run in its own workspace and returns it with its steps after its end. */
export async function runToEnd(body: Readonly<Record<string, unknown>>): Promise<EndedRun> {
  runsMade += 1
  const target = `attack-${process.pid}-${runsMade}.test`
  return await ended(runOf(await submit({ target, ...body })))
}

/** Waits until the run has ended. */
export async function ended(ref: string): Promise<EndedRun> {
  const deadline = Date.now() + RUN_MS
  for (;;) {
    const { json } = await call('get', `/runs/${ref}`)
    const run = json?.['data'] as EndedRun
    if (ENDED.includes(run.status)) return { ...run, steps: await stepsOf(ref) }
    if (Date.now() > deadline)
      throw new Error(`run ${ref} has not ended after ${RUN_MS / 1_000} s: ${JSON.stringify(run)}`)
    await delay(POLL_MS)
  }
}

/** The steps of all pages. */
async function stepsOf(ref: string): Promise<StepRow[]> {
  const found: StepRow[] = []
  for (let cursor = ''; ;) {
    const answer = await call('get', `/runs/${ref}/steps${cursor}`)
    if (answer.status !== 200)
      throw new Error(`the steps of run ${ref} returned ${answer.status}, expected 200: ${answer.text}`)
    found.push(...((answer.json?.['data'] ?? []) as StepRow[]))
    const next = nextCursorOf(answer)
    if (next === undefined) return found
    cursor = `?cursor=${encodeURIComponent(next)}`
  }
}

export const stepNamed = (run: EndedRun, name: string): StepRow => {
  const step = run.steps.find(({ step_name }) => step_name === name)
  if (step === undefined)
    throw new Error(`run ${run.run_uuid} has no step ${name}; the run is ${run.status}: ${run.error_message}`)
  return step
}
