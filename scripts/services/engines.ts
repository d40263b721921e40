import { readFileSync } from 'node:fs'
import { startEngine } from '@scanfarm/runners/testing'
import { openPostgres, openRedis } from './data-engines.ts'
import { findDocker, isRoot } from './docker.ts'
import type { Engine } from './engine.ts'
import { withImports } from './imports.ts'
import { ensurePrograms, findProgram, PROGRAMS, type Program } from './programs.ts'

/** The engine of this system, else one that lives as long as the tests. */
const openDocker = async (): Promise<Engine> => {
  const found = await findDocker()
  if (isRoot()) ensurePrograms([PROGRAMS.docker, PROGRAMS.busybox, PROGRAMS.openssl])
  if (found !== undefined) return { value: found, async [Symbol.asyncDispose]() {} }
  const engine = await startEngine()
  return { value: engine.address, [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() }
}

/** A program that tests start themselves, and others that they need with it. */
const openProgram =
  (program: Program, ...others: Program[]) =>
  async (): Promise<Engine> => {
    ensurePrograms([program, ...others])
    return { value: findProgram(program.name) ?? '', async [Symbol.asyncDispose]() {} }
  }

/** Chromium without windows, which takes half of the processor time, else one with. */
const openChromium = async (): Promise<Engine> => {
  const { chromium, chromiumShell } = PROGRAMS
  try {
    ensurePrograms([chromiumShell])
  } catch {
    ensurePrograms([chromium])
  }
  return {
    value: findProgram(chromiumShell.name) ?? findProgram(chromium.name) ?? '',
    async [Symbol.asyncDispose]() {},
  }
}

/** Every engine by the variable under which tests find it; one that is set already is used as it is. */
const ENGINES: Readonly<Record<string, () => Promise<Engine>>> = {
  SCANFARM_TEST_DATABASE_URL: openPostgres,
  SCANFARM_TEST_REDIS_URL: openRedis,
  SCANFARM_TEST_DOCKER: openDocker,
  SCANFARM_TEST_SSHD: openProgram(PROGRAMS.sshd, PROGRAMS.ssh),
  SCANFARM_TEST_CHROMIUM: openChromium,
  SCANFARM_TEST_BUBBLEWRAP: openProgram(PROGRAMS.bubblewrap),
  SCANFARM_TEST_NMAP: openProgram(PROGRAMS.nmap),
  SCANFARM_TEST_NFT: openProgram(PROGRAMS.nft, PROGRAMS.ip),
  SCANFARM_TEST_PGBOUNCER: openProgram(PROGRAMS.pgbouncer),
}

/** The variables that these test files, or what they import, mention: a test says by them what it needs. */
export const neededEngines = (files: readonly string[]): string[] => {
  const text = [...withImports(files)].map((file) => readFileSync(file, 'utf8')).join('\n')
  return Object.keys(ENGINES).filter((variable) => text.includes(variable))
}

export interface OpenEngines extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}

export const allEngines = (): string[] => Object.keys(ENGINES)

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
