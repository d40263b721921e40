/** Aborts on the first Ctrl-C, so that commands are killed and folders are removed. */
export const untilInterrupted = (): Disposable & { readonly signal: AbortSignal } => {
  const abort = new AbortController()
  const stop = (): void => abort.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  return {
    signal: abort.signal,
    [Symbol.dispose]: () => void process.off('SIGINT', stop).off('SIGTERM', stop),
  }
}
