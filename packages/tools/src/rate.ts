import { readManifest, type Manifest } from './manifest.ts'
import type { Entry } from './schema.ts'

const SECOND_MS = 1000

/** The arguments with which a tool sends at most so many in a second, if its flags can hold that at all. */
const rateArgs = (limit: string, { facts }: Entry, rate: number): string => {
  const { factor = 1, extra = 0 } = facts?.rate ?? {}
  const value = Math.max(1, Math.floor((rate - extra) / factor))
  const ms = Math.ceil(SECOND_MS / value)
  return limit
    .replaceAll('{rate}', String(value))
    .replaceAll('{ms}', String(ms))
    .replaceAll('{seconds}', String(ms / SECOND_MS))
}

let shipped: Manifest | undefined

/** Variables of the environment for commands that may send so many packets, connections or requests in a second. */
export const rateVariables = (
  rate: number,
  manifest = (shipped ??= readManifest()),
): Readonly<Record<string, string>> => ({
  SCANFARM_RATE: String(rate),
  ...Object.fromEntries(
    [...manifest.values()].flatMap((tool) =>
      tool.limit === undefined
        ? []
        : [
            [
              `SCANFARM_RATE_${tool.name.toUpperCase().replaceAll(/\W/g, '_')}`,
              rateArgs(tool.limit, tool, rate),
            ],
          ],
    ),
  ),
})
