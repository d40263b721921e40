import { fn, textArg, type FunctionContext, type FunctionGroup } from './define.ts'
import type { Json } from '../model.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

const log =
  (level: Level) =>
  (args: readonly Json[], context: FunctionContext): Json => {
    const line = args.map((_, index) => textArg(args, index)).join(' ')
    context.print('stdout', `[${level.toUpperCase()}] ${line}\n`)
    context.recorder.log(level, line)
    return true
  }

const COLOURS = { green: 32, blue: 34, yellow: 33, red: 31 } as const

const print =
  (colour: keyof typeof COLOURS) =>
  (args: readonly Json[], context: FunctionContext): Json => {
    context.print('stdout', `\u001B[${COLOURS[colour]}m${textArg(args, 0)}\u001B[0m\n`)
    return true
  }

export const LOG_FUNCTIONS: FunctionGroup = {
  title: 'Log and output',
  functions: [
    fn(
      'log_debug(message)',
      'true',
      'Writes `[DEBUG] message` to the output and the log of the run.',
      log('debug'),
    ),
    fn(
      'log_info(message)',
      'true',
      'Writes `[INFO] message` to the output and the log of the run.',
      log('info'),
    ),
    fn(
      'log_warn(message)',
      'true',
      'Writes `[WARN] message` to the output and the log of the run.',
      log('warn'),
    ),
    fn(
      'log_error(message)',
      'true',
      'Writes `[ERROR] message` to the output and the log of the run.',
      log('error'),
    ),
    fn('print_green(message)', 'true', 'Writes a green line to the output.', print('green')),
    fn('print_blue(message)', 'true', 'Writes a blue line to the output.', print('blue')),
    fn('print_yellow(message)', 'true', 'Writes a yellow line to the output.', print('yellow')),
    fn('print_red(message)', 'true', 'Writes a red line to the output.', print('red')),
    fn('printf(message)', 'true', 'Writes a line to the output.', (args, context) => {
      context.print('stdout', `${textArg(args, 0)}\n`)
      return true
    }),
  ],
}
