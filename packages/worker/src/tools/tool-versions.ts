import { stat } from 'node:fs/promises'
import type { Runner, WorkerTool } from '@scanfarm/contracts'
import { outputOf } from '@scanfarm/engine'
import { Loop, type Logger } from '@scanfarm/platform'
import { questionOf, readManifest, versionIn, type Manifest, type Tool } from '@scanfarm/tools'
import { asCommands, type ToolSearch } from './usable-tools.ts'

const CHECK_EVERY_MS = 5_000
/** Also without a change that was noticed: rights change. */
const DETECT_EVERY_MS = 60_000
const FIND_MS = 30_000
/** Some are scripts that need seconds on a busy machine. */
const ASK_MS = 20_000
/** A program that did not tell its version is asked again after this time. */
const RETRY_MS = 600_000
/** Programs that are asked at the same time. */
const AT_ONCE = 2
const MAX_CHARS = 64 * 1024
const MAX_VERSION_CHARS = 64

let listed: ReadonlySet<string> | undefined

/** Whether workers report the version of a program of this name. */
export const isListedTool = (name: string): boolean => (listed ??= new Set(readManifest().keys())).has(name)

const FIND_SCRIPT = `for name; do
  file=$(command -v -- "$name") || continue
  case $file in /*) printf '%s\\t%s\\n' "$name" "$file" ;; esac
done`

interface Answer {
  readonly version: string
  readonly askedAt: number
}

export interface ToolVersionOptions {
  readonly search: ToolSearch
  readonly log: Logger
  /** Default: the shipped manifest. */
  readonly manifest?: Manifest
}

/** The programs of the manifest that commands of runs find on this machine, and their versions. */
export class ToolVersions {
  readonly #options: ToolVersionOptions
  readonly #manifest: Manifest
  /** By path, time and size of the file. */
  #answers = new Map<string, Answer>()
  #current: readonly WorkerTool[] = []

  constructor(options: ToolVersionOptions) {
    this.#options = options
    this.#manifest = options.manifest ?? readManifest()
  }

  /** As of the last detection. */
  get current(): readonly WorkerTool[] {
    return this.#current
  }

  /** Versions of these programs; `""`: not known. */
  of(names: readonly string[]): ReadonlyMap<string, string> {
    const versions = new Map(this.#current.map(({ name, version }) => [name, version]))
    return new Map(names.map((name) => [name, versions.get(name) ?? '']))
  }

  /**
   * Detects the programs as the user of commands. Programs whose file has not changed are not started. `names`: those
   * that commands can use, default all of the manifest.
   */
  async detect(
    names: readonly string[] = [...this.#manifest.keys()],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly WorkerTool[]> {
    const { search } = this.#options
    const tools = names
      .flatMap((name) => this.#manifest.get(name) ?? [])
      .filter(({ ask }) => ask !== undefined)
    return await asCommands(search, 'versions', signal, async (runner, folder) => {
      const own = { PATH: search.path, HOME: folder, TMPDIR: folder }
      const env = { ...own, LC_ALL: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1' }
      const programs = await findPrograms(runner, tools, env, signal)
      const found = await this.#ask(runner, programs, env, signal)
      if (!signal.aborted && JSON.stringify(found) !== JSON.stringify(this.#current)) this.#current = found
      return this.#current
    })
  }

  /** `names`: as for `detect`; a new array is detected soon. */
  watch(names: () => readonly string[] | undefined, onChange: (tools: readonly WorkerTool[]) => void): Loop {
    let [detectedAt, detected]: [number, readonly string[] | undefined] = [-Infinity, undefined]
    let state = ''
    return new Loop({
      name: 'tool versions',
      intervalMs: CHECK_EVERY_MS,
      log: this.#options.log,
      turn: async (signal) => {
        const wanted = names()
        const isSame = wanted === detected && (await this.#state()) === state
        if (isSame && performance.now() - detectedAt < DETECT_EVERY_MS) return
        const before = this.#current
        const found = await this.detect(wanted, signal)
        if (signal.aborted) return
        ;[detectedAt, detected] = [performance.now(), wanted]
        state = await this.#state()
        if (found !== before) onChange(found)
      },
    })
  }

  /** Changes when one of the known programs is replaced or removed. */
  async #state(): Promise<string> {
    const states = await Promise.all(this.#current.map(({ path }) => stateOf(path)))
    return states.join('\n')
  }

  async #ask(
    runner: Runner,
    programs: readonly FoundProgram[],
    env: Environment,
    signal: AbortSignal,
  ): Promise<WorkerTool[]> {
    const answers = new Map<string, Answer>()
    const found: WorkerTool[] = []
    const rest = [...programs]
    const askNext = async (): Promise<void> => {
      for (let program = rest.shift(); program !== undefined && !signal.aborted; program = rest.shift()) {
        const { tool, path } = program
        const key = await stateOf(path)
        const known = this.#answers.get(key)
        const isFresh =
          known !== undefined && (known.version !== '' || performance.now() - known.askedAt < RETRY_MS)
        const answer = isFresh
          ? known
          : { version: await askVersion(runner, program, env, signal), askedAt: performance.now() }
        if (!signal.aborted) answers.set(key, answer)
        found.push({ name: tool.name, version: answer.version, path })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, askNext))
    if (!signal.aborted) this.#answers = answers
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }
}

type Environment = Readonly<Record<string, string>>

interface FoundProgram {
  readonly tool: Tool
  readonly path: string
}

/** Changes when the file is replaced. */
const stateOf = async (path: string): Promise<string> =>
  await stat(path).then(
    ({ mtimeMs, size }) => `${path} ${mtimeMs} ${size}`,
    () => path,
  )

const findPrograms = async (
  runner: Runner,
  tools: readonly Tool[],
  env: Environment,
  signal: AbortSignal,
): Promise<FoundProgram[]> => {
  if (tools.length === 0) return []
  const argv = ['/bin/sh', '-c', FIND_SCRIPT, 'sh', ...tools.map(({ name }) => name)]
  const { text } = await outputOf(runner, argv, { env, timeoutMs: FIND_MS, signal })
  const paths = new Map(
    text.split('\n').map((line): [string, string | undefined] => {
      const [name = '', path] = line.split('\t')
      return [name, path]
    }),
  )
  return tools.flatMap((tool) => {
    const path = paths.get(tool.name)
    return path === undefined ? [] : [{ tool, path }]
  })
}

/** Exit codes do not count: some programs print their version and fail. */
const askVersion = async (
  runner: Runner,
  { tool, path }: FoundProgram,
  env: Environment,
  signal: AbortSignal,
): Promise<string> => {
  const argv = questionOf(tool, path)
  const { text } = await outputOf(runner, argv, { env, timeoutMs: ASK_MS, signal })
  return versionIn(tool, text.slice(0, MAX_CHARS))?.slice(0, MAX_VERSION_CHARS) ?? ''
}
