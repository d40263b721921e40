import type { Runner, RunnerSpec } from '@scanfarm/contracts'
import { singleQuoted, type RunnerConfig, messageOf } from '@scanfarm/language'
import { openNew, runPath, checkPath } from '@scanfarm/functions'
import { environmentOf } from '../runner/command.ts'
import { type StepContext, signalOf } from '../step/step-context.ts'
import { renderPlain } from '../step/render.ts'
import { runnerSpec } from '../runner/runner-spec.ts'
import { failed, type StepEnd } from '../step/step-end.ts'
import { runCommands, type Commands } from './bash.ts'

/** The runner of the step, rendered. */
export const renderRunner = ({ step, scope }: StepContext): RunnerSpec | string => {
  const plain = (text: string) => renderPlain(text, scope)
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

/**
 * Checks key files that are named by values. This process reads them, so the user of commands needs no access; paths
 * from the author are trusted.
 */
const checkKeys = async ({ step, module }: StepContext, spec: RunnerSpec): Promise<void> => {
  if (spec.type !== 'ssh') return
  const { key_file: key, known_hosts: hosts } = step.step_runner_config ?? {}
  const named = [
    spec.keyFile === key ? undefined : spec.keyFile,
    spec.knownHosts === hosts ? undefined : spec.knownHosts,
  ]
  for (const path of named)
    if (path !== undefined) await checkPath(path, { ...module.run.input, owner: undefined }, 'read')
}

/** Copies one file to this machine by printing it there. Failures only cause a warning. */
const fetchFile = async (at: StepContext, runner: Runner, remote: string, local: string): Promise<void> => {
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

/** Runs commands in a container or on a host that is opened for this step only. */
export const runRemote = async (
  at: StepContext,
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
    const plain = (text: string | undefined) => renderPlain(text ?? '', at.scope)
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
