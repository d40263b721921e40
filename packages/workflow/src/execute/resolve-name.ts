import { Resolver } from 'node:dns/promises'

/** What is not known by then stays unknown: a run does not wait longer for it. */
export const DNS_MS = 5_000

/** What the work finds, or something else when it fails or takes longer. */
export const within = async <Found>(ms: number, work: Promise<Found>, otherwise: Found): Promise<Found> => {
  const { promise: late, resolve } = Promise.withResolvers<Found>()
  const timer = setTimeout(() => resolve(otherwise), ms)
  try {
    return await Promise.race([work.catch(() => otherwise), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Addresses of a name by DNS alone; `[]` for none, and when no server answers in time. */
export const resolveName = async (host: string): Promise<readonly string[]> => {
  const resolver = new Resolver({ timeout: 2_000, tries: 1 })
  try {
    const [four, six] = await Promise.all([
      within(DNS_MS, resolver.resolve4(host), []),
      within(DNS_MS, resolver.resolve6(host), []),
    ])
    return [...four, ...six]
  } finally {
    resolver.cancel()
  }
}
