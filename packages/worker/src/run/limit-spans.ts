import { domainParts } from '@scanfarm/functions'
import type { LimitKind, LimitSpan, Range } from '@scanfarm/contracts'
import { addressRanges, addressText, isV4, readTarget } from '@scanfarm/contracts'

/** More hosts of a kind count as all from the first to the last one. */
const MOST_SPANS = 1_000
const HEX_DIGITS = 32
const V4_NETWORK = 8n
const V6_NETWORK = 64n

const digits = (at: bigint): string => at.toString(16).padStart(HEX_DIGITS, '0')

const spanOf = (kind: LimitKind, lo: bigint, hi: bigint, label: string): LimitSpan => ({
  kind,
  lo: digits(lo),
  hi: digits(hi),
  label,
})

const addressSpan = ({ lo, hi }: Range): LimitSpan =>
  spanOf('per_address', lo, hi, lo === hi ? addressText(lo) : `${addressText(lo)}-${addressText(hi)}`)

const networkSpan = ({ lo, hi }: Range): LimitSpan => {
  const bits = isV4(lo) ? V4_NETWORK : V6_NETWORK
  const [from, to] = [(lo >> bits) << bits, hi | ((1n << bits) - 1n)]
  const isOne = from >> bits === to >> bits
  const label = isOne
    ? `${addressText(from)}/${isV4(lo) ? '24' : '64'}`
    : `${addressText(from)}-${addressText(to)}`
  return spanOf('per_network', from, to, label)
}

/** The hosts of a run that its limits are about. */
export class LimitSpans {
  readonly #kinds: ReadonlySet<LimitKind>
  readonly #spans = new Map<LimitKind, Map<string, LimitSpan>>()

  constructor(kinds: ReadonlySet<LimitKind>) {
    this.#kinds = kinds
  }

  get needsAddresses(): boolean {
    return this.#kinds.has('per_address') || this.#kinds.has('per_network')
  }

  /** `addresses`: those of the names in the target. */
  add(text: string, addresses: readonly string[]): void {
    const target = readTarget(text)
    if (this.#kinds.size === 0 || typeof target === 'string') return
    const ranges = target.hosts.flatMap((host) => (host.kind === 'addresses' ? host.ranges : []))
    for (const range of [...ranges, ...addresses.flatMap(addressRanges)]) {
      this.#put(addressSpan(range))
      this.#put(networkSpan(range))
    }
    if (!this.#kinds.has('per_domain')) return
    for (const { kind, host } of target.hosts) {
      if (kind !== 'name') continue
      const { root } = domainParts(host)
      this.#put({ kind: 'per_domain', lo: root, hi: root, label: root })
    }
  }

  list(): LimitSpan[] {
    return [...this.#spans.values()].flatMap((spans) => [...spans.values()])
  }

  #put(span: LimitSpan): void {
    if (!this.#kinds.has(span.kind)) return
    const spans = this.#spans.get(span.kind) ?? new Map<string, LimitSpan>()
    this.#spans.set(span.kind, spans)
    spans.set(`${span.lo} ${span.hi}`, span)
    if (spans.size <= MOST_SPANS) return
    const all = [...spans.values()]
    const [lo, hi] = [
      all.map((one) => one.lo).sort()[0] ?? span.lo,
      all
        .map((one) => one.hi)
        .sort()
        .at(-1) ?? span.hi,
    ]
    spans.clear()
    spans.set('', { kind: span.kind, lo, hi, label: 'many hosts' })
  }
}
