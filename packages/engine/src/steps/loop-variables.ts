import { crc32 } from 'node:zlib'
import { type Json, type Step, data, toPlain, type Value } from '@scanfarm/language'

const MAX_NAME = 30
const KEPT = 20

/** A deterministic form of an item for file names. */
export const itemFileName = (item: string): string => {
  const safe = item.replaceAll(/[/\\:*?"<>|]/g, '_')
  return safe.length <= MAX_NAME
    ? safe
    : `${safe.slice(0, KEPT)}_${crc32(item).toString(16).padStart(8, '0')}`
}

export const loopVariables = (name: string, item: Value, id: number): [string, Value][] => [
  [name, item],
  [`_${name}_`, data(itemFileName(toPlain(item)))],
  ['_id_', id],
]

const mapTexts = (value: Json | undefined, change: (text: string) => string): Json | undefined => {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change) ?? null)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change) ?? null]))
}

/**
 * Replaces `[[ item ]]` by `{{ item }}` in all texts of a loop's inner step, only for the loop's own variables: shell
 * tests with the same syntax are unchanged.
 */
export const withLoopSyntax = (step: Step, variable: string): Step => {
  const names = [variable, `_${variable}_`, '_id_'].map((name) => name.replaceAll(/[^\w]/g, String.raw`\$&`))
  const pattern = new RegExp(String.raw`\[\[\s*(${names.join('|')})\s*\]\]`, 'g')
  const change = (text: string) => text.replaceAll(pattern, '{{$1}}')
  const entries = Object.entries(step).map(([key, value]) => [key, mapTexts(value as Json, change)])
  return { name: step.name, type: step.type, ...(Object.fromEntries(entries) as Partial<Step>) }
}
