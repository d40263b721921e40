/** Milliseconds that `work` takes. */
async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** The median of `tries` measurements: other load of a shared machine distorts single ones. */
export async function medianMs(tries: number, work: (attempt: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let attempt = 0; attempt < tries; attempt++) times.push(await timeMs(() => work(attempt)))
  return percentile(times, 50)
}

/** The value that `percent` of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN
}
