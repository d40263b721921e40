import { setTimeout as pause } from 'node:timers/promises'
import { StopProgram } from '../expression/engine.ts'
import type { Json } from '../model.ts'
import { fn, isObject, numberArg, textArg, type FunctionContext, type FunctionGroup } from './define.ts'

const lengthOf = (value: Json | undefined): number => {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return isObject(value) ? Object.keys(value).length : 0
}

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  value === 0 ||
  (typeof value === 'object' && lengthOf(value) === 0)

const execute = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const { stdout, stderr, problem } = await context.exec(['/bin/sh', '-c', textArg(args, 0)])
  if (stderr !== '') context.print('stderr', stderr)
  if (problem !== '') context.recorder.log('warn', `exec_cmd: ${problem}`)
  return stdout.trimEnd()
}

/** Ends the module: told apart from other stops by its class. */
export class SkipModule extends StopProgram {}

export const UTILITY_FUNCTIONS: FunctionGroup = {
  title: 'Utilities',
  functions: [
    fn('len(value)', 'number', 'Characters of a text, items of a list, keys of an object.', (args) =>
      lengthOf(args[0]),
    ),
    fn('is_empty(value)', 'bool', 'Is it nothing, "", 0, false, or without items?', (args) =>
      isEmpty(args[0]),
    ),
    fn('is_not_empty(value)', 'bool', 'The opposite of `is_empty`.', (args) => !isEmpty(args[0])),
    fn(
      'exec_cmd(command)',
      'text',
      'Runs a shell command here and answers its stdout without line breaks at the end; a failure is only logged.',
      execute,
      ['bash'],
    ),
    fn('sleep(seconds)', 'true', 'Waits; a cancel ends the wait.', async (args, { signal }) => {
      await pause(Math.min(numberArg(args, 0, 0) * 1000, 2 ** 31 - 1), undefined, { signal })
      return true
    }),
    fn(
      'skip(message?)',
      'never',
      'Ends the module here; its status is skipped and the flow goes on.',
      (args) => {
        throw new SkipModule(textArg(args, 0))
      },
    ),
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
    fn('uuid()', 'text', 'A random UUID.', (_args, { ports }) => ports.uuid()),
    fn(
      'os_getenv(name)',
      'text',
      'A variable of the environment that commands have.',
      (args, { env }) => env[textArg(args, 0)] ?? '',
    ),
  ],
}
