import { setTimeout as sleep } from 'node:timers/promises'
import { CliError, EXIT } from '../exit.ts'
import type { Api } from './api.ts'

const RETRY_MS = 1_000
/** Long enough for a restart of the server. */
const GIVE_UP_MS = 120_000
/** Servers send a comment every 15 s. */
const SILENCE_MS = 60_000

export type LogEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'attempt'; readonly attempt: number }
  | { readonly kind: 'end'; readonly status: string }

interface Frame {
  readonly event: string
  readonly id: string
  readonly data: string
}

const frameOf = (block: string): Frame => {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)]
    }),
  )
  return { event: fields.get('event') ?? '', id: fields.get('id') ?? '', data: fields.get('data') ?? '' }
}

/** The frames of one connection. */
async function* framesOf(api: Api, path: string, after: string): AsyncGenerator<Frame> {
  const silent = new AbortController()
  let timer = setTimeout(() => silent.abort(), SILENCE_MS)
  try {
    const answer = await api.send(`${path}?follow=true`, {
      signal: silent.signal,
      headers: after === '' ? {} : { 'last-event-id': after },
    })
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of answer.body ?? new ReadableStream<Uint8Array>()) {
      clearTimeout(timer)
      timer = setTimeout(() => silent.abort(), SILENCE_MS)
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) yield frameOf(block)
    }
  } finally {
    clearTimeout(timer)
  }
}

const eventOf = ({ event, data }: Frame): LogEvent | undefined => {
  if (data === '') return undefined
  const value = JSON.parse(data) as { text?: string; attempt?: number; status?: string }
  if (event === 'end') return { kind: 'end', status: value.status ?? '' }
  if (event === 'attempt') return { kind: 'attempt', attempt: value.attempt ?? 0 }
  return { kind: 'text', text: value.text ?? '' }
}

/** Follows a log until its end. Connects again without losing or repeating output. */
export async function* followLog(api: Api, path: string): AsyncGenerator<LogEvent> {
  let after = ''
  let failedSince: number | undefined
  for (;;) {
    try {
      for await (const frame of framesOf(api, path, after)) {
        failedSince = undefined
        if (frame.id !== '') after = frame.id
        const event = eventOf(frame)
        if (event === undefined) continue
        yield event
        if (event.kind === 'end') return
      }
    } catch (error) {
      if (error instanceof CliError && error.exitCode !== EXIT.unreachable) throw error
      failedSince ??= performance.now()
      if (performance.now() - failedSince > GIVE_UP_MS) throw error
    }
    await sleep(RETRY_MS)
  }
}
