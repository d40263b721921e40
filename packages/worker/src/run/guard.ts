import { basename, dirname } from 'node:path'
import type { DestinationPlace, LimitShare, Permission, RunRefusalPlace } from '@scanfarm/contracts'
import { destinationsOf, isFoundByTarget, namesHost, namesIn, plural, uploadKeyOf } from '@scanfarm/contracts'
import { Folder } from '@scanfarm/paths'
import { isWithin, type Fence } from '../network/fences.ts'
import type { Blocked } from '../network/blocked.ts'
import type { Refused, Route } from '../proxy/metering-proxy.ts'
import type { Session } from '../slots/session.ts'
import type { Boundaries, Checked } from './boundaries.ts'
import { LimitSpans } from './limit-spans.ts'

/** Most names that a run scans whose addresses are found out, and most addresses of one command that are recorded. */
const SCANNED_NAMES = 100
const BLOCKED_ADDRESSES = 100
const RECENT_MS = 1_000
/** Most sites of URLs that were allowed. */
const ALLOWED_SITES = 10_000

/** Checks what one run may scan, and records that and what it may not. */
export class Guard {
  readonly #session: Session
  readonly #boundaries: Boundaries
  readonly #scanned = new Set<string>()
  /** Sites of allowed URLs: tunnels to them are, whatever paths are asked for in them. */
  readonly #sites = new Set<string>()
  #recent: { readonly at: number; readonly names: number; readonly fence: Promise<Fence> } | undefined
  #spans: LimitSpans | undefined
  /** Shares that were taken before the run began, unless scopes or limits have changed since. */
  #ahead: Promise<{ readonly share: LimitShare; readonly version: number } | undefined> | undefined
  readonly #onRefused: ((place: RunRefusalPlace) => void) | undefined

  constructor(session: Session, boundaries: Boundaries, onRefused?: (place: RunRefusalPlace) => void) {
    this.#session = session
    this.#boundaries = boundaries
    this.#onRefused = onRefused
  }

  /**
   * When the run is claimed: takes the shares of its limits, in one statement with those of others, unless names have to
   * be looked up for it. Without a share the run is handed back and takes no slot.
   */
  claimed(): void {
    const { run } = this.#session
    if (run.scopesVersion === 0 || uploadKeyOf(run.target) !== undefined) return
    this.#ahead = this.#shareAhead().catch(() => undefined)
  }

  async #shareAhead(): Promise<{ share: LimitShare; version: number } | undefined> {
    const { run } = this.#session
    const spans = new LimitSpans(await this.#boundaries.limited(run))
    const { version } = this.#boundaries
    if (spans.needsAddresses && namesIn(run.target).length > 0) return undefined
    spans.add(run.target, [])
    const share = await this.#take(spans)
    if ('reason' in share) this.#session.stop('limited')
    return { share, version }
  }

