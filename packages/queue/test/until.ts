const STEP_MS = 10

/** Looks again and again until the condition holds; throws when it still does not after `patienceMs`. */
export const until = async (
  condition: () => boolean | Promise<boolean>,
  patienceMs = 60_000,
): Promise<void> => {
  const deadline = performance.now() + patienceMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`still not so after ${patienceMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
  }
}
