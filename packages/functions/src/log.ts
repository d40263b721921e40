import { local, type FunctionGroup, type Run } from './define.ts'
import { boundedMessage } from '@scanfarm/language'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

const log =
  (level: (typeof LEVELS)[number]): Run =>
  (context) => {
    const line = context.args.map((_, index) => context.text(index)).join(' ')
    context.print('stdout', `[${level.toUpperCase()}] ${line}\n`)
    context.recorder.log(level, boundedMessage(line))
    return context.text(0)
  }

const COLOURS = { green: 32, blue: 34, yellow: 33, red: 31 }

const print =
  (code: number): Run =>
  (context) => {
    context.print('stdout', `\u001B[${code}m${context.text(0)}\u001B[0m\n`)
    return context.text(0)
  }

export const LOG_FUNCTIONS: FunctionGroup = {
  title: 'Log and output',
  functions: [
    ...LEVELS.map((level) =>
      local(
        `log_${level}(message): text`,
        `Writes \`[${level.toUpperCase()}] message\` to the output and the log of the run; returns the message.`,
        log(level),
      ),
    ),
    ...Object.entries(COLOURS).map(([colour, code]) =>
      local(
        `print_${colour}(message): text`,
        `Writes a ${colour} line to the output; returns the message.`,
        print(code),
      ),
    ),
    local('printf(message): text', 'Writes a line to the output; returns the message.', (context) => {
      context.print('stdout', `${context.text(0)}\n`)
      return context.text(0)
    }),
  ],
}
