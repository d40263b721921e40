import { AppError } from '@scanfarm/contracts'
import { ByteBudget } from '../address-limits.ts'

const MIB = 1024 * 1024
/** Unauthenticated bodies: in total and for each address. */
const PUBLIC_BYTES = 16 * MIB
const PUBLIC_BYTES_OF_ADDRESS = 4 * MIB
/** Bodies of callers: two of the largest. Parsing and handling one keeps the process busy and takes a multiple of it. */
const CALLER_BYTES = 32 * MIB
/** Of each body of a caller. Short requests, like a cancel, do not wait for large ones. */
const FREE_BYTES = 64 * 1024

const RETRY_SECONDS = 5
const later = { retryAfter: RETRY_SECONDS }

const tooManyPublic = (): AppError =>
  new AppError('unavailable', 'too many bytes of unauthenticated requests are in progress; try again', later)
const tooManyOfCallers = (): AppError =>
  new AppError(
    'too_many_requests',
    `request bodies of more than ${CALLER_BYTES} bytes are in progress; try again, or send smaller requests`,
    later,
  )

/** Accounts for the bytes of one body until its request was handled. */
export interface BodyAccount extends Disposable {
  /** The length that the headers state; 0 if they state none. Throws if there is no room for it. */
  announce(bytes: number): void
  /** The refusal if there is no room for the bytes that have arrived so far. */
  arrived(bytes: number): AppError | undefined
}

/** Bounds the bytes of request bodies in memory at the same time. */
export class BodyBudgets {
  readonly #public = new ByteBudget(PUBLIC_BYTES, PUBLIC_BYTES_OF_ADDRESS)
  readonly #callers = new ByteBudget(CALLER_BYTES, CALLER_BYTES)

  /** A length without bytes reserves nothing: guests could reserve everything. */
  ofAddress(key: string): BodyAccount {
    const account = accountOf(this.#public, key, tooManyPublic)
    return { ...account, announce: () => undefined }
  }

  ofCaller(): BodyAccount {
    const account = accountOf(this.#callers, '', tooManyOfCallers)
    const arrived = (bytes: number): AppError | undefined => account.arrived(Math.max(0, bytes - FREE_BYTES))
    return {
      ...account,
      arrived,
      announce: (bytes) => {
        const refusal = arrived(bytes)
        if (refusal !== undefined) throw refusal
      },
    }
  }
}

const accountOf = (budget: ByteBudget, key: string, refusal: () => AppError) => {
  let taken = 0
  return {
    arrived: (bytes: number): AppError | undefined => {
      if (bytes <= taken) return undefined
      if (!budget.take(key, bytes - taken)) return refusal()
      taken = bytes
      return undefined
    },
    [Symbol.dispose]: (): void => {
      budget.give(key, taken)
      taken = 0
    },
  }
}
