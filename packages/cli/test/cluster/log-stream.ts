import type { Client } from './client.ts'

export interface LogEvent {
  readonly type: string
  readonly id: string
  readonly data: Readonly<Record<string, unknown>>
  /** When it arrived, as `Date.now()`. */
  readonly at: number
}

/** The events of a stream of a log, until it ends or is closed. */
export async function* logEvents(
  client: Client,
  path: string,
  { after, signal }: { readonly after?: string; readonly signal?: AbortSignal } = {},
): AsyncGenerator<LogEvent> {
  const { url, headers } = client.callTo(path)
  const answer = await fetch(url, {
    headers: { ...headers, ...(after !== undefined && { 'last-event-id': after }) },
    ...(signal && { signal }),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of answer.body ?? new ReadableStream<Uint8Array>()) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const fields = new Map(
        part.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]),
      )
      const data = fields.get('data')
      if (data !== undefined)
        yield {
          type: fields.get('event') ?? '',
          id: fields.get('id') ?? '',
          data: JSON.parse(data) as Record<string, unknown>,
          at: Date.now(),
        }
    }
  }
}
