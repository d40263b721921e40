import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes in buffers, without garbage: how soon that goes, and what other suites left, is V8's business. */
export function keptBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('garbage cannot be collected on demand')
  collect()
  return process.memoryUsage().arrayBuffers
}
