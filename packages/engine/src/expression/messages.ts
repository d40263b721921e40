import { MESSAGE_CHARS, type Json } from '@scanfarm/language'

/** Messages between the expression engine and its threads. */

export interface Job {
  readonly kind: 'job'
  readonly code: string
  /** Globals by name, as JSON text. */
  readonly globals: string
  /** Names of the functions that the main thread executes, as JSON text. */
  readonly functions: string
}

export const EXPRESSION_LIMITS = {
  /** Milliseconds of computation. Time spent waiting for functions does not count. */
  timeMs: 10_000,
  memoryBytes: 64 << 20,
  stackBytes: 256 << 10,
  /** Maximum characters of the result as JSON, and of the arguments and the result of each function. */
  resultChars: 16 << 20,
  /** Maximum characters of an error. */
  messageChars: MESSAGE_CHARS,
}
export type ExpressionLimits = Readonly<typeof EXPRESSION_LIMITS>

export type FromThread =
  /** QuickJS is loaded. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'call'; readonly name: string; readonly args: string }
  | { readonly kind: 'value'; readonly json: string }
  | { readonly kind: 'error'; readonly message: string }

/** Reply to a call. */
export type Answer =
  { readonly kind: 'value'; readonly json: string } | { readonly kind: 'error'; readonly message: string }

export type ToThread = Job | Answer

/** Indexes into the shared memory of a thread. 1: a message was sent. */
export const SENT = 0
/** 1: the program must stop. */
export const STOP = 1

export type Outcome =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'cancelled' }
