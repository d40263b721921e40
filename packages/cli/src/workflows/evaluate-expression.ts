import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunRecorder } from '@scanfarm/contracts'
import { evaluateStandalone, type Evaluated } from '@scanfarm/engine'
import { parseAllowedPaths } from '@scanfarm/functions'
import { printLine, type Terminal } from '../terminal.ts'
import { createOwnRunners, ownEnvironment } from './own-environment.ts'
import type { Config } from '../settings.ts'
import { untilInterrupted } from '../until-interrupted.ts'

export interface Expression {
  readonly source: string
  readonly target: string
  readonly params: Readonly<Record<string, string>>
}

const nothing = (): void => undefined

/** Prints the output and the errors of functions. Steps, artifacts and events are not recorded. */
const createFunctionRecorder = ({ out, err }: Terminal): RunRecorder => ({
  plan: nothing,
  stepOpened: nothing,
  stepClosed: nothing,
  tally: nothing,
  currentPid: nothing,
  output: (_key, stream, chunk) => void (stream === 'stdout' ? out : err).write(chunk),
  artifact: ({ path }) => void err.write(`artifact: ${path}\n`),
  event: ({ topic, data }) => void err.write(`event ${topic}: ${JSON.stringify(data)}\n`),
  log(level, line) {
    // Log functions also print their line.
    if (level === 'warn' || level === 'error') err.write(`${level}: ${line}\n`)
  },
})

/** Evaluates an expression, which may read and write in the current folder and in the paths of the settings. */
export const evaluateExpression = async (
  terminal: Terminal,
  config: Config,
  { source, target, params }: Expression,
): Promise<Evaluated> => {
  const temp = await mkdtemp(join(tmpdir(), 'scanfarm-function-'))
  const runUuid = randomUUID()
  const output = process.cwd()
  const recorder = createFunctionRecorder(terminal)
  try {
    using interrupted = untilInterrupted()
    const { signal } = interrupted
    await using runners = createOwnRunners(config, terminal.env['SSH_AUTH_SOCK'])
    return await evaluateStandalone(source, {
      target,
      params,
      strictParams: config.workflows.strictParams,
      workspace: 'eval',
      runUuid,
      runId: 0,
      attempt: 1,
      ...(await ownEnvironment(config, terminal.env, { target, workspace: 'eval', output, temp })),
      paths: parseAllowedPaths(config.runner.paths),
      openRunner: (spec) =>
        runners.open(spec, {
          runUuid,
          attempt: 1,
          folder: temp,
          workspace: output,
          marker: `${runUuid}.1`,
          signal,
          log: (line) => printLine({ ...terminal, out: terminal.err }, line),
        }),
      recorder,
      signal,
      limits: { graceMs: config.runs.cancelGraceMs },
    })
  } finally {
    await rm(temp, { recursive: true, force: true })
  }
}
