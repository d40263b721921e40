import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '@scanfarm/contracts'
import { errorBody } from './error-body.ts'
import { requestIdOf } from './request-id.ts'
import { sendJson } from './send.ts'

export interface BodyPace {
  /** A body that does not move for this long is given up. */
  readonly idleMs: number
  /** After this time a body must have come in at the least rate, on the average. */
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
 * Gives up requests whose body does not come in: 408, and the connection is closed. Every request with a body is
 * watched from its head to the end of its body, also while nothing of the server reads it.
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
    this.#timer ??= setInterval(() => this.#look(), this.#pace.idleMs / CHECKS_PER_IDLE).unref()
  }

  #look(): void {
    const now = performance.now()
    for (const one of this.#watched) {
      const { bytesRead } = one.request.socket
      if (one.request.complete) this.#watched.delete(one)
      else if (bytesRead > one.bytes) {
        one.bytes = bytesRead
        one.movedAt = now
      }
      if (!one.request.complete && this.#isSlow(one, now)) this.#giveUp(one)
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

  #giveUp(one: Watched): void {
    const { request, response } = one
    this.#watched.delete(one)
    if (response.headersSent) return void request.destroy()
    const requestId = requestIdOf(request)
    const refusal = new AppError('request_timeout', 'the body of the request did not come in in time')
    sendJson(response, requestId, refusal.status, errorBody(refusal, requestId), { Connection: 'close' })
    response.once('finish', () => request.destroy())
  }
}
