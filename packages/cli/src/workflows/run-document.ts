import { StringDecoder } from 'node:string_decoder'
import type { OutputStream, RunRecorder, StepClosed, StepOpened } from '@scanfarm/contracts'
import { NO_WORK } from '@scanfarm/contracts'
import type { EndedRun } from '../exec/planned.ts'

/** Limits of the document, which is in memory until the run has ended. Anything beyond them is omitted. */
const MAX_STEPS = 10_000
const MAX_ARTIFACTS = 10_000
/** The last characters of the output of each step are kept. */
const OUTPUT_TAIL = 16 * 1024

interface Step extends Omit<StepOpened, 'key' | 'seq'> {
  closed?: StepClosed
  readonly output: Record<OutputStream, string>
  /** A character may be split between two chunks. */
  readonly decoders: Readonly<Record<OutputStream, StringDecoder>>
}

const opened = (facts: Omit<StepOpened, 'key' | 'seq'>): Step => ({
  ...facts,
  output: { stdout: '', stderr: '' },
  decoders: { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') },
})

const keepOutput = ({ output, decoders }: Step, stream: OutputStream, chunk: Buffer): void => {
  output[stream] = (output[stream] + decoders[stream].write(chunk)).slice(-OUTPUT_TAIL)
}

export interface RunDocument {
  readonly recorder: RunRecorder
  /** The run with its steps as plain JSON, with the same fields as in the API. */
  finish(ended: EndedRun, dryRun: boolean): object
}

const stepJson = ({ name, type, module, command, startedAt, closed, output }: Step) => ({
  name,
  type,
  module,
  command,
  status: closed?.status ?? 'running',
  exit_code: closed?.exitCode ?? null,
  error_message: closed?.errorMessage ?? '',
  started_at: startedAt,
  completed_at: closed?.completedAt ?? null,
  duration_ms: closed?.durationMs ?? null,
  exports: closed?.exports ?? {},
  ...output,
})

/** Collects the events of a run for one document at its end, and passes them on to `live`. */
export const createRunDocument = (live: RunRecorder): RunDocument => {
  const startedAt = new Date()
  const steps = new Map<string, Step>()
  const artifacts: { name: string; type: string; path: string }[] = []
  let totalSteps = 0
  const recorder: RunRecorder = {
    ...live,
    plan(total) {
      totalSteps = total
      live.plan(total)
    },
    stepOpened(step) {
      const { key, seq: _, ...facts } = step
      if (steps.size < MAX_STEPS) steps.set(key, opened(facts))
      live.stepOpened(step)
    },
    output(key, stream, chunk) {
      const step = steps.get(key)
      if (step !== undefined) keepOutput(step, stream, chunk)
      return live.output(key, stream, chunk)
    },
    stepClosed(closed, counts) {
      const step = steps.get(closed.key)
      if (step !== undefined) step.closed = closed
      live.stepClosed(closed, counts)
    },
    artifact(found) {
      const { name, type, path } = found
      if (artifacts.length < MAX_ARTIFACTS) artifacts.push({ name, type, path })
      live.artifact(found)
    },
  }
  return {
    recorder,
    finish: ({ run, result: { status, errorMessage, outcome = '', tally = NO_WORK } }, dryRun) => ({
      run_uuid: run.uuid,
      workflow_name: run.workflow.root.name,
      workflow_kind: run.workflow.root.kind,
      target: run.target.text,
      workspace: run.space,
      dry_run: dryRun,
      folder: run.output,
      status,
      outcome,
      failed_steps: tally.failedSteps,
      left_out_modules: tally.leftOutModules,
      left_out_steps: tally.leftOutSteps,
      outcome_reasons: tally.reasons,
      error_message: errorMessage,
      started_at: startedAt,
      completed_at: new Date(),
      total_steps: totalSteps,
      steps: [...steps.values()].map(stepJson),
      artifacts,
    }),
  }
}
