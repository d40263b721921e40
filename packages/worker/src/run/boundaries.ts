import { lookup } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { errorText, settlesWithin } from '@scanfarm/platform'
import { Fences, NO_FENCE, type Fence } from '../network/fences.ts'
import type { LimitSpans } from './limit-spans.ts'
import { PromiseCache } from './promise-cache.ts'
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

/**
 * What the runs of this process may scan. It is read again when the farm reports a new version, so that a change also
 * applies to the next step of a run that has begun.
 */
export class Boundaries {
  readonly #store: Pick<RunStore, 'boundary' | 'takeLimits'>
  readonly #resolver: Resolver
  readonly #known = new PromiseCache<Rules>(MAX_KEPT, MAX_AGE_MS)
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
    const rules = await this.#rulesOf(run)
    if (rules === undefined) return ALLOWED
    const { boundary } = rules
    const permission = allows(boundary, target, new Date())
    if (!permission.allowed || !hasAddresses(boundary)) return permission
    const all: string[] = []
    for (const name of namesIn(target)) {
      const addresses = await resolved(name, this.#resolver)
      if ('problem' in addresses) return unresolved('addresses are forbidden', name, addresses.problem)
      const found = allowsAddresses(boundary, target, addresses)
      if (!found.allowed) return found
      all.push(...addresses)
    }
    return all.length === 0 ? ALLOWED : { allowed: true, addresses: all }
  }

  /** Where packets of the run may be sent. `scanned`: names that it may scan. */
  async fence(run: ClaimedRun, scanned: ReadonlySet<string>): Promise<Fence> {
    const rules = await this.#rulesOf(run)
    if (rules === undefined) return NO_FENCE
    const { boundary } = rules
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
    const found = await this.#rulesOf(run)
    return found?.boundary.scopes.find(({ rules }) => rules.enforcement === 'kernel')?.rules.name
  }

  /** Whether requests of its commands have to be checked: it has a scope. */
  async hasScope(run: ClaimedRun): Promise<boolean> {
    const rules = await this.#rulesOf(run)
    return rules !== undefined && rules.boundary.scopes.length > 0
  }

  /** The addresses of a host, or why they are not known. */
  async addressesOf(host: string): Promise<readonly string[] | { readonly problem: string }> {
    return isIP(host) === 0 ? await resolved(host, this.#resolver) : [host]
  }

  /** The kinds of hosts that limits of the run are about. */
  async limited(run: ClaimedRun): Promise<ReadonlySet<LimitKind>> {
    return (await this.#rulesOf(run))?.limited ?? NO_KINDS
  }

  /** Adds the hosts of a target. Refuses it if their addresses are needed and not known. */
  async addSpans(text: string, spans: LimitSpans): Promise<Checked> {
    const all: string[] = []
    for (const name of spans.needsAddresses ? namesIn(text) : []) {
      const addresses = await resolved(name, this.#resolver)
      if ('problem' in addresses) return unresolved('limits count addresses', name, addresses.problem)
      all.push(...addresses)
    }
    spans.add(text, all)
    return ALLOWED
  }

  async takeLimits({ runId, attempt }: RunKey, spans: readonly LimitSpan[]): Promise<LimitShare> {
    return await this.#store.takeLimits({ runId, attempt }, spans)
  }

  /** Undefined: the farm has no scope and no entry. */
  async #rulesOf(run: ClaimedRun): Promise<Rules | undefined> {
    this.note(run.scopesVersion)
    if (this.#version === 0) return undefined
    const key = JSON.stringify([this.#version, run.scopes, run.workflowName])
    return await this.#known.get(key, () => this.#read(run))
  }

  async #read({ runId, attempt }: RunKey): Promise<Rules> {
    const { scopes, neverScan, limited } = await this.#store.boundary({ runId, attempt })
    return { boundary: boundaryOf(scopes, neverScan), limited: new Set(limited) }
  }
}

const unresolved = (why: string, name: string, problem: string): Checked => ({
  allowed: false,
  cause: 'unresolved',
  reason: `${why}, and those of ${name} are not known: ${problem}`,
})

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
  const answer = resolve(name).then(
    (found) => found.map(({ address }) => address),
    (error: unknown) => {
      const code = Error.isError(error) && 'code' in error ? String(error.code) : errorText(error)
      return code === 'ENOTFOUND' ? [] : { problem: code }
    },
  )
  const isInTime = await settlesWithin(answer, limitMs)
  return isInTime ? await answer : { problem: `no answer within ${limitMs / 1000} s` }
}
