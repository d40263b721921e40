import { setTimeout as pause } from 'node:timers/promises'
import { paramsProblems } from '@scanfarm/contracts'
import type { Json } from '@scanfarm/language'
import {
  local,
  sending,
  isObject,
  NoResult,
  type FunctionGroup,
  type Run,
  type FunctionContext,
} from './define.ts'
import { readText } from './files/file.ts'
import { programPath, writeText } from './files/files.ts'
import { join } from 'node:path'

const isBlank = (value: Json): boolean =>
  typeof value === 'string' && ['', 'undefined'].includes(value.trim())

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || isBlank(value) || (Array.isArray(value) && value.length === 0)

const isValid = (value: Json): boolean =>
  !isEmpty(value) && value !== false && !(isObject(value) && Object.keys(value).length === 0)

/** Maximum number of values for `pick_valid`. */
const MAX_PICKED = 10

const outputOf = async (what: string, argv: readonly string[], context: FunctionContext): Promise<string> => {
  const { exitCode, stdout, stderr, problem } = await context.exec(argv)
  if (stderr !== '') context.print('stderr', stderr)
  if (exitCode !== 0) throw new NoResult(problem || `the ${what} ended with exit code ${exitCode}`)
  return stdout.trim()
}

const execute: Run = (context) => outputOf('command', ['/bin/sh', '-c', context.text(0)], context)

/** Runs a program of another language and returns its output. */
const script =
  (candidates: readonly (readonly string[])[], extension: string, fromFile: boolean): Run =>
  async (context) => {
    const path = fromFile
      ? await programPath(context, 0)
      : join(context.folders.temp, `script-${context.ports.uuid()}${extension}`)
    if (!fromFile) await writeText(path, context.text(0), context)
    for (const command of candidates) {
      const [program = ''] = command
      const found = await context.exec(['/bin/sh', '-c', 'command -v "$0"', program])
      if (found.exitCode !== 0) continue
      return await outputOf('program', [...command, path], context)
    }
    throw new NoResult(`none of these programs is installed: ${candidates.map(([name]) => name).join(', ')}`)
  }

const PYTHON = [['python3'], ['uv', 'run']] as const
const TYPESCRIPT = [['bun', 'run'], ['deno', 'run'], ['node']] as const

const startRun =
  (kind: 'module' | 'flow'): Run =>
  async ({ text, services }) => {
    if (services.run === undefined) throw new Error(`run_${kind} needs a server; this run has none`)
    const pairs = [...text(2).matchAll(/([^,=]*)=([^,]*)/g)]
    const params = Object.fromEntries(pairs.map(([, name = '', value = '']) => [name.trim(), value.trim()]))
    const [problem] = paramsProblems(params)
    if (problem !== undefined) throw new Error(`run_${kind}: ${problem.message}`)
    return await services.run({ kind, name: text(0), target: text(1), params })
  }

/** Thrown by a function to end the calling expression, whose evaluation counts as cancelled. */
export class StopProgram extends Error {
  override readonly name = 'StopProgram'
}

/** Ends the module with the status skipped. */
export class SkipModule extends StopProgram {}

/** Ends the module: with code 0 as skipped, otherwise as failed. */
export class EndRun extends StopProgram {
  readonly code: number

  constructor(code: number, message: string) {
    super(message || `exit(${code})`)
    this.code = code
  }
}

const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Maximum length of a random text. */
const MAX_RANDOM = 4096
const ALPHANUMERIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

