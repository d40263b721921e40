import type { QueryKey } from '@tanstack/react-query'

/**
 * Which queries an event concerns, by the first part of its topic. A query follows the events if its key begins with one
 * of these names: `['runs', filters]`, `['run', id, 'steps']`.
 */
const CONCERNED: Readonly<Record<string, readonly string[]>> = {
  run: ['runs', 'run', 'jobs', 'job', 'queue', 'worker', 'overview', 'events'],
  step: ['run', 'events'],
  job: ['runs', 'run', 'jobs', 'job', 'queue', 'overview', 'nights', 'events'],
  asset: ['assets', 'overview', 'events'],
  vuln: ['findings', 'finding', 'overview', 'events'],
  schedule: ['triggers', 'nights', 'events'],
  webhook: ['webhooks', 'events'],
  worker: ['workers', 'worker', 'overview'],
}
const OTHER = ['events']

/** Lists that the farm makes longer, and not the user of the page: new rows wait until the user wants them. */
const GROWING: ReadonlySet<unknown> = new Set(['runs', 'jobs', 'findings', 'assets', 'events'])

export const isGrowing = ([name]: QueryKey): boolean => GROWING.has(name)

export const keysOf = (topic: string): readonly QueryKey[] => {
  const dot = topic.indexOf('.')
  const names = CONCERNED[dot < 0 ? topic : topic.slice(0, dot)] ?? OTHER
  return names.map((name) => [name])
}