  async #take(spans: LimitSpans | undefined): Promise<LimitShare> {
    const list = spans?.list() ?? []
    return list.length === 0 ? { rate: null } : await this.#boundaries.takeLimits(this.#session.run, list)
  }

  /** Before the first step. `file`: the uploaded file that is the target; each line of it is checked. */
  async start(file: string | undefined): Promise<Permission> {
    const { run } = this.#session
    const found = await this.#checked(file === undefined ? run.target : '')
    if (!found.allowed) return this.#noted(run.target, found)
    if (file === undefined) {
      this.#met(run.target, isFoundByTarget(run.target) ? undefined : 'target', found)
      return found
    }
    using folder = Folder.at(dirname(file))
    using handle = folder.entry(basename(file))
    // Another run in the workspace can replace it.
    if (!handle.facts.isFile()) throw new Error(`the target file ${file} was replaced`)
    await using opened = await handle.open()
    let number = 0
    for await (const text of opened.readLines()) {
      number += 1
      const line = text.trim()
      if (!namesHost(line)) continue
      const one = await this.#checked(line)
      if (one.allowed) this.#met(line, 'target', one)
      else
        return this.#noted(run.target, {
          ...one,
          reason: `line ${number}, ${line.slice(0, 200)}: ${one.reason}`,
        })
    }
    return found
  }

  /** After `start`: takes the shares of its limits. */
  async share(): Promise<LimitShare> {
    const ahead = await this.#ahead
    return ahead?.version === this.#boundaries.version ? ahead.share : await this.#take(this.#spans)
  }

  /** The reason why an item may not be scanned, or a URL not requested. */
  async refusal(
    target: string,
    place: Exclude<RunRefusalPlace, 'start' | 'kernel'>,
  ): Promise<string | undefined> {
    const found = await this.#boundaries.permission(this.#session.run, target)
    if (found.allowed) {
      this.#met(target, place, found)
      return undefined
    }
    this.#record(target, found.reason, place)
    return found.reason
  }

  /** Where a request of a command may be sent. It is not recorded here if it may not. */
  async route(url: string, isTunnel: boolean): Promise<Route> {
    const { run } = this.#session
    const found = await this.#boundaries.permission(run, url)
    if (!found.allowed && !(isTunnel && found.cause === 'not_allowed' && this.#sites.has(url))) return found
    const { hostname, port, protocol } = new URL(url)
    const host = hostname.replace(/^\[|\]$/g, '')
    const checked = found.allowed ? found.addresses : undefined
    const addresses = checked ?? (await this.#boundaries.addressesOf(host))
    if ('problem' in addresses)
      return { reason: `the addresses of ${host} are not known: ${addresses.problem}` }
    this.#scan(url)
    const fence = await this.#recentFence()
    const to = Number(port) || (protocol === 'http:' ? 80 : 443)
    const outside = addresses.find((address) => !isWithin(fence, address, to))
    if (outside !== undefined)
      return { reason: `its address ${outside} belongs to a host that may not be scanned` }
    this.#met(url, 'request', found.allowed ? found : { allowed: true })
    return { addresses }
  }

  /** Records that requests of a command were not sent. */
  notSent(refused: readonly Refused[]): void {
    for (const { origin, reason, count } of refused)
      this.#record(origin, `${plural(count, 'request')} of a command not sent: ${reason}`, 'request')
  }

  /** Whether the proxy has to check and to count for its commands, beside a rate. */
  async hasScope(): Promise<boolean> {
    return await this.#boundaries.hasScope(this.#session.run)
  }

  /** Whether its rates are those of each address. */
  async isPerAddress(): Promise<boolean> {
    const kinds = await this.#boundaries.limited(this.#session.run)
    return kinds.size === 1 && kinds.has('per_address')
  }

  /** Where packets of its commands may be sent. */
  async fence(): Promise<Fence> {
    return await this.#boundaries.fence(this.#session.run, this.#scanned)
  }

  /** The same for many requests, of which each would look up names. */
  async #recentFence(): Promise<Fence> {
    const names = this.#scanned.size
    if (this.#recent?.names !== names || performance.now() - this.#recent.at > RECENT_MS)
      this.#recent = { at: performance.now(), names, fence: this.fence() }
    return await this.#recent.fence
  }

  /** Why commands that the kernel does not fence in may not run. */
  async unfenced(why: string): Promise<string | undefined> {
    const scope = await this.#boundaries.enforcedScope(this.#session.run)
    return scope && `the scope ${scope} demands that the kernel keeps packets within it: ${why}`
  }

  /** Records that the kernel did not send packets of a command; says so in words. */
  async blocked({ packets, addresses }: Blocked): Promise<string> {
    const known = [...addresses].sort(([, a], [, b]) => b - a)
    for (const [address, count] of known.slice(0, BLOCKED_ADDRESSES)) {
      const found = await this.#boundaries.permission(this.#session.run, address)
      const why = found.allowed ? 'it belongs to no host that may be scanned' : found.reason
      this.#record(address, `${plural(count, 'packet')} of a command not sent: ${why}`, 'kernel')
    }
    if (known.length === 0) this.#record('', `${plural(packets, 'packet')} of a command not sent`, 'kernel')
    const [first] = known
    const more =
      known.length > 1 ? ` and ${plural(known.length - 1, 'other address', 'other addresses')}` : ''
    const where = first === undefined ? '' : ` to ${first[0]}${more}`
    return `${plural(packets, 'packet')}${where} ${packets === 1 ? 'was' : 'were'} not sent`
  }

  /** Whether the target or a line of it may be scanned; its hosts count for limits. */
  async #checked(text: string): Promise<Checked> {
    const { run } = this.#session
    const found = await this.#boundaries.permission(run, text)
    if (!found.allowed) return found
    this.#spans ??= new LimitSpans(await this.#boundaries.limited(run))
    const counted = await this.#boundaries.addSpans(text, this.#spans)
    return counted.allowed ? found : counted
  }

  #scan(text: string): void {
    for (const name of namesIn(text)) if (this.#scanned.size < SCANNED_NAMES) this.#scanned.add(name)
  }

  #met(text: string, place: DestinationPlace | undefined, { addresses = [] }: Checked): void {
    const { recorder } = this.#session
    const site = /^https:/i.test(text) ? URL.parse('/', text) : null
    if (site !== null && this.#sites.size < ALLOWED_SITES) this.#sites.add(site.href)
    this.#scan(text)
    if (place !== undefined) recorder.destinations(place, destinationsOf(text))
    recorder.destinations('resolved', addresses.flatMap(destinationsOf))
  }

  /** A run that waits for its window is not refused. */
  #noted(target: string, found: Permission): Permission {
    if (!found.allowed && found.cause !== 'closed') this.#record(target, found.reason, 'start')
    return found
  }

  #record(target: string, reason: string, place: RunRefusalPlace): void {
    this.#session.recorder.refused({ target, reason, place })
    this.#onRefused?.(place)
  }
}
