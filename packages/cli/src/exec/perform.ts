import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunnerProvider, RunRecorder } from '@scanfarm/contracts'
import { makeFolder } from '@scanfarm/platform'
import { execute, type Engine, type ExecuteResult } from '@scanfarm/engine'
import { parseAllowedPaths, type AllowedPath, type FunctionServices, type Ports } from '@scanfarm/functions'
import { startTimer } from '@scanfarm/worker'
import { notWritten } from '../client/files.ts'
import type { Terminal } from '../terminal.ts'
import { ownEnvironment } from '../workflows/own-environment.ts'
import type { PlannedRun } from './planned.ts'
import type { Config } from '../settings.ts'

/** Shared by all runs of one command. */
export interface ExecContext {
  readonly terminal: Terminal
  readonly config: Config
  readonly engine: Engine
  readonly runners: RunnerProvider
  readonly params: Readonly<Record<string, string>>
  /** Paths that functions may use in addition to the folder of the caller. */
  readonly paths: readonly AllowedPath[]
  readonly skipValidation: boolean
  readonly dryRun: boolean
  readonly timeoutMs: number | undefined
  /** Aborted by the caller: ends all runs. */
  readonly signal: AbortSignal
  /** An existing folder for temporary files; default: a new one for each run. */
  readonly temp?: string
  readonly services?: FunctionServices
  readonly ports?: Partial<Ports>
}

/** Executes one run on this machine. Each run has its own folders. */
export const perform = async (
  run: PlannedRun,
  recorder: RunRecorder,
  context: ExecContext,
): Promise<ExecuteResult> => {
  const { terminal, config, engine, runners, params, timeoutMs } = context
  const { target, output, uuid, workspaces } = run
  const temp = context.temp ?? (await mkdtemp(join(tmpdir(), 'scanfarm-exec-')))
  const limit = new AbortController()
  using _timer = timeoutMs === undefined ? undefined : startTimer(timeoutMs, () => limit.abort('timeout'))
  const signal = timeoutMs === undefined ? context.signal : AbortSignal.any([context.signal, limit.signal])
  try {
    if (!context.dryRun)
      await makeFolder(output).catch((error: unknown) => {
        throw notWritten(output, error)
      })
    const own = { target: target.text, workspace: run.space, output, temp }
    const { folders, ...given } = await ownEnvironment(config, terminal.env, own)
    return await execute({
      workflow: run.workflow,
      target: target.text,
      ...(target.local === undefined ? {} : { localTarget: target.local }),
      params,
      strictParams: config.workflows.strictParams,
      workspace: run.space,
      runUuid: uuid,
      runId: 0,
      attempt: 1,
      ...given,
      folders: { ...folders, ...(workspaces === undefined ? {} : { workspaces }) },
      paths: [
        { path: process.cwd(), write: true },
        ...(target.local === undefined ? [] : [{ path: target.text, write: false }]),
        ...context.paths,
        ...parseAllowedPaths(config.runner.paths),
      ],
      openRunner: (spec) =>
        runners.open(spec, {
          runUuid: uuid,
          attempt: 1,
          folder: temp,
          workspace: output,
          marker: `${uuid}.1`,
          signal,
          log: (line) => recorder.log('info', line),
        }),
      recorder,
      engine,
      signal,
      ...(context.services === undefined ? {} : { services: context.services }),
      ...(context.ports === undefined ? {} : { ports: context.ports }),
      dryRun: context.dryRun,
      skipValidation: context.skipValidation,
      limits: { graceMs: config.runs.cancelGraceMs },
    })
  } finally {
    if (context.temp === undefined) await rm(temp, { recursive: true, force: true })
  }
}
