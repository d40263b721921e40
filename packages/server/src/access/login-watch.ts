import type { ServerResponse } from 'node:http'
import type { Role } from '@scanfarm/contracts'

/** Time between two checks. An answer ends at most this long plus one query after its login. */
const CHECK_MS = 2_000
/** Without an answer of the database for this long, the login counts as ended. */
const UNCHECKED_MS = 30_000

/** The parts of a caller that must not change. */
interface Identity {
  readonly id: number
  readonly role: Role | undefined
}

interface Watched {
  readonly caller: Identity
  readonly current: () => Promise<Identity | undefined>
  readonly responses: Set<ServerResponse>
  checkedAt: number
  checking: boolean
}

/**
 * Closes answers that are still being sent when their login has ended or has got another role: streams and downloads.
 * All answers of one login share one check, whichever master ended it.
 */
export class LoginWatch {
  readonly #watched = new Map<string, Watched>()
  #timer: NodeJS.Timeout | undefined

  /** `login` names the login, `current` returns the caller that it identifies now; undefined: it has ended. */
  watch(
    login: string,
    caller: Identity,
    response: ServerResponse,
    current: () => Promise<Identity | undefined>,
  ): void {
    if (response.closed) return
    const key = `${caller.role} ${login}`
    const one = this.#watched.get(key) ?? {
      caller,
      current,
      responses: new Set(),
      checkedAt: performance.now(),
      checking: false,
    }
    this.#watched.set(key, one)
    one.responses.add(response)
    this.#timer ??= setInterval(() => this.#turn(), CHECK_MS).unref()
  }

  #turn(): void {
    for (const [key, { responses }] of this.#watched) {
      for (const response of responses) if (response.closed) responses.delete(response)
      if (responses.size === 0) this.#watched.delete(key)
    }
    if (this.#watched.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    for (const one of this.#watched.values())
      if (performance.now() - one.checkedAt > UNCHECKED_MS) close(one)
      else if (!one.checking) void this.#check(one)
  }

  async #check(one: Watched): Promise<void> {
    one.checking = true
    try {
      const now = await one.current()
      one.checkedAt = performance.now()
      if (now === undefined || now.id !== one.caller.id || now.role !== one.caller.role) close(one)
    } catch {
      // The database does not answer: the next turns check again, until UNCHECKED_MS have passed.
    } finally {
      one.checking = false
    }
  }
}

/** A reset drops the bytes that wait in the kernel. The client connects again and gets the refusal. */
const close = ({ responses }: Watched): void => {
  for (const response of responses) {
    response.socket?.resetAndDestroy()
    response.destroy()
  }
}
