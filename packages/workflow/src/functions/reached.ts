import type { FunctionContext } from './define.ts'

/** Most hosts that one import names as reached. */
export const MAX_HOSTS = 100_000

type Attempt = Pick<FunctionContext, 'folders'>

/** For each attempt, by its folders: which hosts were reached by the scan that a file is made of. */
const NOTED = new WeakMap<object, Map<string, readonly string[]>>()

/** Notes the hosts that the scan reached which a file is made of, for the import of that file. */
export const noteReached = ({ folders }: Attempt, path: string, hosts: readonly string[]): void => {
  const files = NOTED.get(folders) ?? new Map<string, readonly string[]>()
  NOTED.set(folders, files.set(path, hosts))
}

export const reachedIn = ({ folders }: Attempt, path: string): readonly string[] | undefined =>
  NOTED.get(folders)?.get(path)
