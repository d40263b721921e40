import type { RunRecorder } from '@scanfarm/contracts'
import { plain } from '../client/table.ts'
import { hasColours, printLine, type Terminal } from '../terminal.ts'

const COLOURS: Readonly<Record<string, string>> = {
  completed: '\x1b[32m',
  failed: '\x1b[31m',
  skipped: '\x1b[33m',
  cancelled: '\x1b[33m',
}
const RESET = '\x1b[0m'

/** Prints steps, output and artifacts of a run as they happen. */
export const createNarrator = (terminal: Terminal): RunRecorder => {
  const names = new Map<string, string>()
  // log_info() and similar functions print their message, log it, and return it as output: it is shown once.
  let printed: { readonly key: string; readonly chunk: Buffer } | undefined
  let answer: { readonly key: string; readonly chunk: Buffer } | undefined
  const say = (line: string): void => printLine(terminal, line)
  const word = (status: string): string =>
    hasColours(terminal) ? `${COLOURS[status] ?? ''}${status}${RESET}` : status
  return {
    plan: () => undefined,
    stepOpened: ({ key, name, command }) => {
      names.set(key, name)
      say(`> ${plain(name)}${command === '' ? '' : `: ${plain(command)}`}`)
    },
    output: (key, stream, chunk) => {
      const again = answer?.key === key && answer.chunk.equals(chunk)
      answer = undefined
      printed = { key, chunk }
      if (!again) (stream === 'stdout' ? terminal.out : terminal.err).write(chunk)
    },
    stepClosed: ({ key, status, errorMessage, durationMs }) => {
      if (answer?.key === key) answer = undefined
      const why = errorMessage === '' ? '' : `: ${plain(errorMessage)}`
      say(`< ${plain(names.get(key) ?? key)} ${word(status)} (${durationMs} ms)${why}`)
    },
    tally: () => undefined,
    currentPid: () => undefined,
    artifact: ({ type, path }) => say(`* ${type}: ${plain(path)}`),
    event: ({ topic, name }) => say(`! ${plain(topic)} ${plain(name)}`),
    log: (level, line) => {
      if (printed?.chunk.equals(Buffer.from(`[${level.toUpperCase()}] ${line}\n`)) === true)
        answer = { key: printed.key, chunk: Buffer.from(`${line}\n`) }
      else say(`${level}: ${plain(line)}`)
    },
  }
}

/** Prints the same as one JSON object per line, each with the fields of `about`. */
export const createJsonNarrator = (terminal: Terminal, about: object = {}): RunRecorder => {
  const report = (what: string, facts: object): void =>
    printLine(terminal, JSON.stringify({ what, ...about, ...facts }))
  return {
    plan: (totalSteps) => report('plan', { totalSteps }),
    stepOpened: (step) => report('step-opened', step),
    output: (key, stream, chunk) => report('output', { key, stream, text: chunk.toString('utf8') }),
    stepClosed: (step) => report('step-closed', step),
    tally: () => undefined,
    currentPid: () => undefined,
    artifact: (found) => report('artifact', found),
    event: (event) => report('event', event),
    log: (level, line) => report('log', { level, line }),
  }
}
