import { inspect } from 'node:util'
import winston from 'winston'
import { foreignVariable } from './config/environment.ts'
import { redact } from './redact.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** The variable parts of a log line: numbers, words, ids, an `error`. */
export type LogFields = Readonly<Record<string, unknown>>

/** The message is a constant sentence. Everything that varies belongs in the fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger that adds these fields to every line. */
  child(fields: LogFields): Logger
}

export interface LoggerOptions {
  readonly level: LogLevel
  /** Default: standard output. Colored lines on a terminal, or with the usual `FORCE_COLOR`; JSON otherwise. */
  readonly stream?: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

const clean = winston.format((info) => Object.assign(info, redact({ ...info })))

const json = winston.format.combine(
  clean(),
  winston.format.timestamp(),
  winston.format.json({ deterministic: false }),
)

const COLOURS: Readonly<Record<string, string>> = {
  debug: '\x1b[2m',
  info: '\x1b[32m',
  warn: '\x1b[33m',
  error: '\x1b[31m',
}
const RESET = '\x1b[0m'

const factText = (value: unknown): string =>
  typeof value === 'string' ? value : inspect(value, { breakLength: Infinity, depth: 4 })

const prettyLine = (info: winston.Logform.TransformableInfo): string => {
  const { level, message, timestamp, ...facts } = info
  const mark = `${COLOURS[level] ?? ''}${level.padEnd(5)}${RESET}`
  const words = Object.entries(facts).map(([name, value]) => `${name}=${factText(value)}`)
  return [String(timestamp).slice(11, 23), mark, String(message), ...words].join(' ')
}

const pretty = winston.format.combine(clean(), winston.format.timestamp(), winston.format.printf(prettyLine))

const wrap = (target: winston.Logger, fixed: LogFields): Logger => {
  const write = (level: LogLevel) => (message: string, fields?: LogFields) => {
    // winston formats and masks a line before it looks at the level.
    if (target.isLevelEnabled(level)) target.log({ ...fixed, ...fields, level, message })
  }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => wrap(target, { ...fixed, ...fields }),
  }
}

/** The root logger of a process. Masks secrets, credentials in URLs, and fields whose names mark them as secret. */
export const createLogger = (options: LoggerOptions): Logger => {
  const stream = options.stream ?? process.stdout
  const coloured = stream.isTTY === true || (foreignVariable('FORCE_COLOR') ?? '0') !== '0'
  const target = winston.createLogger({
    level: options.level,
    format: coloured ? pretty : json,
    transports: [new winston.transports.Stream({ stream })],
  })
  return wrap(target, {})
}

/** Logs nothing. For programs whose output is their result. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}
