import type { CommandIo, Runner, RunnerSpec } from '@scanfarm/contracts'
import { type ExecResult, type FunctionContext, makeFolder } from '@scanfarm/functions'
import { type Json, fromJson, toJson } from '@scanfarm/language'
import { Capture } from '../runner/capture.ts'
import { environmentOf, exitCodeOf, runProgram, startFolder } from '../runner/command.ts'
import { type StepContext, turnsOf } from './step-context.ts'
import type { Run } from '../flow/run.ts'
import type { Turns } from '../runner/turns.ts'

/** The context of the functions that a step calls. */
export const functionContext = (
  at: StepContext,
  signal: AbortSignal,
  evaluate: (expression: string) => Promise<Json>,
): FunctionContext => {
  const { run, scope, exported } = at.module
  const { input } = run
  return {
    signal,
    folders: input.folders,
    // Few functions use it.
    get env() {
      return environmentOf(run, 'host', turnsOf(at))
    },
    ports: run.ports,
    services: input.services ?? {},
    workspace: input.workspace,
    target: input.target,
    runUuid: input.runUuid,
    stepPath: at.module.name === '' ? at.step.name : `${at.module.name}/${at.step.name}`,
    recorder: input.recorder,
    owner: input.owner,
    paths: input.paths,
    evaluate,
    variable: (name) => {
      const value = at.scope.get(name)
      return value === undefined ? undefined : toJson(value)
    },
    setVariable: (name, value) => {
      scope.set(name, fromJson(value))
      at.scope.set(name, fromJson(value))
      exported.add(name)
    },
    setEnv: (name, value) => {
      run.env[name] = value
    },
    print: (stream, text) => {
      if (at.step.suppress_details !== true) void input.recorder.output(at.key, stream, Buffer.from(text))
    },
    jq: async (text, filter) => await run.engine.jq.run(text, filter, signal),
    exec: async (argv, options = {}) =>
      await execOn(run, await run.runner({ type: 'host' }), argv, { ...options, turns: turnsOf(at), signal }),
    execOn: async (spec, command) => await execElsewhere(at, spec, command, signal),
  }
}

const execElsewhere = async (
  at: StepContext,
  spec: RunnerSpec,
  command: string,
  signal: AbortSignal,
): Promise<ExecResult> => {
  const { run } = at.module
  const runner = await run.input.openRunner(spec)
  try {
    return await execOn(run, runner, ['/bin/sh', '-c', command], { turns: turnsOf(at), signal })
  } finally {
    await runner[Symbol.asyncDispose]()
  }
}

/** Runs a program for a function and captures the beginning of its output. */
export const execOn = async (
  run: Run,
  runner: Runner,
  argv: readonly string[],
  {
    timeoutMs,
    cwd,
    turns = run.turns,
    signal,
  }: { timeoutMs?: number; cwd?: string; turns?: Turns | undefined; signal: AbortSignal },
): Promise<ExecResult> => {
  const capture = new Capture(run.limits.captureBytes)
  if (cwd !== undefined) await makeFolder(cwd, run.input)
  const program = { argv, timeoutMs, cwd: cwd ?? (await startFolder(run, runner.type)) }
  const onOutput: CommandIo['onOutput'] = (stream, chunk) => capture.add(stream, chunk)
  const outcome = await runProgram(run, runner, program, { turns, signal, onOutput })
  const how = outcome.kind === 'signalled' ? `the command was killed by ${outcome.signal}` : outcome.kind
  const reason = 'reason' in outcome && outcome.reason !== undefined ? outcome.reason : how
  return {
    exitCode: exitCodeOf(outcome) ?? -1,
    stdout: capture.text('stdout'),
    stderr: capture.text('stderr'),
    problem: outcome.kind === 'exited' ? (outcome.blocked ?? '') : reason,
  }
}
