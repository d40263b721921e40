import type { Runner, RunnerSpec } from '@scanfarm/contracts'
import { singleQuoted } from '../../shell/quote.ts'
import { openNew, runPath } from '../../functions/files.ts'
import { checkPath } from '../../functions/run-folder.ts'
import type { RunnerConfig } from '../../model.ts'
import { environmentOf } from '../command.ts'
import type { StepRun } from '../place.ts'
import { renderPlain } from '../render.ts'
import { runnerSpec } from '../runner-spec.ts'
import { signalOf } from '../step-limit.ts'
import { failed, type StepEnd } from '../step-end.ts'
import { runCommands, type Commands } from './bash.ts'
import { messageOf } from '../../fault.ts'

/** Where the commands of the step run, everything in it rendered. */
export const renderRunner = ({ module, step, scope }: StepRun): RunnerSpec | string => {
  const plain = (text: string) => renderPlain(module.run.engine, text, scope)
  const { step_runner_config: config = {} } = step
  const rendered = Object.fromEntries(
    Object.entries(config).map(([key, value]) => {
      if (typeof value === 'string') return [key, plain(value)]
      if (Array.isArray(value)) return [key, value.map(plain)]
      if (typeof value === 'object')
        return [key, Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(String(v))]))]
      return [key, value]
    }),
  ) as RunnerConfig
  try {
    return runnerSpec(step.step_runner, rendered)
  } catch (error) {
    return messageOf(error)
  }
}

/** Keys that a value names. This process reads them, so the user of commands needs no right to; authors are trusted. */
const checkKeys = async ({ step, module }: StepRun, spec: RunnerSpec): Promise<void> => {
  if (spec.type !== 'ssh') return
  const { key_file: key, known_hosts: hosts } = step.step_runner_config ?? {}
  const named = [
    spec.keyFile === key ? undefined : spec.keyFile,
    spec.knownHosts === hosts ? undefined : spec.knownHosts,
  ]
  for (const path of named)
    if (path !== undefined) await checkPath(path, { ...module.run.input, owner: undefined }, 'read')
}

/** Brings one file back by printing it there and writing it here; what goes wrong is only told. */
const fetchFile = async (at: StepRun, runner: Runner, remote: string, local: string): Promise<void> => {
  const { run } = at.module
  const file = await openNew(local, run.input)
  let problem = ''
  try {
    const outcome = await runner.run(
      {
        argv: ['/bin/sh', '-c', `cat -- ${singleQuoted(remote)}`],
        env: environmentOf(run, runner.type),
        graceMs: run.limits.graceMs,
      },
      {
        signal: signalOf(at),
        onOutput: async (stream, chunk) => {
          if (stream === 'stdout') await file.write(chunk)
          else problem += chunk.toString().slice(0, 500)
        },
      },
    )
    if (outcome.kind === 'exited' && outcome.code === 0) return
    run.input.recorder.log(
      'warn',
      `${at.step.name}: ${remote} could not be copied: ${problem.trim() || outcome.kind}`,
    )
  } finally {
    await file.close()
    run.files.afterLocal()
  }
}

/** Commands in a container or on another host that is there for this step alone. */
export const runRemote = async (
  at: StepRun,
  spec: RunnerSpec | string,
  commands: Commands,
): Promise<StepEnd> => {
  const { run } = at.module
  if (typeof spec === 'string') return failed(spec)
  if (spec.type === 'host') return failed('step_runner must be docker or ssh')
  await checkKeys(at, spec)
  const runner = await run.input.openRunner(spec)
  try {
    const end = await runCommands(at, runner, commands)
    const plain = (text: string | undefined) => renderPlain(run.engine, text ?? '', at.scope)
    const [remote, local] = [plain(at.step.step_remote_file), plain(at.step.host_output_file)]
    if (!run.signal.aborted) await run.files.beforeClose(runner)
    if (end.kind === 'done' && remote !== '' && local !== '')
      await fetchFile(at, runner, remote, runPath(local, run.input))
    return end
  } finally {
    run.files.forget(runner)
    await runner[Symbol.asyncDispose]()
  }
}
