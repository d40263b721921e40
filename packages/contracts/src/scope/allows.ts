import { EntrySet } from './entry-set.ts'
import { addressRanges } from './host.ts'
import type { NeverScanRule, ScopeRules } from './schemas.ts'
import { readTarget, type ScopeTarget } from './target.ts'
import { isOpen, opensNext, windowsText } from './windows.ts'

export type RefusalCause =
  'never_scan' | 'denied' | 'not_allowed' | 'unclear' | 'unresolved' | 'expired' | 'closed'

/** Whether a target may be scanned now; if not, the reason for people. */
export type Permission =
  | { readonly allowed: true }
  | {
      readonly allowed: false
      readonly cause: RefusalCause
      readonly reason: string
      /** For `closed`: when it may be scanned. */
      readonly opensAt?: Date
    }

const ALLOWED: Permission = { allowed: true }

export interface CompiledScope {
  readonly rules: ScopeRules
  readonly allowed: EntrySet
  readonly denied: EntrySet
}

export const compileScope = (rules: ScopeRules): CompiledScope => ({
  rules,
  allowed: new EntrySet(rules.allowed),
  denied: new EntrySet(rules.denied),
})

export interface CompiledList {
  readonly entries: EntrySet
  readonly notes: ReadonlyMap<string, readonly NeverScanRule[]>
}

export const compileNeverScan = (rules: readonly NeverScanRule[]): CompiledList => ({
  entries: new EntrySet(rules.map(({ entry }) => entry)),
  notes: Map.groupBy(rules, ({ entry }) => entry),
})

/** What applies to a run: its scope, that of its workspace, and the never-scan list. */
export interface Boundary {
  readonly scopes: readonly CompiledScope[]
  readonly neverScan: CompiledList
}

export const boundaryOf = (scopes: readonly ScopeRules[], neverScan: readonly NeverScanRule[]): Boundary => ({
  scopes: scopes.map(compileScope),
  neverScan: compileNeverScan(neverScan),
})

const dateText = (time: string): string => new Date(time).toISOString().replace(/\.000Z$/, 'Z')

const listed = (what: string, entry: string, { notes }: CompiledList): Permission => {
  const [note] = notes.get(entry) ?? []
  const until = (end: string | null): string => (end === null ? '' : `, until ${dateText(end)}`)
  const why = note === undefined ? '' : ` (${note.reason}${until(note.until)})`
  return {
    allowed: false,
    cause: 'never_scan',
    reason: `${what} is on the never-scan list as ${entry}${why}`,
  }
}

const denies = (name: string, entry: string, what: string): Permission => ({
  allowed: false,
  cause: 'denied',
  reason: `the scope ${name} denies ${entry}${what}`,
})

const inTime = (
  { name, valid_from: from, valid_until: until, windows, zone }: ScopeRules,
  at: Date,
): Permission => {
  if (until !== null && at >= new Date(until))
    return { allowed: false, cause: 'expired', reason: `the scope ${name} ended at ${dateText(until)}` }
  const begins = from === null ? at : new Date(from)
  const first = begins > at ? begins : at
  if (first === at && isOpen(windows, zone, at)) return ALLOWED
  const opensAt = isOpen(windows, zone, first) ? first : opensNext(windows, zone, first)
  const times = windows.length === 0 ? '' : ` (${windowsText(windows, zone)})`
  return until !== null && opensAt >= new Date(until)
    ? { allowed: false, cause: 'expired', reason: `the scope ${name} ends before it opens again${times}` }
    : {
        allowed: false,
        cause: 'closed',
        reason: `the scope ${name} opens at ${dateText(opensAt.toISOString())}${times}`,
        opensAt,
      }
}

const inScope = ({ rules, allowed, denied }: CompiledScope, target: ScopeTarget): Permission => {
  const { name } = rules
  const entry = denied.forbids(target)
  if (entry !== undefined) return denies(name, entry, '')
  const how = allowed.allows(target)
  if (how === 'all') return ALLOWED
  const what = how === 'part' ? 'only a part of it' : 'no such host, port or URL'
  return { allowed: false, cause: 'not_allowed', reason: `the scope ${name} allows ${what}` }
}

/** Whether a target, or an item of a loop, may be scanned at this time. Files are no targets on the network. */
export const allows = (boundary: Boundary, text: string, at: Date): Permission => {
  const { scopes, neverScan } = boundary
  const target = readTarget(text)
  if (target === 'unclear')
    return scopes.length === 0 && neverScan.notes.size === 0
      ? ALLOWED
      : {
          allowed: false,
          cause: 'unclear',
          reason: 'programs could read different hosts in it: write a host, an address, a network or a URL',
        }
  if (target !== 'no-host') {
    const entry = neverScan.entries.forbids(target)
    if (entry !== undefined) return listed('it', entry, neverScan)
    for (const scope of scopes) {
      const permission = inScope(scope, target)
      if (!permission.allowed) return permission
    }
  }
  return scopes.map(({ rules }) => inTime(rules, at)).find(({ allowed }) => !allowed) ?? ALLOWED
}

/** The names in a target whose addresses must be checked as well. */
export const namesIn = (text: string): string[] => {
  const target = readTarget(text)
  if (typeof target === 'string' || target.isWildcard) return []
  return target.hosts.flatMap(({ kind, host }) => (kind === 'name' ? [host] : []))
}

/** Whether an address can forbid a name. */
export const hasAddresses = ({ scopes, neverScan }: Boundary): boolean =>
  neverScan.entries.hasAddresses || scopes.some(({ denied }) => denied.hasAddresses)

/** Whether a name of the target may be scanned although it resolves to these addresses. */
export const allowsAddresses = (
  boundary: Boundary,
  text: string,
  addresses: readonly string[],
): Permission => {
  const target = readTarget(text)
  const port = typeof target === 'string' ? undefined : target.port
  for (const address of addresses) {
    const ranges = addressRanges(address)
    const never = boundary.neverScan.entries.forbidsAddresses(ranges, port)
    if (never !== undefined) return listed(`its address ${address}`, never, boundary.neverScan)
    for (const { rules, denied } of boundary.scopes) {
      const entry = denied.forbidsAddresses(ranges, port)
      if (entry !== undefined) return denies(rules.name, entry, `, which has its address ${address}`)
    }
  }
  return ALLOWED
}
