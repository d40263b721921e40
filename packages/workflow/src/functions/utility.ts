import { setTimeout as pause } from 'node:timers/promises'
import { StopProgram } from '../expression/engine.ts'
import { paramsProblems } from '@scanfarm/contracts'
import type { Json } from '../model.ts'
import {
  fn,
  isObject,
  NoResult,
  numberArg,
  textArg,
  type FunctionContext,
  type FunctionGroup,
} from './define.ts'
import { readText } from './file.ts'
import { pathArg, programPath, writeText } from './files.ts'
import { join } from 'node:path'

const isBlank = (value: Json): boolean =>
  typeof value === 'string' && ['', 'undefined'].includes(value.trim())

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || isBlank(value) || (Array.isArray(value) && value.length === 0)

const isValid = (value: Json): boolean =>
  !isEmpty(value) && value !== false && !(isObject(value) && Object.keys(value).length === 0)

/** Values that `pick_valid` looks at. */
const MAX_PICKED = 10

const execute = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const { exitCode, stdout, stderr, problem } = await context.exec(['/bin/sh', '-c', textArg(args, 0)])
  if (stderr !== '') context.print('stderr', stderr)
  if (exitCode !== 0) throw new NoResult(problem || `the command ended with exit code ${exitCode}`)
  return stdout.trim()
}

/** Runs a program of another language; what it prints is the answer. */
const script =
  (candidates: readonly (readonly string[])[], extension: string, fromFile: boolean) =>
  async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
    const path = fromFile
      ? await programPath(args, 0, context)
      : join(context.folders.temp, `script-${context.ports.uuid()}${extension}`)
    if (!fromFile) await writeText(path, textArg(args, 0), context)
    for (const command of candidates) {
      const [program = ''] = command
      const found = await context.exec(['/bin/sh', '-c', 'command -v "$0"', program])
      if (found.exitCode !== 0) continue
      const { exitCode, stdout, stderr, problem } = await context.exec([...command, path])
      if (stderr !== '') context.print('stderr', stderr)
      if (exitCode !== 0) throw new NoResult(problem || `the program ended with exit code ${exitCode}`)
      return stdout.trim()
    }
    throw new NoResult(`none of these programs is there: ${candidates.map(([name]) => name).join(', ')}`)
  }

const PYTHON = [['python3'], ['uv', 'run']] as const
const TYPESCRIPT = [['bun', 'run'], ['deno', 'run'], ['node']] as const

const startRun =
  (kind: 'module' | 'flow') =>
  async (args: readonly Json[], { services }: FunctionContext): Promise<Json> => {
    if (services.run === undefined) throw new Error(`run_${kind} needs a server; this run has none`)
    const params = Object.fromEntries(
      textArg(args, 2)
        .split(',')
        .filter((pair) => pair.includes('='))
        .map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()]),
    )
    const [problem] = paramsProblems(params)
    if (problem !== undefined) throw new Error(`run_${kind}: ${problem.message}`)
    return await services.run({ kind, name: textArg(args, 0), target: textArg(args, 1), params })
  }

/** Ends the module: told apart from other stops by its class. */
export class SkipModule extends StopProgram {}

/** Ends the module: code 0 well, any other as a failure. */
export class EndRun extends StopProgram {
  readonly code: number

  constructor(code: number, message: string) {
    super(message || `exit(${code})`)
    this.code = code
  }
}

const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Longest random text. */
const MAX_RANDOM = 4096
const ALPHANUMERIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

