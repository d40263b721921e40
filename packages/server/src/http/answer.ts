import type { Readable } from 'node:stream'

export type Headers = Readonly<Record<string, string | number>>

/** What a handler returns when a plain resource does not say enough: another status, bytes, text, headers. */
export class Answer {
  readonly status: number
  readonly body: unknown
  readonly form: 'json' | 'text' | 'bytes' | 'none'
  readonly headers: Headers

  constructor(status: number, form: Answer['form'], body: unknown, headers: Headers = {}) {
    this.status = status
    this.form = form
    this.body = body
    this.headers = headers
  }
}

/** A resource under a status of its own. */
export const json = (status: number, value: unknown, headers?: Headers): Answer =>
  new Answer(status, 'json', value, headers)

/** Finished text; with the type `application/json` it is a kept answer that goes out as it went before. */
export const text = (status: number, type: string, value: string, headers: Headers = {}): Answer =>
  new Answer(status, 'text', value, { 'Content-Type': type, ...headers })

/** A stream of bytes; it is destroyed when the client goes away. */
export const bytes = (status: number, body: Readable, headers: Headers): Answer =>
  new Answer(status, 'bytes', body, headers)

export const nothing = (status: number, headers?: Headers): Answer =>
  new Answer(status, 'none', undefined, headers)
