import { fn, type FunctionGroup, type Run } from './define.ts'
import { boundedMessage } from '@scanfarm/language'

type Level = 'debug' | 'info' | 'warn' | 'error'

const log =
  (level: Level): Run =>
  (context) => {
    const line = context.args.map((_, index) => context.text(index)).join(' ')
    context.print('stdout', `[${level.toUpperCase()}] ${line}\n`)
    context.recorder.log(level, boundedMessage(line))
    return context.text(0)
  }

const COLOURS = { green: 32, blue: 34, yellow: 33, red: 31 } as const

const print =
  (colour: keyof typeof COLOURS): Run =>
  (context) => {
    context.print('stdout', `\u001B[${COLOURS[colour]}m${context.text(0)}\u001B[0m\n`)
    return context.text(0)
  }

export const LOG_FUNCTIONS: FunctionGroup = {
  title: 'Log and output',
  functions: [
    fn(
      'log_debug(message): text',
      'Writes `[DEBUG] message` to the output and the log of the run; returns the message.',
      log('debug'),
    ),
    fn(
      'log_info(message): text',
      'Writes `[INFO] message` to the output and the log of the run; returns the message.',
      log('info'),
    ),
    fn(
      'log_warn(message): text',
      'Writes `[WARN] message` to the output and the log of the run; returns the message.',
      log('warn'),
    ),
    fn(
      'log_error(message): text',
      'Writes `[ERROR] message` to the output and the log of the run; returns the message.',
      log('error'),
    ),
    fn(
      'print_green(message): text',
      'Writes a green line to the output; returns the message.',
      print('green'),
    ),
    fn('print_blue(message): text', 'Writes a blue line to the output; returns the message.', print('blue')),
    fn(
      'print_yellow(message): text',
      'Writes a yellow line to the output; returns the message.',
      print('yellow'),
    ),
    fn('print_red(message): text', 'Writes a red line to the output; returns the message.', print('red')),
    fn('printf(message): text', 'Writes a line to the output; returns the message.', (context) => {
      context.print('stdout', `${context.text(0)}\n`)
      return context.text(0)
    }),
  ],
}
