import { lookup } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { errorText } from '@scanfarm/platform'
import { Fences, NO_FENCE, type Fence } from '../network/fences.ts'
import type { LimitSpans } from './limit-spans.ts'
import type {
  Boundary,
  LimitKind,
  LimitShare,
  LimitSpan,
  ClaimedRun,
  Permission,
  RunKey,
  RunStore,
} from '@scanfarm/contracts'
import { allows, allowsAddresses, boundaryOf, hasAddresses, namesIn } from '@scanfarm/contracts'

/** Entries of the never-scan list end in time. */
const MAX_AGE_MS = 60_000
const MAX_KEPT = 100
const DNS_MS = 5_000
/** `addresses`: those of the names in the target, where they had to be found out. */
export type Checked = Permission & { readonly addresses?: readonly string[] }
const ALLOWED: Checked = { allowed: true }
const NO_KINDS: ReadonlySet<LimitKind> = new Set()

interface Rules {
  readonly boundary: Boundary
  readonly limited: ReadonlySet<LimitKind>
}

interface Known {
  readonly rules: Promise<Rules>
  readonly readAt: number
}

/**
 * What the runs of this process may scan. It is read again when the farm reports a new version, so that a change also
 * applies to the next step of a run that has begun.
 */
export class Boundaries {
  readonly #store: Pick<RunStore, 'boundary' | 'takeLimits'>
  readonly #resolver: Resolver
  readonly #known = new Map<string, Known>()
  readonly #fences = new WeakMap<Boundary, Fences>()
  /** 0: the farm has no scope and no entry. */
  #version = 0

  constructor(
    store: Pick<RunStore, 'boundary' | 'takeLimits'>,
    resolver: Resolver = { resolve: addressesOf, limitMs: DNS_MS },
  ) {
    this.#store = store
    this.#resolver = resolver
  }

  get version(): number {
    return this.#version
  }

  /** The farm has reported this version. */
  note(version: number): void {
    this.#version = Math.max(version, this.#version)
  }

  /** Whether a target, or an item of a loop, may be scanned now. The names in it are resolved. */
  async permission(run: ClaimedRun, target: string): Promise<Checked> {
    this.note(run.scopesVersion)
    if (this.#version === 0) return ALLOWED
    const { boundary } = await this.#rulesOf(run)
    const permission = allows(boundary, target, new Date())
    if (!permission.allowed || !hasAddresses(boundary)) return permission
    const all: string[] = []
    for (const name of namesIn(target)) {
      const addresses = await resolved(name, this.#resolver)
      if ('problem' in addresses)
        return {
          allowed: false,
          cause: 'unresolved',
          reason: `addresses are forbidden, and those of ${name} are not known: ${addresses.problem}`,
        }
      const found = allowsAddresses(boundary, target, addresses)
      if (!found.allowed) return found
      all.push(...addresses)
    }
    return all.length === 0 ? ALLOWED : { allowed: true, addresses: all }
  }

  /** Where packets of the run may be sent. `scanned`: names that it may scan. */
  async fence(run: ClaimedRun, scanned: ReadonlySet<string>): Promise<Fence> {
    this.note(run.scopesVersion)
    if (this.#version === 0) return NO_FENCE
    const { boundary } = await this.#rulesOf(run)
    const known =
      this.#fences.get(boundary) ??
      new Fences(boundary, async (name) => {
        const found = await resolved(name, this.#resolver)
        return 'problem' in found ? [] : found
      })
    this.#fences.set(boundary, known)
    return await known.of(scanned)
  }

  /** The scope that demands that the kernel drops packets. */
  async enforcedScope(run: ClaimedRun): Promise<string | undefined> {
    this.note(run.scopesVersion)
    if (this.#version === 0) return undefined
    const { scopes } = (await this.#rulesOf(run)).boundary
    return scopes.find(({ rules }) => rules.enforcement === 'kernel')?.rules.name
  }

  /** Whether requests of its commands have to be checked: it has a scope. */
  async hasScope(run: ClaimedRun): Promise<boolean> {
    this.note(run.scopesVersion)
    return this.#version !== 0 && (await this.#rulesOf(run)).boundary.scopes.length > 0
  }

  /** The addresses of a host, or why they are not known. */
  async addressesOf(host: string): Promise<readonly string[] | { readonly problem: string }> {
    return isIP(host) === 0 ? await resolved(host, this.#resolver) : [host]
  }

  /** The kinds of hosts that limits of the run are about. */
  async limited(run: ClaimedRun): Promise<ReadonlySet<LimitKind>> {
    this.note(run.scopesVersion)
    return this.#version === 0 ? NO_KINDS : (await this.#rulesOf(run)).limited
  }

  /** Adds the hosts of a target. Refuses it if their addresses are needed and not known. */
  async addSpans(text: string, spans: LimitSpans): Promise<Checked> {
    const all: string[] = []
    for (const name of spans.needsAddresses ? namesIn(text) : []) {
      const addresses = await resolved(name, this.#resolver)
      if ('problem' in addresses)
        return {
          allowed: false,
          cause: 'unresolved',
          reason: `limits count addresses, and those of ${name} are not known: ${addresses.problem}`,
        }
      all.push(...addresses)
    }
    spans.add(text, all)
    return ALLOWED
  }

  async takeLimits({ runId, attempt }: RunKey, spans: readonly LimitSpan[]): Promise<LimitShare> {
    return await this.#store.takeLimits({ runId, attempt }, spans)
  }

  async #rulesOf(run: ClaimedRun): Promise<Rules> {
    const key = JSON.stringify([this.#version, run.scopes, run.workflowName])
    const known = this.#known.get(key)
    if (known !== undefined && performance.now() - known.readAt < MAX_AGE_MS) return await known.rules
    const read = { rules: this.#read(run), readAt: performance.now() }
    this.#known.delete(key)
    this.#known.set(key, read)
    read.rules.catch(() => {
      if (this.#known.get(key) === read) this.#known.delete(key)
    })
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_KEPT && oldest !== undefined) this.#known.delete(oldest)
    return await read.rules
  }

  async #read({ runId, attempt }: RunKey): Promise<Rules> {
    const { scopes, neverScan, limited } = await this.#store.boundary({ runId, attempt })
    return { boundary: boundaryOf(scopes, neverScan), limited: new Set(limited) }
  }
}

interface Resolver {
  readonly resolve: (name: string) => Promise<readonly LookupAddress[]>
  readonly limitMs: number
}

/** As programs on this machine find them. */
const addressesOf = (name: string): Promise<LookupAddress[]> => lookup(name, { all: true })

/** A name that does not exist has no addresses; any other failure leaves them unknown. */
const resolved = async (
  name: string,
  { resolve, limitMs }: Resolver,
): Promise<readonly string[] | { readonly problem: string }> => {
  const { promise: late, resolve: end } = Promise.withResolvers<{ problem: string }>()
  const timer = setTimeout(() => end({ problem: `no answer within ${limitMs / 1000} s` }), limitMs)
  const answer = resolve(name).then(
    (found) => found.map(({ address }) => address),
    (error: unknown) => {
      const code = Error.isError(error) && 'code' in error ? String(error.code) : errorText(error)
      return code === 'ENOTFOUND' ? [] : { problem: code }
    },
  )
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
