import { errorText, Loop, type Logger } from '@scanfarm/platform'
import { detectCapabilities, engineAddress, type DockerSettings } from '@scanfarm/runners'
import { pathState, programsOn, usableTools, type ToolSearch } from './usable-tools.ts'

const CHECK_EVERY_MS = 5_000
/** Also without a change in the folders: rights change, and so does the docker engine. */
const DETECT_EVERY_MS = 60_000

export interface CapabilityOptions {
  readonly search: ToolSearch
  readonly docker: DockerSettings
  /** `name=value` */
  readonly labels: readonly string[]
  /** Of the process. */
  readonly always: readonly string[]
  readonly log: Logger
}

/** What commands on this machine can use, detected at the start and again when the folders of tools change. */
export class Capabilities {
  readonly #options: CapabilityOptions
  #current: readonly string[] = []
  #tools: readonly string[] | undefined
  /** State of the folders at the last detection. */
  #state: string | undefined
  #detectedAt = -Infinity

  constructor(options: CapabilityOptions) {
    this.#options = options
  }

  get current(): readonly string[] {
    return this.#current
  }

  /** Names of programs; undefined before the first detection. A new array after each change. */
  get tools(): readonly string[] | undefined {
    return this.#tools
  }

  /** Does not reject: tools that cannot be detected are not offered, and detected later. */
  async detectFirst(): Promise<void> {
    try {
      await this.#detect(await pathState(this.#options.search.path))
    } catch (error) {
      this.#options.log.warn('tools could not be detected; none is offered yet', { reason: errorText(error) })
    }
  }

  watch(onChange: (capabilities: readonly string[]) => void): Loop {
    const { search, log } = this.#options
    return new Loop({
      name: 'tools',
      intervalMs: CHECK_EVERY_MS,
      log,
      turn: async (signal) => {
        const state = await pathState(search.path)
        if (state === this.#state && performance.now() - this.#detectedAt < DETECT_EVERY_MS) return
        const before = this.#current
        await this.#detect(state, signal)
        if (before.join(' ') === this.#current.join(' ')) return
        log.info('the tools that commands can use have changed', difference(before, this.#current))
        onChange(this.#current)
      },
    })
  }

  async #detect(state: string, signal?: AbortSignal): Promise<void> {
    const { search, docker, labels, always } = this.#options
    const tools = await usableTools(search, await programsOn(search.path), signal)
    const found = await detectCapabilities({
      tools,
      docker: engineAddress(docker),
      labels: [...labels.map((label) => `label:${label}`), ...always],
    })
    if (signal?.aborted === true) return
    this.#current = found
    if (tools.join(' ') !== this.#tools?.join(' ')) this.#tools = tools
    this.#state = state
    this.#detectedAt = performance.now()
  }
}

const difference = (before: readonly string[], now: readonly string[]) => ({
  added: now.filter((word) => !before.includes(word)),
  removed: before.filter((word) => !now.includes(word)),
})
