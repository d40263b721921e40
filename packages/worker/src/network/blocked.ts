import type { Counted } from './nft-answers.ts'

/** Packets of a user that were not sent, or only after a time. */
export interface Blocked {
  readonly packets: number
  /** Those of which the address is known. */
  readonly addresses: ReadonlyMap<string, number>
  /** New connections that came when others waited for about `LATE_S`. */
  readonly late: number
}

export const NOTHING: Blocked = { packets: 0, addresses: new Map(), late: 0 }

/** Counts of one user from here on. */
export interface Watch {
  blocked(): Promise<Blocked>
}

export const sums = <K>(elements: readonly Counted[], keyOf: (element: Counted) => K): Map<K, number> => {
  const found = new Map<K, number>()
  for (const element of elements) {
    const key = keyOf(element)
    found.set(key, (found.get(key) ?? 0) + element.packets)
  }
  return found
}

/** What was blocked in between. */
export const difference = (before: Blocked, now: Blocked): Blocked => {
  // Counts begin at 0 again when the rules had to be made again.
  if (now.packets < before.packets) return now
  const addresses = [...now.addresses].map(
    ([address, packets]) => [address, packets - (before.addresses.get(address) ?? 0)] as const,
  )
  return {
    packets: now.packets - before.packets,
    late: Math.max(0, now.late - before.late),
    addresses: new Map(addresses.filter(([, packets]) => packets > 0)),
  }
}
