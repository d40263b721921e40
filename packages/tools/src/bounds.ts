import type { Manifest, Tool } from './manifest.ts'
import { readManifest } from './read-manifest.ts'
import type { Entry } from './schema.ts'

const SECOND_MS = 1000

/** What a run has to keep to. */
export interface ToolBounds {
  /** Packets, connections or requests a second; null: no limit. */
  readonly rate: number | null
  /** The proxy for its requests, as HOST:PORT. */
  readonly proxy?: string | undefined
}

/** As tools take it: whole, if it is more than 1. */
const rounded = (rate: number): number =>
  rate < 1 ? Math.max(1, Math.floor(rate * SECOND_MS)) / SECOND_MS : Math.floor(rate)

/** The arguments with which a tool sends at most so many in a second, if its flags can hold that at all. */
const rateArgs = ({ limit = '', proxy, facts }: Entry, rate: number): string => {
  const { factor = 1, extra = 0 } = facts?.rate ?? {}
  const value = rounded((rate > extra ? rate - extra : Math.min(rate, 1)) / factor)
  const ms = Math.ceil(SECOND_MS / value)
  return limit
    .replaceAll('{rate}', String(proxy === undefined ? value : Math.max(1, value)))
    .replaceAll('{ms}', String(ms))
    .replaceAll('{seconds}', String(ms / SECOND_MS))
}

const nameOf = ({ name }: Tool): string => `SCANFARM_ARGS_${name.toUpperCase().replaceAll(/\W/g, '_')}`

interface Arguments {
  readonly name: string
  readonly ofRate: string
  readonly ofProxy: string
}

const argumentsOf = (rate: number | null, manifest: Manifest): Arguments[] =>
  [...manifest.values()].map((tool) => ({
    name: nameOf(tool),
    ofRate: rate === null ? '' : rateArgs(tool, rate),
    ofProxy: tool.proxy ?? '',
  }))

const MOST_RATES = 100
/** Those of shipped tools by rate: each command asks for them. */
const known = new Map<number | null, Arguments[]>()
let shipped: Manifest | undefined

const shippedArguments = (rate: number | null): Arguments[] => {
  const found = known.get(rate)
  if (found !== undefined) return found
  const made = argumentsOf(rate, (shipped ??= readManifest()))
  if (known.size >= MOST_RATES) known.clear()
  known.set(rate, made)
  return made
}

/** Variables of the environment that keep commands within bounds. */
export const boundVariables = (
  { rate, proxy }: ToolBounds,
  manifest?: Manifest,
): Readonly<Record<string, string>> => {
  const variables: Record<string, string> = {}
  if (rate !== null) variables['SCANFARM_RATE'] = String(rate)
  if (proxy !== undefined) variables['SCANFARM_PROXY'] = `http://${proxy}`
  for (const tool of manifest === undefined ? shippedArguments(rate) : argumentsOf(rate, manifest)) {
    const ofProxy = proxy === undefined ? '' : tool.ofProxy.replace('{proxy}', proxy)
    const args = [tool.ofRate, ofProxy].filter((part) => part !== '').join(' ')
    if (args !== '') variables[tool.name] = args
  }
  return variables
}
