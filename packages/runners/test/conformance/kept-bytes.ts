import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes in buffers, without garbage: how soon that goes, and what other suites left, is V8's business. */
export function keptBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // The memory of buffers is freed by another thread; the next collection waits for that thread.
  collect()
  collect()
  return process.memoryUsage().arrayBuffers
}
