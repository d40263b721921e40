import { getCompileCacheDir } from 'node:module'

/** The environment of threads: of this program's only where compiled code is cached, so that they start in half the time. */
export const threadEnv = (): Record<string, string> => {
  const cache = getCompileCacheDir()
  return cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }
}
