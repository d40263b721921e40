import type { Runner } from '@scanfarm/contracts'

/**
 * Prints each of the programs that a user cannot start by its name, and the file of that name that is closed to it. The
 * shell's own lookup also finds files that are not executable.
 */
const LOOK = `set -f
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
  /** Makes the program that is meant tell its version. */
  readonly args: readonly string[]
  readonly answer: RegExp
  readonly meant: string
  readonly others: string
}

/** Names that programs share which have nothing to do with each other: the program is asked which one it is. */
const SHARED_NAMES: Readonly<Record<string, SharedName>> = {
  httpx: {
    args: ['-version'],
    answer: /projectdiscovery|current version:/i,
    meant: "ProjectDiscovery's scanner",
    others: "Python's HTTP client has a command of that name",
  },
}

const VERSION_MS = 10_000
const LOOK_MS = 60_000
const MOST_ANSWER = 1 << 20
const WORD = 64

type Environment = Readonly<Record<string, string>>

const answerOf = async (
  runner: Runner,
  argv: readonly string[],
  { env, signal, timeoutMs }: { env: Environment; signal: AbortSignal; timeoutMs: number },
): Promise<{ code: number | undefined; problem: string; text: string }> => {
  let text = ''
  const outcome = await runner.run(
    { argv, env, timeoutMs },
    { signal, onOutput: (_, chunk) => void (text = (text + chunk.toString()).slice(0, MOST_ANSWER)) },
  )
  const code = outcome.kind === 'exited' ? outcome.code : undefined
  const problem = 'reason' in outcome && outcome.reason !== undefined ? outcome.reason : outcome.kind
  return { code, problem, text }
}

const notMeant = async (
  runner: Runner,
  name: string,
  where: { env: Environment; signal: AbortSignal },
): Promise<string | undefined> => {
  const shared = Object.hasOwn(SHARED_NAMES, name) ? SHARED_NAMES[name] : undefined
  if (shared === undefined) return undefined
  const argv = ['/bin/sh', '-c', '"$@" 2>&1', 'sh', name, ...shared.args]
  const { code, problem, text } = await answerOf(runner, argv, { ...where, timeoutMs: VERSION_MS })
  if (shared.answer.test(text)) return undefined
  const asked = `${name} ${shared.args.join(' ')}`
  if (code === undefined) return `${asked} did not end: ${problem}`
  const said = text.trim().split('\n')[0]?.slice(0, WORD) ?? ''
  return `it is not ${shared.meant} (${shared.others}): ${asked} answers ${JSON.stringify(said)}`
}

/**
 * Why commands of a runner cannot use programs, by name; `""` where no file has the name. The look-up runs as the user of
 * commands, with their PATH. Rejects when the look-up fails.
 */
export const unusablePrograms = async (
  runner: Runner,
  names: readonly string[],
  where: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<Map<string, string>> => {
  const argv = ['/bin/sh', '-c', LOOK, 'sh', ...names]
  const { code, problem, text } = await answerOf(runner, argv, { ...where, timeoutMs: LOOK_MS })
  if (code !== 0)
    throw new Error(`programs cannot be looked for: ${code === undefined ? problem : text.trim()}`)
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
    const why = unusable.has(name) ? undefined : await notMeant(runner, name, where)
    if (why !== undefined) unusable.set(name, why)
  }
  return unusable
}
