import { readManifest, type Manifest, type Tool } from './manifest.ts'
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

const argsOf = (tool: Entry, { rate, proxy }: ToolBounds): string =>
  [
    rate === null ? '' : rateArgs(tool, rate),
    proxy === undefined ? '' : (tool.proxy ?? '').replace('{proxy}', proxy),
  ]
    .filter((part) => part !== '')
    .join(' ')

const nameOf = ({ name }: Tool): string => `SCANFARM_ARGS_${name.toUpperCase().replaceAll(/\W/g, '_')}`

let shipped: Manifest | undefined

/** Variables of the environment that keep commands within bounds. */
export const boundVariables = (
  bounds: ToolBounds,
  manifest = (shipped ??= readManifest()),
): Readonly<Record<string, string>> => {
  const { rate, proxy } = bounds
  return {
    ...(rate !== null && { SCANFARM_RATE: String(rate) }),
    ...(proxy !== undefined && { SCANFARM_PROXY: `http://${proxy}` }),
    ...Object.fromEntries(
      [...manifest.values()]
        .map((tool) => [nameOf(tool), argsOf(tool, bounds)] as const)
        .filter(([, args]) => args !== ''),
    ),
  }
}