export const UTILITY_FUNCTIONS: FunctionGroup = {
  title: 'Utilities',
  functions: [
    fn(
      'len(value)',
      'number',
      'Bytes of a text in UTF-8, items of a list, 0 for anything else.',
      ([value]) =>
        typeof value === 'string' ? Buffer.byteLength(value) : Array.isArray(value) ? value.length : 0,
    ),
    fn(
      'is_empty(value)',
      'bool',
      'Is it nothing, a blank text, the text "undefined" or a list without items?',
      (args) => isEmpty(args[0]),
    ),
    fn('is_not_empty(value)', 'bool', 'The opposite of `is_empty`.', (args) => !isEmpty(args[0])),
    fn(
      'exec_cmd(command)',
      'text',
      'Runs a shell command on the executor and answers its stdout without blanks at both ends; "" when it fails, and the log says why.',
      execute,
      ['bash'],
    ),
    fn('exec_python(code)', 'text', 'Runs Python and answers what it prints.', script(PYTHON, '.py', false)),
    fn(
      'exec_python_file(path)',
      'text',
      'Runs a Python file and answers what it prints.',
      script(PYTHON, '.py', true),
    ),
    fn(
      'exec_ts(code)',
      'text',
      'Runs TypeScript with bun, deno or node and answers what it prints.',
      script(TYPESCRIPT, '.ts', false),
    ),
    fn(
      'exec_ts_file(path)',
      'text',
      'Runs a TypeScript file and answers what it prints.',
      script(TYPESCRIPT, '.ts', true),
    ),
    fn('command_exists(name)', 'bool', 'Is there such a program on PATH?', async (args, { exec }) => {
      const { exitCode, stdout } = await exec(['/bin/sh', '-c', 'command -v "$0"', textArg(args, 0)])
      // Words of the shell itself have no path.
      return exitCode === 0 && stdout.includes('/')
    }),
    fn('sleep(seconds)', 'nothing', 'Waits; a cancel ends the wait.', async (args, { signal }) => {
      await pause(Math.min(numberArg(args, 0, 0) * 1000, 2 ** 31 - 1), undefined, { signal })
      return null
    }),
    fn(
      'skip(message?)',
      'never',
      'Ends the module here; its status is skipped and the flow goes on.',
      (args) => {
        throw new SkipModule(textArg(args, 0))
      },
    ),
    fn(
      'exit(code?, message?)',
      'never',
      'Ends the module: with 0 as `skip` does, otherwise the step fails, and its error is the message.',
      (args) => {
        throw new EndRun(numberArg(args, 0, 0), textArg(args, 1))
      },
    ),
    fn(
      'pick_valid(a, b, …)',
      'value',
      'The first of at most ten values that is not empty, false or an object without keys.',
      (args) => args.slice(0, MAX_PICKED).find(isValid) ?? '',
    ),
    fn('cat_file(path)', 'text', 'Prints a file and answers its text.', async (args, context) => {
      const text = await readText(pathArg(args, 0, context), context)
      context.print('stdout', text.endsWith('\n') || text === '' ? text : `${text}\n`)
      return text
    }),
    fn('set_var(name, value)', 'value', 'Sets a variable of the module.', (args, context) => {
      context.setVariable(textArg(args, 0), args[1] ?? null)
      return args[1] ?? null
    }),
    fn(
      'get_var(name)',
      'value',
      'Reads a variable; nothing when it is not there.',
      (args, context) => context.variable(textArg(args, 0)) ?? '',
    ),
    fn(
      'run_module(name, target, params?)',
      'object',
      'Starts a module; params are `key=value` separated by commas.',
      startRun('module'),
    ),
    fn(
      'run_flow(name, target, params?)',
      'object',
      'Starts a flow; params are `key=value` separated by commas.',
      startRun('flow'),
    ),
    fn('uuid()', 'text', 'A random UUID.', (_args, { ports }) => ports.uuid()),
    fn('random_string(length?)', 'text', 'Random letters and digits, 16 by default.', (args, { ports }) =>
      Array.from(
        { length: Math.min(MAX_RANDOM, Math.max(0, Math.trunc(numberArg(args, 0, 0))) || 16) },
        () => ALPHANUMERIC[Math.floor(ports.random() * ALPHANUMERIC.length)],
      ).join(''),
    ),
    fn('base64_encode(text)', 'text', 'As Base64.', (args) =>
      Buffer.from(textArg(args, 0)).toString('base64'),
    ),
    fn('base64_decode(text)', 'text', 'From Base64; "" for a text that is none.', (args) => {
      const text = textArg(args, 0).replaceAll(/[\r\n]/g, '')
      return BASE64.test(text) ? Buffer.from(text, 'base64').toString('utf8') : ''
    }),
    fn(
      'os_getenv(name)',
      'text',
      'A variable of the environment that commands have.',
      (args, { env }) => env[textArg(args, 0)] ?? '',
    ),
    fn(
      'os_setenv(name, value)',
      'bool',
      'Sets a variable of the environment of the commands that follow.',
      (args, context) => {
        if (!/^[A-Za-z_]\w*$/.test(textArg(args, 0)))
          throw new NoResult('an environment variable needs a plain name')
        context.setEnv(textArg(args, 0), textArg(args, 1))
        return true
      },
    ),
    fn(
      'sudo_auth(password?, keepalive?)',
      'bool',
      'True when commands run as root or sudo asks for no password; passwords are not taken.',
      async (_args, { exec }) =>
        (await exec(['/bin/sh', '-c', '[ "$(id -u)" = 0 ] || sudo -n true'])).exitCode === 0,
    ),
  ],
}
