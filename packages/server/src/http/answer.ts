import type { Readable } from 'node:stream'

export type Headers = Readonly<Record<string, string | number>>

/** Returned by a handler that needs a status, a format or headers other than the default. */
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

/** A JSON resource with the given status. */
export const json = (status: number, value: unknown, headers?: Headers): Answer =>
  new Answer(status, 'json', value, headers)

/** Text that is sent as it is; with the type `application/json` it is a stored answer. */
export const text = (status: number, type: string, value: string, headers: Headers = {}): Answer =>
  new Answer(status, 'text', value, { 'Content-Type': type, ...headers })

/** A byte stream; it is destroyed if the client disconnects. */
export const bytes = (status: number, body: Readable, headers: Headers): Answer =>
  new Answer(status, 'bytes', body, headers)

export const nothing = (status: number, headers?: Headers): Answer =>
  new Answer(status, 'none', undefined, headers)

/** Always an attachment, because content that tools collected may be hostile. The plain name is for old clients. */
export const attachment = (name: string): string => {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
