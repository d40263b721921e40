/** Resolves when the work settles or the signal aborts, whichever is first; a rejection of the work passes through. */
export const untilAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> => {
  if (signal.aborted) return undefined
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const onAbort = () => resolve(undefined)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Resolves after `ms`, or at once when the signal aborts. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  try {
    await untilAborted(promise, signal)
  } finally {
    clearTimeout(timer)
  }
}
