import { Type, type Static } from 'typebox'
import { closed, flag } from '../objects.ts'

const MAX_PER_LIMIT = 1_000_000
const Limit = (of: string) =>
  Type.Optional(
    closed(
      {
        rate: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: MAX_PER_LIMIT,
            description:
              'New connections or requests a second, of all these runs together; each gets rate / runs',
          }),
        ),
        runs: Type.Optional(
          Type.Integer({ minimum: 1, maximum: MAX_PER_LIMIT, description: 'At once; default: 1' }),
        ),
      },
      { minProperties: 1, description: of },
    ),
  )

export const LIMIT_KINDS = ['per_address', 'per_network', 'per_domain'] as const
export type LimitKind = (typeof LIMIT_KINDS)[number]

/** How much runs may load the hosts that they scan. */
export const Limits = closed(
  {
    per_address: Limit('On each address'),
    per_network: Limit('On each /24, or /64 of IPv6'),
    per_domain: Limit('On each registrable domain with all below it'),
    workflow_once: Type.Optional(
      flag('Of the runs of one workflow on one target in one workspace one works at a time'),
    ),
  },
  { $id: 'Limits', description: 'Runs beyond them wait; none: {}' },
)
export type Limits = Static<typeof Limits>

/** Hosts that limits are about: addresses from `lo` to `hi` as 32 hexadecimal digits, or a domain as both. */
export interface LimitSpan {
  readonly kind: LimitKind
  readonly lo: string
  readonly hi: string
  /** For people. */
  readonly label: string
}

/** `rate`: connections or requests a second; null: no limit of them. `reason`: the limit that has no share left. */
export type LimitShare = { readonly rate: number | null } | { readonly reason: string }
