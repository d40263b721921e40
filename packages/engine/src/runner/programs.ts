import type { Runner } from '@scanfarm/contracts'

/**
 * Prints each program that a user cannot start by its name, with the file of that name that is not executable for the
 * user. `command -v` alone also finds files that are not executable.
 */
const CHECK_SCRIPT = `set -f
for name; do
  found= closed=
  case $name in
  */*) if [ -f "$name" ] && [ -x "$name" ]; then found=$name; elif [ -e "$name" ]; then closed=$name; fi ;;
  *)
    IFS=:
    for folder in $PATH; do
      file=\${folder:-.}/$name
      [ -f "$file" ] || continue
      if [ -x "$file" ]; then found=$file; break; fi
      closed=\${closed:-$file}
    done
    unset IFS ;;
  esac
  [ -z "$found" ] || continue
  case $(command -v "$name") in '' | */*) printf '%s\\t%s\\n' "$name" "$closed" ;; esac
done`

interface SharedName {
  /** Arguments that make the expected program print its version. */
  readonly args: readonly string[]
  readonly answer: RegExp
  readonly expected: string
  readonly others: string
}

/** Program names that unrelated programs share. The program is started to find out which one it is. */
const SHARED_NAMES: Readonly<Record<string, SharedName>> = {
  httpx: {
    args: ['-version'],
    answer: /projectdiscovery|current version:/i,
    expected: "ProjectDiscovery's scanner",
    others: "Python's HTTP client has a command of that name",
  },
}

const VERSION_MS = 10_000
const CHECK_MS = 60_000
const MAX_OUTPUT = 1 << 20
const MAX_VERSION_CHARS = 64

type Environment = Readonly<Record<string, string>>

/** The beginning of what a program prints, and how it ended. */
export const outputOf = async (
  runner: Runner,
  argv: readonly string[],
  { env, signal, timeoutMs }: { env: Environment; signal: AbortSignal; timeoutMs: number },
): Promise<{ code: number | undefined; problem: string; text: string }> => {
  let text = ''
  const outcome = await runner.run(
    { argv, env, timeoutMs },
    { signal, onOutput: (_, chunk) => void (text = (text + chunk.toString()).slice(0, MAX_OUTPUT)) },
  )
  const code = outcome.kind === 'exited' ? outcome.code : undefined
  const problem = 'reason' in outcome && outcome.reason !== undefined ? outcome.reason : outcome.kind
  return { code, problem, text }
}

const wrongProgram = async (
  runner: Runner,
  name: string,
  where: { env: Environment; signal: AbortSignal },
): Promise<string | undefined> => {
  const shared = Object.hasOwn(SHARED_NAMES, name) ? SHARED_NAMES[name] : undefined
  if (shared === undefined) return undefined
  const argv = ['/bin/sh', '-c', '"$@" 2>&1', 'sh', name, ...shared.args]
  const { code, problem, text } = await outputOf(runner, argv, { ...where, timeoutMs: VERSION_MS })
  if (shared.answer.test(text)) return undefined
  const asked = `${name} ${shared.args.join(' ')}`
  if (code === undefined) return `${asked} did not end: ${problem}`
  const said = text.trim().split('\n')[0]?.slice(0, MAX_VERSION_CHARS) ?? ''
  return `it is not ${shared.expected} (${shared.others}): ${asked} answers ${JSON.stringify(said)}`
}

/**
 * The reasons why commands of a runner cannot use programs, by name; `""` if no file has that name. The check runs as
 * the user of commands, with their PATH. Rejects if the check itself fails.
 */
export const unusablePrograms = async (
  runner: Runner,
  names: readonly string[],
  where: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<Map<string, string>> => {
  const argv = ['/bin/sh', '-c', CHECK_SCRIPT, 'sh', ...names]
  const { code, problem, text } = await outputOf(runner, argv, { ...where, timeoutMs: CHECK_MS })
  if (code !== 0)
    throw new Error(`the check for programs failed: ${code === undefined ? problem : text.trim()}`)
  const unusable = new Map(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line): [string, string] => {
        const [name = '', closed = ''] = line.split('\t')
        return [name, closed === '' ? '' : `${closed} is not executable for the user that commands run as`]
      }),
  )
  for (const name of names) {
    const why = unusable.has(name) ? undefined : await wrongProgram(runner, name, where)
    if (why !== undefined) unusable.set(name, why)
  }
  return unusable
}
