import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@scanfarm/platform'
import { consoleBuilds, hashOfSources, sealedBuild } from './console-build.ts'
import { ConsoleFiles } from './console-files.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const PROGRAM = 'scripts/console/main.ts'

/** How often the sources of a checkout are compared with the build, while somebody uses the console. */
const CHECK_MS = 2_000
const BUILD_MS = 5 * 60_000
/** A failed build is repeated when the sources change, or after this time. */
const REPEAT_MS = 60_000
const SHOWN_OUTPUT = 4_096

/** `absent`: this installation contains no console. */
export type ConsoleState = 'absent' | 'building' | 'failed' | ConsoleFiles

interface Build {
  readonly name: string
  readonly files: ConsoleFiles
}

export interface WebConsoleOptions {
  readonly log: Logger
  /** The checkout or the installation. Tests pass another. */
  readonly root?: string
}

/** The built console. In a checkout it is built on first use and when its sources have changed. */
export class WebConsole implements Disposable {
  readonly #log: Logger
  readonly #root: string
  readonly #stop = new AbortController()
  #build: Build | undefined
  #building: Promise<void> | undefined
  #failed: { readonly name: string; readonly at: number } | undefined
  #checking: Promise<ConsoleState> | undefined
  #state: ConsoleState = 'absent'
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor({ log, root = ROOT }: WebConsoleOptions) {
    this.#log = log
    this.#root = root
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
  }

  /** Never waits for a build. */
  async state(): Promise<ConsoleState> {
    if (performance.now() - this.#checkedAt < CHECK_MS && this.#building === undefined) return this.#state
    return await (this.#checking ??= this.#check().finally(() => (this.#checking = undefined)))
  }

  /** Waits for a build that is under way. */
  async built(): Promise<ConsoleState> {
    const state = await this.state()
    if (state !== 'building') return state
    await this.#building
    return await this.state()
  }

  async #check(): Promise<ConsoleState> {
    this.#state = await this.#find()
    this.#checkedAt = performance.now()
    return this.#state
  }

  async #find(): Promise<ConsoleState> {
    const wanted = (await hashOfSources(this.#root)) ?? (await sealedBuild(this.#root))
    if (wanted === undefined) return 'absent'
    if (this.#build?.name === wanted) return this.#build.files
    const folder = join(consoleBuilds(this.#root), wanted)
    if (existsSync(folder)) {
      this.#build = { name: wanted, files: await ConsoleFiles.open(folder) }
      return this.#build.files
    }
    const failed = this.#failed
    if (failed?.name === wanted && performance.now() - failed.at < REPEAT_MS) return 'failed'
    this.#building ??= this.#run(wanted).finally(() => {
      this.#building = undefined
      this.#checkedAt = Number.NEGATIVE_INFINITY
    })
    return 'building'
  }

  /** In a process of its own with a low priority. It needs no settings, so it gets no environment, which may contain secrets. */
  async #run(name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM], {
      cwd: this.#root,
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: BUILD_MS,
      signal: this.#stop.signal,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-SHOWN_OUTPUT)))
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code, signal) =>
      resolve(code === 0 ? undefined : output.trim() || `it ended with ${signal ?? code}`),
    )
    const problem = await promise
    if (this.#stop.signal.aborted) return
    if (problem === undefined) return void this.#log.info('the console was built')
    this.#failed = { name, at: performance.now() }
    this.#log.error(`the console cannot be built; to see why, run: scripts/run ${PROGRAM}`, { problem })
  }
}
