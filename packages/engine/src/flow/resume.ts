import { createHash } from 'node:crypto'
import { prepare } from '../steps/dispatch.ts'
import { signalOf, type OpenRow, type StepContext } from '../step/step-context.ts'
import { RenderError } from '../step/render.ts'
import type { StepOutcome } from '../step/step-end.ts'
import { keptValue, valueOf, type KeptState, type KeptUnit, type ResumeService } from './kept-unit.ts'
import { UnitTrace } from './tally.ts'
import type { Run } from './run.ts'

const stateOf = ({ module }: StepContext): KeptState => ({
  variables: module.scope
    .takeChanges()
    .map(([name, value]) => [name, keptValue(value), module.exported.has(name)]),
  env: { ...module.run.env },
})

const restore = ({ module }: StepContext, { variables, env }: KeptState): void => {
  for (const [name, kept, isExported] of variables) {
    module.scope.set(name, valueOf(kept))
    if (isExported) module.exported.add(name)
  }
  Object.assign(module.run.env, env)
}

/** Another attempt may have other folders. */
const hashOf = ({ input: { folders } }: Run, command: string): string =>
  command === ''
    ? ''
    : createHash('sha256')
        .update(command.replaceAll(folders.temp, '\0').replaceAll(folders.output, '\0\0'))
        .digest('hex')

/** Whether the command is rendered as in the earlier attempt. */
const hasSameInputs = (at: StepContext, { command }: KeptUnit): boolean => {
  if (command === '') return true
  try {
    return hashOf(at.module.run, prepare(at).command) === command
  } catch (error) {
    if (error instanceof RenderError) return false
    throw error
  }
}

const keptOutcome = (outcome: StepOutcome): KeptUnit['outcome'] | undefined => {
  switch (outcome.kind) {
    case 'completed':
      return { kind: 'completed', goto: outcome.goto }
    case 'failed':
      return { kind: 'failed', error: outcome.error, continues: outcome.continues }
    case 'skipped':
    case 'skip-module':
      return outcome
    case 'cancelled':
      return undefined
  }
}

const outcomeOf = (kept: KeptUnit['outcome']): StepOutcome => {
  if (kept.kind === 'completed') return { ...kept, output: '', exports: new Map() }
  if (kept.kind === 'failed') return { ...kept, output: '' }
  return kept.kind === 'actions' ? { kind: 'skipped' } : kept
}

/** The unit as an earlier attempt ended it; undefined: it has to be done. */
const taken = (at: StepContext, resume: ResumeService): KeptUnit | undefined => {
  const kept = resume.find(at.key)
  if (kept === undefined) return undefined
  if (!hasSameInputs(at, kept)) {
    resume.stop(`the inputs of step ${at.step.name} have changed`)
    return undefined
  }
  const { run } = at.module
  const { counted, artifacts } = resume.takeOver(at.key, () => run.nextSeq())
  run.stepsTakenOver += counted
  for (const found of artifacts) run.input.recorder.artifact(found)
  restore(at, kept)
  if (kept.worked) at.trace?.worked()
  if (kept.error !== undefined) at.trace?.failed(kept.error)
  return kept
}

const nameOf = ({ module, step }: StepContext): string =>
  module.name === '' ? step.name : `${module.name}/${step.name}`

type Ended = Omit<KeptUnit, 'key' | 'step' | keyof KeptState>

/** Executes a unit. `work` resolves to its result, and how it ended; undefined: it was interrupted. */
const noted = async <T>(
  at: StepContext,
  resume: ResumeService,
  step: string,
  work: () => Promise<{ readonly result: T; readonly ended: Ended | undefined }>,
): Promise<T> => {
  const { key } = at
  at.module.scope.trackChanges()
  await resume.begin(key, step)
  let unit: KeptUnit | undefined
  try {
    const { result, ended } = await work()
    if (ended !== undefined) unit = { key, step, ...ended, ...stateOf(at) }
    return result
  } finally {
    await resume.end(key, unit)
  }
}

/** Runs a step of a module's list or a hook, unless an earlier attempt has ended it. */
export const runOnce = async (at: StepContext, rows: OpenRow): Promise<StepOutcome> => {
  const { run, runStep } = at.module
  const { resume } = run.input
  if (resume === undefined) return await runStep(at, rows)
  const kept = taken(at, resume)
  if (kept !== undefined) return outcomeOf(kept.outcome)
  return await noted(at, resume, nameOf(at), async () => {
    let command = ''
    const trace = new UnitTrace(at.trace)
    const result = await runStep({ ...at, ...(at.trace !== undefined && { trace }) }, (one, rendered) => {
      if (one.key === at.key) command = rendered
      return rows(one, rendered)
    })
    const outcome = signalOf(at).aborted ? undefined : keptOutcome(result)
    const { hasWorked: worked, error } = trace
    return { result, ended: outcome && { command: hashOf(run, command), outcome, worked, error } }
  })
}

/** Executes the actions of a module of a flow, unless an earlier attempt has. Resolves to whether they abort the flow. */
export const actOnce = async (at: StepContext, act: () => Promise<boolean>): Promise<boolean> => {
  const { run } = at.module
  const { resume } = run.input
  if (resume === undefined) return await act()
  const kept = taken(at, resume)
  if (kept?.outcome.kind === 'actions') return kept.outcome.abort
  return await noted(at, resume, '', async () => {
    const abort = await act()
    const outcome = { kind: 'actions', abort } as const
    return { result: abort, ended: run.signal.aborted ? undefined : { command: '', outcome, worked: false } }
  })
}

/** A value that is computed in the first attempt only. */
export const rememberedIn = async <T>(run: Run, key: string, make: () => T | Promise<T>): Promise<T> =>
  await (run.input.resume?.remember(key, make) ?? make())
