import { hash } from 'node:crypto'
import { attemptPrefix } from '@scanfarm/contracts'

/**
 * Ids derived from what they name, so that a batch that is written twice makes its rows once. They include the attempt:
 * an attempt that lost its run and its successor never share an id.
 */
export interface AttemptIds {
  /** In the form of a version 5 UUID. */
  uuid(kind: string, name: string | number): string
  eventId(number: number): string
  /** Prefix of the keys of this attempt in the artifact store. */
  readonly storePrefix: string
}

export function attemptIds(runUuid: string, attempt: number): AttemptIds {
  const digest = (text: string): string => hash('sha1', `${runUuid}/${attempt}/${text}`)
  return {
    uuid: (kind, name) => uuidOf(digest(`${kind}/${name}`)),
    eventId: (number) => `evt_${digest(`event/${number}`).slice(0, 24)}`,
    storePrefix: attemptPrefix(runUuid, attempt),
  }
}

const uuidOf = (hex: string): string => {
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}

/**
 * Replaces NUL and unpaired surrogates by U+FFFD: Postgres rejects both, and the output of tools may contain them. The
 * store removes NUL instead.
 */
export const replaceNul = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed()

/** JSON text of any value; `undefined` becomes null. */
export const jsonWithNulReplaced = (value: unknown): string =>
  JSON.stringify(value ?? null, (_key, part: unknown) => (typeof part === 'string' ? replaceNul(part) : part))

/** At most `limit` UTF-16 units, and a note of how many are missing. */
export const clipped = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length - limit} more characters)`

/** Bounds the number of values, the length of each and their total with names. `…` counts the values left out. */
export const clippedValues = (
  map: Readonly<Record<string, string>>,
  limits: { readonly each: number; readonly all: number; readonly count: number },
): Readonly<Record<string, string>> => {
  const entries = Object.entries(map)
  let budget = limits.all
  const kept = entries.slice(0, limits.count).flatMap(([name, value]): [string, string][] => {
    const clip = clipped(value, limits.each)
    const size = name.length + clip.length
    if (size > budget) return []
    budget -= size
    return [[name, clip]]
  })
  const left = entries.length - kept.length
  return Object.fromEntries(left === 0 ? kept : [...kept, ['…', `${left} more values`]])
}
