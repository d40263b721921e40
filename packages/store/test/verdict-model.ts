import type { FindingContent, Severity, Verdict } from '@scanfarm/contracts'
import type { FindingChange } from '../src/findings/triage.ts'

/** What scans and people did to one finding, by the rules of docs/findings.md and without SQL. */
export interface Modelled {
  readonly name: string
  readonly host: string
  readonly port: string
  /** Whether the weakness exists: scans that test it see it. */
  exists: boolean
  /** Run of the last sighting by scope. */
  readonly sightings: Map<string, number>
  scan: { severity: Severity; tags: readonly string[] }
  seen: 'open' | 'gone' | 'not_tested' | 'unreachable'
  isBack: boolean
  decision: Decision
}

interface Decision {
  readonly verdict?: Verdict
  readonly severity?: Severity
  readonly assignee?: string
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

export interface ModelRule {
  readonly position: number
  readonly matches: (finding: Modelled) => boolean
  readonly set: {
    readonly verdict?: Verdict
    readonly severity?: Severity
    readonly tags?: readonly string[]
  }
}

/** What a module of a run did: its import, or that it made none. */
export interface ModelScan {
  readonly scope: string
  readonly module: string
  readonly hasImport: boolean
  /** Whether its steps, and those of the modules before it, ended well or were explained. */
  readonly isComplete: boolean
  /** Undefined: all hosts. */
  readonly reached: ReadonlySet<string> | undefined
  /** Hosts, and ports of hosts, that it or a module before it named as not tested. */
  readonly untested: ReadonlySet<string>
  /** Hosts, and ports of hosts, from which nothing came back, for it or a module before it. */
  readonly silent: ReadonlySet<string>
  /** Checks that it named as not tested, at a port of a host. */
  readonly crashed: ReadonlySet<string>
  readonly sees: ReadonlyMap<string, Pick<FindingContent, 'severity' | 'tags'>>
}

export const fresh = (name: string, host: string, port: string): Modelled => ({
  name,
  host,
  port,
  exists: true,
  sightings: new Map(),
  scan: { severity: 'info', tags: [] },
  seen: 'open',
  isBack: false,
  decision: { added: [], removed: [] },
})

const byPosition = (rules: readonly ModelRule[]): ModelRule[] =>
  [...rules].sort((a, b) => a.position - b.position)

/** The fields of the record. */
export const outcomeOf = (finding: Modelled, rules: readonly ModelRule[]) => {
  const { decision, scan, seen } = finding
  const matching = byPosition(rules).filter(({ matches }) => matches(finding))
  const verdict = decision.verdict ?? matching.find(({ set }) => set.verdict)?.set.verdict ?? 'none'
  const back = verdict === 'fixed_claimed' && seen !== 'gone' && finding.isBack
  const closed =
    seen === 'gone' ||
    verdict === 'false_positive' ||
    verdict === 'accepted' ||
    (verdict === 'fixed_claimed' && !back)
  const tags = new Set([...scan.tags, ...matching.flatMap(({ set }) => set.tags ?? []), ...decision.added])
  return {
    verdict,
    seen,
    back,
    state: closed ? 'gone' : 'open',
    severity: decision.severity ?? matching.find(({ set }) => set.severity)?.set.severity ?? scan.severity,
    assignee: decision.assignee ?? '',
    tags: [...tags].filter((tag) => !decision.removed.includes(tag)).sort(),
  }
}

/** The import of a scan of run `run`. */
export const imported = (
  finding: Modelled,
  run: number,
  { scope, sees }: ModelScan,
  rules: readonly ModelRule[],
): void => {
  const result = sees.get(finding.name)
  if (result === undefined) return
  const isClaimed = outcomeOf(finding, rules).verdict === 'fixed_claimed'
  finding.scan = { severity: result.severity, tags: result.tags.length > 0 ? result.tags : finding.scan.tags }
  finding.isBack = isClaimed
  finding.seen = 'open'
  finding.sightings.set(scope, run)
}

/** The judgement of a scan of run `run`, after all its imports. */
export const judged = (finding: Modelled, run: number, scan: ModelScan): void => {
  const last = finding.sightings.get(scan.scope)
  if (last === undefined || last === run) return
  const isSeenSince = [...finding.sightings].some(([other, at]) => other !== scan.scope && at > last)
  const endpoint = `${finding.host}:${finding.port}`
  const isIn = (places: ReadonlySet<string>) => places.has(finding.host) || places.has(endpoint)
  const isSilent = isIn(scan.silent)
  const isUntested = isSilent || isIn(scan.untested) || scan.crashed.has(`${finding.name} at ${endpoint}`)
  const isReached = scan.reached === undefined || scan.reached.has(finding.host)
  if (scan.hasImport && scan.isComplete && isReached && !isUntested) {
    finding.sightings.delete(scan.scope)
    if (isSeenSince) return
    finding.seen = 'gone'
    finding.isBack = false
  } else if (!isSeenSince && finding.seen !== 'gone')
    finding.seen =
      isSilent || (scan.hasImport && scan.isComplete && !isUntested) ? 'unreachable' : 'not_tested'
}

const without = (tags: readonly string[], others: readonly string[]): string[] =>
  tags.filter((tag) => !others.includes(tag))

export const decided = (
  finding: Modelled,
  change: Exclude<FindingChange, { delete: true }>,
  rules: readonly ModelRule[],
): void => {
  const { state, verdict } = outcomeOf(finding, rules)
  const { decision } = finding
  const add = change.add_tags ?? []
  const remove = change.remove_tags ?? []
  const tags = {
    added: [...new Set([...without(decision.added, remove), ...add])],
    removed: [...new Set([...without(decision.removed, add), ...remove])],
  }
  let decidedVerdict = change.verdict
  if (change.state !== undefined && change.state !== state) {
    if (change.state === 'gone') decidedVerdict = 'fixed_claimed'
    else if (verdict !== 'none' && verdict !== 'confirmed') decidedVerdict = 'none'
    if (change.state === 'open' && finding.seen === 'gone') finding.seen = 'not_tested'
  }
  if (decidedVerdict !== undefined) finding.isBack = false
  finding.decision = {
    ...decision,
    ...tags,
    ...given('verdict', decidedVerdict),
    ...given('severity', change.severity),
    ...given('assignee', change.assignee),
  }
}

const given = <K extends string, T>(name: K, value: T | null | undefined): object =>
  value === undefined ? {} : { [name]: value ?? undefined }

/** The acceptance of a person is over. */
export const expired = (finding: Modelled): void => {
  if (finding.decision.verdict === 'accepted') finding.decision = { ...finding.decision, verdict: 'none' }
}
