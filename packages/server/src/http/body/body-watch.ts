import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '@scanfarm/contracts'
import { errorBody } from '../refusal.ts'
import { requestIdOf } from '../observe-requests.ts'
import { sendJson } from '../send.ts'

export interface BodyPace {
  /** A body without progress for this long is aborted. */
  readonly idleMs: number
  /** After this time the average rate of a body must be at least `bytesPerSecond`. */
  readonly graceMs: number
  readonly bytesPerSecond: number
}

interface Watched {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly since: number
  readonly bytesBefore: number
  bytes: number
  movedAt: number
}

const CHECKS_PER_IDLE = 5

/**
 * Answers 408 and closes the connection if a request body arrives too slowly. Every request with a body is watched from
 * its headers to the end of its body, even while no handler reads it.
 */
export class BodyWatch {
  readonly #pace: BodyPace
  readonly #watched = new Set<Watched>()
  #timer: NodeJS.Timeout | undefined

  constructor(pace: BodyPace) {
    this.#pace = pace
  }

  watch(request: IncomingMessage, response: ServerResponse): void {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    if (encoding === undefined && Number(length ?? 0) === 0) return
    const now = performance.now()
    const bytes = request.socket.bytesRead
    const one: Watched = { request, response, since: now, bytesBefore: bytes, bytes, movedAt: now }
    this.#watched.add(one)
    request.once('close', () => this.#watched.delete(one))
    this.#timer ??= setInterval(() => this.#check(), this.#pace.idleMs / CHECKS_PER_IDLE).unref()
  }

  #check(): void {
    const now = performance.now()
    for (const one of this.#watched) {
      const { bytesRead } = one.request.socket
      if (one.request.complete) this.#watched.delete(one)
      else if (bytesRead > one.bytes) {
        one.bytes = bytesRead
        one.movedAt = now
      }
      if (!one.request.complete && this.#isSlow(one, now)) this.#abort(one)
    }
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #isSlow({ since, bytesBefore, bytes, movedAt }: Watched, now: number): boolean {
    const { idleMs, graceMs, bytesPerSecond } = this.#pace
    if (now - movedAt >= idleMs) return true
    const late = now - since - graceMs
    return late > 0 && bytes - bytesBefore < (bytesPerSecond * late) / 1_000
  }

  #abort(one: Watched): void {
    const { request, response } = one
    this.#watched.delete(one)
    if (response.headersSent) return void request.destroy()
    const requestId = requestIdOf(request)
    const refusal = new AppError('request_timeout', 'the request body arrived too slowly')
    sendJson(response, requestId, refusal.status, errorBody(refusal, requestId), { Connection: 'close' })
    response.once('finish', () => request.destroy())
  }
}
