import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const NAMES = ['redis-server', 'valkey-server']
const LEAST: readonly [number, number] = [6, 2]
const ASK_MS = 5_000

interface RedisProgram {
  readonly path: string
  /** For example `redis-server 7.0.15`. */
  readonly version: string
}

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const candidates = (searchPath: string): string[] =>
  NAMES.flatMap((name) => searchPath.split(delimiter).map((folder) => join(folder || '.', name))).filter(
    isExecutable,
  )

const isRecent = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])
}

/** `Redis server v=7.0.15 …`, `Valkey server v=8.0.1 …` */
const askVersion = async (path: string): Promise<RedisProgram | undefined> => {
  const answer = await promisify(execFile)(path, ['--version'], { timeout: ASK_MS }).catch(() => undefined)
  const version = /\bv=(\d+\.\d+\S*)/.exec(answer?.stdout ?? '')?.[1]
  if (version === undefined || !isRecent(version)) return undefined
  return { path, version: `${path.slice(path.lastIndexOf('/') + 1)} ${version}` }
}

/** The first Redis or Valkey (6.2 or newer) in this search path. */
export const findRedisProgram = async (searchPath: string): Promise<RedisProgram | undefined> => {
  for (const path of candidates(searchPath)) {
    const program = await askVersion(path)
    if (program) return program
  }
  return undefined
}
