import type { FunctionContext } from '../define.ts'

/** Maximum number of reached hosts of one import. */
export const MAX_HOSTS = 100_000

type Attempt = Pick<FunctionContext, 'folders'>

/** The reached hosts by attempt (its folders) and by file of results. */
const NOTED = new WeakMap<object, Map<string, readonly string[]>>()

/** Notes the hosts that a scan reached, for the import of its result file. */
export const noteReached = ({ folders }: Attempt, path: string, hosts: readonly string[]): void => {
  const files = NOTED.get(folders) ?? new Map<string, readonly string[]>()
  NOTED.set(folders, files.set(path, hosts))
}

export const reachedIn = ({ folders }: Attempt, path: string): readonly string[] | undefined =>
  NOTED.get(folders)?.get(path)
