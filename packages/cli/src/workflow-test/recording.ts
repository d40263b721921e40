import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { CaseContent, RecordedCall } from '@scanfarm/contracts'
import { programIn } from '@scanfarm/tools'
import { contentOf } from './case-file.ts'
import { CliError, EXIT } from '../exit.ts'
import type { CaseFolders } from './case-folders.ts'
import { quoted } from './stand-ins.ts'

const EXECUTABLE = 0o755
/** A recording is a file that people read. */
const MAX_FILE_BYTES = 1 << 20

/**
 * Runs a program and keeps its arguments, output, exit code, and the files that changed meanwhile. It starts when the
 * clock of files, which has steps of some milliseconds, has gone on. Its input is not kept: a copy would take the lines of
 * the loop around the call. Whether it read a pipe cannot be told.
 */
const wrapper = (name: string, real: string, { calls, output, temp }: CaseFolders): string => `#!/bin/sh
[ -z "$SCANFARM_RECORDS" ] || exec ${quoted(real)} "$@"
export SCANFARM_RECORDS=1
call=$(mktemp -d ${quoted(join(calls, 'call.XXXXXX'))}) || exit 125
printf %s ${quoted(name)} > "$call/program"
for one do printf '%s\\0' "$one"; done > "$call/args"
pwd > "$call/cwd"
date +%s%N > "$call/began"
until find "$call/tick" -newer "$call/began" 2> /dev/null | grep -q .; do : > "$call/tick"; done
mkfifo "$call/out" "$call/err"
tee "$call/stdout" < "$call/out" &
tee "$call/stderr" < "$call/err" >&2 &
input=$(cat /proc/self/fdinfo/0)
${quoted(real)} "$@" > "$call/out" 2> "$call/err"
code=$?
wait
if [ -p /dev/stdin ] || [ "$input" != "$(cat /proc/self/fdinfo/0)" ]; then : > "$call/fed"; fi
mkdir "$call/files"
find ${quoted(output)} ${quoted(temp)} -type f -cnewer "$call/began" -size -${MAX_FILE_BYTES / 1024}k -exec cp --parents -t "$call/files" {} +
printf %s "$code" > "$call/code"
exit "$code"
`

/** Makes programs that record the real ones. */
export const makeWrappers = async (
  programs: readonly string[],
  path: string,
  folders: CaseFolders,
): Promise<void> => {
  for (const name of programs) {
    const real = await programIn(name, path.split(':'))
    if (real === undefined)
      throw new CliError(EXIT.usage, `${name} is not on PATH: install it, then record the case`)
    await writeFile(join(folders.programs, name), wrapper(name, real, folders), { mode: EXECUTABLE })
  }
}

/** Paths that an argument may name: the argument itself, and what follows `=`. */
const namedBy = (args: readonly string[], cwd: string): string[] =>
  args
    .flatMap((arg) => [arg, arg.slice(arg.indexOf('=') + 1)])
    .filter((text) => text !== '')
    .map((text) => resolve(cwd, text))

const filesBelow = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()

/** Other steps write files at the same time: those of a call are the ones that its arguments name, or begin to name. */
const filesOf = async (
  folder: string,
  args: readonly string[],
  cwd: string,
  { hide, output, temp }: CaseFolders,
): Promise<Record<string, CaseContent>> => {
  const roots = new Set([cwd, output, temp])
  const named = namedBy(args, cwd).filter(
    (path) => !roots.has(path) && `${path}${sep}`.startsWith(resolve(output, '..')),
  )
  const found: Record<string, CaseContent> = {}
  for (const copy of await filesBelow(folder)) {
    const path = copy.slice(folder.length)
    if (!named.some((start) => path.startsWith(start))) continue
    const content = contentOf(await readFile(copy), hide)
    // Caches and databases that a tool keeps for itself.
    if (typeof content === 'string' || path.startsWith(output)) found[hide(path)] = content
  }
  return found
}

/** A call and its times in nanoseconds. */
interface TimedCall {
  readonly began: bigint
  readonly ended: bigint
  /** It read a file as its input, or may have read a pipe. */
  readonly isFed: boolean
  readonly call: RecordedCall
}

const readCall = async (folder: string, folders: CaseFolders): Promise<TimedCall> => {
  const bytes = (name: string): Promise<Buffer> => readFile(join(folder, name))
  const text = async (name: string): Promise<string> => (await bytes(name)).toString('utf8')
  const args = (await text('args')).split('\0').slice(0, -1)
  const [stdout, stderr] = [await bytes('stdout'), await bytes('stderr')]
  const files = await filesOf(join(folder, 'files'), args, (await text('cwd')).trimEnd(), folders)
  const code = Number(await text('code'))
  return {
    began: BigInt((await text('began')).trim()),
    ended: (await stat(join(folder, 'code'), { bigint: true })).mtimeNs,
    isFed: (await readdir(folder)).includes('fed'),
    call: {
      program: await text('program'),
      args: args.map(folders.hide),
      ...(code === 0 ? {} : { exit_code: code }),
      ...(stdout.length === 0 ? {} : { stdout: contentOf(stdout, folders.hide) }),
      ...(stderr.length === 0 ? {} : { stderr: contentOf(stderr, folders.hide) }),
      ...(Object.keys(files).length === 0 ? {} : { files }),
    },
  }
}

/** Equal calls side by side with different results: a test gives the results in another order now and then. */
const mixedUp = (calls: readonly TimedCall[]): RecordedCall | undefined => {
  const last = new Map<string, TimedCall>()
  for (const one of calls) {
    const key = JSON.stringify([one.call.program, one.call.args])
    const before = last.get(key)
    last.set(key, one)
    if (before !== undefined && one.began < before.ended && !isDeepStrictEqual(one.call, before.call))
      return one.call
  }
  return undefined
}

/** The calls of a run, in order. A call that was killed has no exit code and is left out. */
export const recordedCalls = async (
  folders: CaseFolders,
): Promise<{ calls: RecordedCall[]; mixed: RecordedCall | undefined; fed: string[] }> => {
  const found: TimedCall[] = []
  for (const name of await readdir(folders.calls)) {
    const folder = join(folders.calls, name)
    if ((await readdir(folder)).includes('code')) found.push(await readCall(folder, folders))
  }
  found.sort((a, b) => (a.began < b.began ? -1 : 1))
  const fed = new Set(found.filter(({ isFed }) => isFed).map(({ call }) => call.program))
  return { calls: found.map(({ call }) => call), mixed: mixedUp(found), fed: [...fed] }
}
