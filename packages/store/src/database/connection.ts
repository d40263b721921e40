import pg from 'pg'
import { watchStatements } from './statement-watch.ts'

export interface ConnectionOptions {
  /** `postgres://…` */
  readonly url: string
  /** Most connections at once. */
  readonly poolSize: number
  /** Shown in pg_stat_activity. */
  readonly applicationName: string
  /** Time limit of a statement. Then the server cancels it, or without a response the connection is closed. 0: none. Default 30 s. */
  readonly statementTimeoutMs?: number
}

/** Log of events of the database connection: a constant message and its facts. */
export type StoreLog = (message: string, facts: Readonly<Record<string, unknown>>) => void

const CONNECT_TIMEOUT_MS = 5_000
export const STATEMENT_TIMEOUT_MS = 30_000
const IDLE_TIMEOUT_MS = 60_000

const INT8 = 20
const TIMESTAMPTZ = 1184

const toSafeInteger = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is too large for a number`)
  return value
}

/**
 * Postgres writes `2026-01-31 12:00:00.123456+00`, with the offset of the session's zone. Pages have thousands of these,
 * so the usual zone is converted without parsing a date.
 */
const toIso = (text: string): string => {
  if (text.length > 21 && text.endsWith('+00') && text.charAt(10) === ' ') {
    const milliseconds = text.charAt(19) === '.' ? `${text.slice(20, -3)}00`.slice(0, 3) : '000'
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`
  }
  return new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')).toISOString()
}

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): unknown => {
    if (oid === INT8) return toSafeInteger
    if (oid === TIMESTAMPTZ) return toIso
    return pg.types.getTypeParser(oid, format)
  },
}

/**
 * A pool that works behind a transaction pooler: its connections keep no session state but the statement timeout. Behind a
 * pooler that setting reaches some server connection, whose other clients set the same; `watchStatements` covers the rest.
 */
export const openPool = (options: ConnectionOptions, log?: StoreLog): pg.Pool => {
  const timeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    types,
    // The pool waits for a returned promise; its types omit that.
    onConnect: (client): unknown => {
      if (timeoutMs > 0)
        watchStatements(client, timeoutMs, (step) =>
          log?.('a database statement is overdue', { step, timeoutMs, application: options.applicationName }),
        )
      return client.query(`set statement_timeout = ${timeoutMs}`)
    },
  })
  // A connection may be lost while it is idle, or checked out between two statements. The pool replaces it, and its user
  // gets the error from the next statement, but without a listener the event would end the process.
  pool.on('error', (error) => log?.('an idle database connection was lost', { error: error.message }))
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

const LOST_SQLSTATES = new Set(['57P01', '57P02', '57P03', '53300', '25006'])
const LOST_SYSTEM_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])
// pg sets no code on these errors.
const LOST_MESSAGES = /Connection terminated|timeout exceeded when trying to connect|connection timeout/i

// Node's errors may come from another realm, where instanceof fails.
const codeOf = (error: unknown): string =>
  Error.isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** The database cannot be reached, is starting or stopping, or has closed the connection. */
export const isConnectionLoss = (error: unknown): boolean => {
  if (!Error.isError(error)) return false
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.some(isConnectionLoss)
  const code = codeOf(error)
  return (
    LOST_SQLSTATES.has(code) ||
    LOST_SYSTEM_ERRORS.has(code) ||
    code.startsWith('08') ||
    LOST_MESSAGES.test(error.message)
  )
}

/** Deadlock or serialization failure: the transaction was rolled back and can be retried. */
export const isConflict = (error: unknown): boolean => ['40P01', '40001'].includes(codeOf(error))

/** The statement exceeded its time limit and was cancelled; its transaction was rolled back. */
export const isStatementTimeout = (error: unknown): boolean => codeOf(error) === '57014'

export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === '23505'

/** The schema or one of its functions does not exist: the database needs a migration. */
export const isMissingSchema = (error: unknown): boolean => ['3F000', '42883'].includes(codeOf(error))

/** The transaction did not get a lock within its `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'