export const UTILITY_FUNCTIONS: FunctionGroup = {
  title: 'Utilities',
  functions: [
    local(
      'len(value): number',
      'Bytes of a text in UTF-8, items of a list, 0 for anything else.',
      ({ args: [value] }) =>
        typeof value === 'string' ? Buffer.byteLength(value) : Array.isArray(value) ? value.length : 0,
    ),
    local(
      'is_empty(value): bool',
      'Whether the value is null, a blank text, the text "undefined" or an empty list.',
      (at) => isEmpty(at.args[0]),
    ),
    local('is_not_empty(value): bool', 'The opposite of `is_empty`.', (at) => !isEmpty(at.args[0])),
    sending(
      'exec_cmd(command): text',
      'Runs a shell command on the executor and returns its stdout without blanks at both ends; "" if it fails; the reason is logged.',
      execute,
      ['bash'],
    ),
    sending('exec_python(code): text', 'Runs Python and returns its output.', script(PYTHON, '.py', false)),
    sending(
      'exec_python_file(path): text',
      'Runs a Python file and returns its output.',
      script(PYTHON, '.py', true),
    ),
    sending(
      'exec_ts(code): text',
      'Runs TypeScript with bun, deno or node and returns its output.',
      script(TYPESCRIPT, '.ts', false),
    ),
    sending(
      'exec_ts_file(path): text',
      'Runs a TypeScript file and returns its output.',
      script(TYPESCRIPT, '.ts', true),
    ),
    local('command_exists(name): bool', 'Whether the program is on PATH.', async ({ text, exec }) => {
      const { exitCode, stdout } = await exec(['/bin/sh', '-c', 'command -v "$0"', text(0)])
      // Builtins of the shell have no path.
      return exitCode === 0 && stdout.includes('/')
    }),
    local('sleep(seconds): nothing', 'Waits; a cancel ends the wait.', async ({ number, signal }) => {
      await pause(Math.min(number(0, 0) * 1000, 2 ** 31 - 1), undefined, { signal })
      return null
    }),
    local('skip(message?): never', 'Ends the module with the status skipped; the flow continues.', (at) => {
      throw new SkipModule(at.text(0))
    }),
    local(
      'exit(code?, message?): never',
      'Ends the module: with 0 as `skip` does, otherwise the step fails, and its error is the message.',
      (at) => {
        throw new EndRun(at.number(0, 0), at.text(1))
      },
    ),
    local(
      'pick_valid(a, b, …): value',
      'The first of at most ten values that is not empty, false or an object without keys.',
      ({ args }) => args.slice(0, MAX_PICKED).find(isValid) ?? '',
    ),
    local('cat_file(path): text', 'Prints a file and returns its text.', async (context) => {
      const text = await readText(context.path(0), context)
      context.print('stdout', text.endsWith('\n') || text === '' ? text : `${text}\n`)
      return text
    }),
    local('set_var(name, value): value', 'Sets a variable of the module.', (context) => {
      context.setVariable(context.text(0), context.args[1] ?? null)
      return context.args[1] ?? null
    }),
    local(
      'get_var(name): value',
      'Reads a variable; nothing if it does not exist.',
      (context) => context.variable(context.text(0)) ?? '',
    ),
    sending(
      'run_module(name, target, params?): object',
      'Starts a module; params are `key=value` separated by commas.',
      startRun('module'),
    ),
    sending(
      'run_flow(name, target, params?): object',
      'Starts a flow; params are `key=value` separated by commas.',
      startRun('flow'),
    ),
    local('uuid(): text', 'A random UUID.', ({ ports }) => ports.uuid()),
    local('random_string(length?): text', 'Random letters and digits, 16 by default.', ({ number, ports }) =>
      Array.from(
        { length: Math.min(MAX_RANDOM, Math.max(0, Math.trunc(number(0, 0))) || 16) },
        () => ALPHANUMERIC[Math.floor(ports.random() * ALPHANUMERIC.length)],
      ).join(''),
    ),
    local('base64_encode(text): text', 'As Base64.', (at) => Buffer.from(at.text(0)).toString('base64')),
    local('base64_decode(text): text', 'The decoded text; "" for a text that is not Base64.', (at) => {
      const text = at.text(0).replaceAll(/[\r\n]/g, '')
      return BASE64.test(text) ? Buffer.from(text, 'base64').toString('utf8') : ''
    }),
    local(
      'os_getenv(name): text',
      'An environment variable of commands.',
      ({ text, env }) => env[text(0)] ?? '',
    ),
    local(
      'os_setenv(name, value): bool',
      'Sets an environment variable for the following commands.',
      (context) => {
        if (!/^[A-Za-z_]\w*$/.test(context.text(0)))
          throw new NoResult('an environment variable needs a plain name')
        context.setEnv(context.text(0), context.text(1))
      },
    ),
    local(
      'sudo_auth(password?, keepalive?): bool',
      'True if commands run as root or sudo requires no password; passwords are not accepted.',
      async ({ exec }) =>
        (await exec(['/bin/sh', '-c', '[ "$(id -u)" = 0 ] || sudo -n true'])).exitCode === 0,
    ),
  ],
}
