import { symlinkSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { RecordedCall, WorkflowCase } from '@scanfarm/contracts'
import { bytesOf } from './case-file.ts'
import type { CaseFolders } from './case-folders.ts'

const EXECUTABLE = 0o755
/** Separates the arguments in the text that a stand-in compares. */
const SEPARATOR = '\x1f'

export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const keyOf = (args: readonly string[]): string => `${args.map((arg) => `${arg}${SEPARATOR}`).join('')}.`

/** A program that answers as recorded. Each call of the recording is used once, those with equal arguments in order. */
const standIn = (program: string, calls: ReadonlyMap<string, readonly number[]>, folder: string): string => {
  const known = [...calls].map(([key, numbers]) => `${quoted(key)}) set -- ${numbers.join(' ')} ;;`)
  return `#!/bin/sh
calls=${quoted(folder)}
unknown() {
  note=$(mktemp "$calls/unknown.XXXXXX") && printf '%s' "$key" > "$note"
  echo "the case has no such call of ${program}" >&2
  exit 127
}
key=$(printf '${program}${SEPARATOR}'; for one do printf '%s${SEPARATOR}' "$one"; done; printf .)
case $key in
${known.join('\n')}
*) unknown ;;
esac
for call do
  if mkdir "$calls/$call/used" 2> /dev/null; then
    . "$calls/$call/act.sh"
  fi
done
unknown
`
}

/** Writes what a call does: its files, its output and its exit code. */
const writeCall = async (call: RecordedCall, folder: string, { show }: CaseFolders): Promise<void> => {
  const { exit_code: code = 0, stdout, stderr, files = {} } = call
  await mkdir(folder)
  const lines: string[] = []
  for (const [index, [shown, content]] of Object.entries(files).entries()) {
    const path = show(shown)
    await writeFile(join(folder, `file${index}`), bytesOf(content, show))
    lines.push(
      `mkdir -p -- ${quoted(dirname(path))} && cat ${quoted(join(folder, `file${index}`))} > ${quoted(path)}`,
    )
  }
  for (const [name, content, to] of [
    ['stdout', stdout, ''],
    ['stderr', stderr, ' >&2'],
  ] as const) {
    if (content === undefined) continue
    await writeFile(join(folder, name), bytesOf(content, show))
    lines.push(`cat ${quoted(join(folder, name))}${to}`)
  }
  await writeFile(join(folder, 'act.sh'), [...lines, `exit ${code}`, ''].join('\n'))
}

/** Makes the programs of a case. */
export const makeStandIns = async (
  { programs, calls }: WorkflowCase,
  folders: CaseFolders,
): Promise<void> => {
  const byProgram = new Map(programs.map((name) => [name, new Map<string, number[]>()]))
  for (const [number, call] of calls.entries()) {
    await writeCall(call, join(folders.calls, String(number)), folders)
    const known = byProgram.get(call.program) ?? new Map<string, number[]>()
    byProgram.set(call.program, known)
    const key = keyOf([call.program, ...call.args.map(folders.show)])
    known.set(key, [...(known.get(key) ?? []), number])
  }
  for (const [name, known] of byProgram)
    await writeFile(join(folders.programs, name), standIn(name, known, folders.calls), { mode: EXECUTABLE })
}

/** A PATH without some programs: links to the others stand for the folders that have them. */
export const pathWithout = async (
  path: string,
  without: readonly string[],
  { links }: CaseFolders,
): Promise<string> => {
  const folders: string[] = []
  for (const folder of path.split(':').filter((one) => one.startsWith('/'))) {
    const names = await readdir(folder).catch(() => [])
    if (!names.some((name) => without.includes(name))) {
      folders.push(folder)
      continue
    }
    const instead = join(links, String(folders.length))
    await mkdir(instead)
    for (const name of names)
      if (!without.includes(name)) symlinkSync(join(folder, name), join(instead, name))
    folders.push(instead)
  }
  return folders.join(':')
}

export interface WrongCalls {
  /** Calls that the case does not have: the program and its arguments. */
  readonly unknown: readonly (readonly string[])[]
  /** Calls of the case that were not made. */
  readonly missing: readonly (readonly string[])[]
}

/** How the calls of a run differ from those of the case. */
export const wrongCalls = async ({ calls }: WorkflowCase, folders: CaseFolders): Promise<WrongCalls> => {
  const notes = (await readdir(folders.calls)).filter((name) => name.startsWith('unknown.'))
  const unknown: string[][] = []
  for (const note of notes.sort()) {
    const key = await readFile(join(folders.calls, note), 'utf8')
    unknown.push(folders.hide(key).split(SEPARATOR).slice(0, -1))
  }
  const missing: string[][] = []
  for (const [number, { program, args }] of calls.entries())
    if (!(await readdir(join(folders.calls, String(number)))).includes('used'))
      missing.push([program, ...args])
  return { unknown, missing }
}
