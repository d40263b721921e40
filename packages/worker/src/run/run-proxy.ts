import { plural, type Outcome, type Runner } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { boundVariables } from '@scanfarm/tools'
import { meteredText } from '../proxy/counts.ts'
import { MeteringProxy } from '../proxy/metering-proxy.ts'
import type { ProxyPorts } from '../proxy/ports.ts'
import type { Guard } from './guard.ts'
import type { WorkingDirectory } from './working-directory.ts'

export interface RunProxyParts {
  readonly guard: Guard
  readonly directory: WorkingDirectory
  readonly ports: ProxyPorts
  /** The share of the run. */
  readonly rate: number | null
  readonly log: (line: string) => void
  /** Some commands cannot use it, so that their requests are neither checked nor limited. */
  readonly unmetered: (why: string) => void
  /** Connections beside it do not wait for the rate. */
  readonly unpaced: (why: string) => void
}

/** What was not sent lowers the outcome of a command that seems to have worked. */
export const withBlocked = (outcome: Outcome, what: string): Outcome =>
  outcome.kind === 'exited'
    ? {
        ...outcome,
        blocked: outcome.blocked === undefined ? `blocked: ${what}` : `${outcome.blocked}; ${what}`,
      }
    : outcome

/** The proxy of a run with a rate or a scope, from its first command on this machine until its end. */
export class RunProxy implements AsyncDisposable {
  readonly #parts: RunProxyParts
  readonly #joined = new WeakMap<Runner, Promise<string | undefined>>()
  #opened: Promise<MeteringProxy | undefined> | undefined

  constructor(parts: RunProxyParts) {
    this.#parts = parts
  }

  get rate(): number | null {
    return this.#parts.rate
  }

  /** Says why connections beside it do not wait, if there is a rate. */
  passedBy(why: string): void {
    if (this.rate !== null) this.#parts.unpaced(why)
  }

  /** Undefined: the run needs none. */
  async open(): Promise<MeteringProxy | undefined> {
    return await (this.#opened ??= this.#open())
  }

  /** Runs a command that gets the proxy, and says what the proxy did not send. */
  async run(runner: Runner, ...[command, io]: Parameters<Runner['run']>): Promise<Outcome> {
    const { guard, log } = this.#parts
    let proxy: MeteringProxy | undefined
    try {
      proxy = await this.open()
    } catch (error) {
      return { kind: 'not-started', reason: `its requests cannot be limited: ${errorText(error)}` }
    }
    const address = proxy && (await this.#addressFor(runner, proxy))
    if (proxy === undefined || address === undefined) return await runner.run(command, io)
    const before = proxy.counts
    const url = `http://${address}`
    // The operator's own proxy stays.
    const env = {
      http_proxy: url,
      https_proxy: url,
      ...(runner.type !== 'host' && { no_proxy: 'localhost,127.0.0.1,::1' }),
      ...command.env,
      // Commands that work side by side have parts of the rate.
      ...boundVariables({ rate: Number(command.env['SCANFARM_RATE']) || null, proxy: address }),
    }
    const outcome = await runner.run({ ...command, env }, io)
    const now = proxy.counts
    const used = meteredText(before, now)
    if (used !== '') log(`through the proxy: ${used}`)
    guard.notSent(proxy.takeRefused())
    const refused = now.refused - before.refused
    return refused === 0
      ? outcome
      : withBlocked(outcome, `the proxy did not send ${plural(refused, 'request')}`)
  }

  /** Where commands of the runner reach the proxy. Undefined: they cannot. */
  async #addressFor(runner: Runner, proxy: MeteringProxy): Promise<string | undefined> {
    if (runner.type === 'host') return proxy.address
    const known = this.#joined.get(runner) ?? this.#join(runner, proxy)
    this.#joined.set(runner, known)
    return await known
  }

  async #join(runner: Runner, proxy: MeteringProxy): Promise<string | undefined> {
    try {
      const network = await runner.network?.()
      if (network !== undefined) return await proxy.join(network)
      this.#parts.unmetered(`commands of this ${runner.type} runner cannot reach it`)
    } catch (error) {
      this.#parts.unmetered(`it cannot listen for them: ${errorText(error)}`)
    }
    return undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const proxy = await this.#opened?.catch(() => undefined)
    await proxy?.[Symbol.asyncDispose]()
  }

  async #open(): Promise<MeteringProxy | undefined> {
    const { guard, directory, ports, rate } = this.#parts
    if (rate === null && !(await guard.hasScope())) return undefined
    const owner = await directory.open()
    return await MeteringProxy.open({
      route: (url, isTunnel) => guard.route(url, isTunnel),
      rate,
      isPerAddress: await guard.isPerAddress(),
      uid: owner?.uid,
      ports,
    })
  }
}
