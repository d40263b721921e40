import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgres, openRedis } from './data-engines.ts'
import { openDocker } from './docker.ts'
import type { Engine } from './engine.ts'
import { ensurePrograms, findProgram, PROGRAMS } from './programs.ts'

const openSshd = async (): Promise<Engine> => {
  ensurePrograms([PROGRAMS.sshd, PROGRAMS.ssh])
  return { value: findProgram('sshd') ?? '', async [Symbol.asyncDispose]() {} }
}

/** Every engine by the variable under which tests find it; one that is set already is used as it is. */
const ENGINES: Readonly<Record<string, () => Promise<Engine>>> = {
  SCANFARM_TEST_DATABASE_URL: openPostgres,
  SCANFARM_TEST_REDIS_URL: openRedis,
  SCANFARM_TEST_DOCKER: openDocker,
  SCANFARM_TEST_SSHD: openSshd,
}

const testSources = (root: string): string[] =>
  readdirSync(join(root, 'packages')).flatMap((name) => {
    const folder = join(root, 'packages', name, 'test')
    try {
      return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((file) => file.isFile() && file.name.endsWith('.ts'))
        .map((file) => join(file.parentPath, file.name))
    } catch {
      return []
    }
  })

/** The variables that the tests of this workspace mention: a test says by them what it needs. */
export const neededEngines = (root: string): string[] => {
  const text = testSources(root)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  return Object.keys(ENGINES).filter((variable) => text.includes(variable))
}

export interface OpenEngines extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}

/** Starts what these variables stand for, in order, and stops it in reverse. */
export const openEngines = async (variables: readonly string[]): Promise<OpenEngines> => {
  await using scope = new AsyncDisposableStack()
  const env: Record<string, string> = {}
  for (const variable of variables) {
    const open = process.env[variable] ? undefined : ENGINES[variable]
    const value = open && scope.use(await open()).value
    if (value !== undefined) env[variable] = value
  }
  const opened = scope.move()
  return { env, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
