import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { searchPath } from '@scanfarm/platform'
import type { Tool } from './manifest.ts'

/** Some are scripts that need seconds on a busy machine. */
const TIMEOUT_MS = 20_000
const MAX_BYTES = 64 * 1024

/** The version in what a tool prints when it is asked for it; undefined: another program of the same name. */
export const versionIn = ({ ask }: Tool, output: string): string | undefined =>
  ask === undefined
    ? undefined
    : new RegExp(ask.pattern, 'm').exec(stripVTControlCharacters(output.slice(0, MAX_BYTES)))?.[1]

/** The command that tells the version of a tool: the program itself, or one that prints the beginning of its text. */
export const questionOf = ({ ask }: Tool, path: string): readonly [string, ...string[]] =>
  ask?.args === undefined ? ['head', '-c', String(MAX_BYTES), path] : [path, ...ask.args]

const killGroup = (pid: number | undefined): void => {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** The first bytes of both streams. Empty if the program cannot be started. */
const outputOf = async (
  [program, ...args]: readonly [string, ...string[]],
  folder: string,
  timeoutMs: number,
): Promise<string> => {
  const child = spawn(program, args, {
    cwd: folder,
    detached: true,
    env: { PATH: searchPath(), HOME: folder, TMPDIR: folder, LC_ALL: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const parts: Buffer[] = []
  let bytes = 0
  const add = (part: Buffer): void => {
    parts.push(part)
    bytes += part.length
    if (bytes >= MAX_BYTES) killGroup(child.pid)
  }
  child.stdout.on('data', add)
  child.stderr.on('data', add)
  const { promise, resolve } = Promise.withResolvers<void>()
  child.on('error', () => resolve()).on('close', () => resolve())
  const timer = setTimeout(() => killGroup(child.pid), timeoutMs)
  await promise
  clearTimeout(timer)
  killGroup(child.pid)
  return Buffer.concat(parts).subarray(0, MAX_BYTES).toString()
}

/**
 * Asks the program at `path` for its version, in an empty folder that is its home. Undefined: it did not answer in time, or not as
 * this tool does. Exit codes do not count: some programs print their version and fail.
 */
export const versionOf = async (
  tool: Tool,
  path: string,
  timeoutMs = TIMEOUT_MS,
): Promise<string | undefined> => {
  if (tool.ask === undefined) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-version-'))
  try {
    return versionIn(tool, await outputOf(questionOf(tool, path), folder, timeoutMs))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const numbersIn = (version: string): number[] => (version.match(/\d+/g) ?? []).map(Number)

/** Whether a version is the wanted one or newer; only its numbers count. */
export const isAtLeast = (version: string, wanted: string): boolean => {
  const have = numbersIn(version)
  for (const [index, number] of numbersIn(wanted).entries()) {
    const difference = (have[index] ?? 0) - number
    if (difference !== 0) return difference > 0
  }
  return true
}
