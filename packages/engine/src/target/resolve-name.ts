import { Resolver } from 'node:dns/promises'

/** Time limit of a look-up. On timeout the result stays unknown, so that the run does not wait. */
export const DNS_MS = 5_000

/** The result of the work, or `otherwise` on failure or timeout. */
export const within = async <Found>(ms: number, work: Promise<Found>, otherwise: Found): Promise<Found> => {
  const { promise: late, resolve } = Promise.withResolvers<Found>()
  const timer = setTimeout(() => resolve(otherwise), ms)
  try {
    return await Promise.race([work.catch(() => otherwise), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Addresses of a name by DNS only; `[]` if there are none or no server replies in time. */
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
