/** How long prices are believed. */
export const PRICES_KEPT_MS = 3_600_000

/** `load`, asked again only when its last answer is older than `keptMs`. A failure is not kept. */
export function keptFor<T>(
  keptMs: number,
  load: (signal: AbortSignal) => Promise<T>,
  now: () => number = Date.now,
): (signal: AbortSignal) => Promise<T> {
  let kept: { readonly value: T; readonly untilMs: number } | undefined
  return async (signal) => {
    if (kept && now() < kept.untilMs) return kept.value
    const value = await load(signal)
    kept = { value, untilMs: now() + keptMs }
    return value
  }
}
