// long
import { beforeAll, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { FindingContent, NewFindingRule, RunKey } from '@scanfarm/contracts'
import type { FindingChange } from '../src/findings/triage.ts'
import { testDatabase } from './database.ts'
import { claimAll, closedStep, ended, findingOf, joined, keyOf, submitted } from './fixtures.ts'
import type { ModelRule, Modelled, ModelScan } from './verdict-model.ts'
import { decided, expired, fresh, imported, judged, outcomeOf } from './verdict-model.ts'
import { BEFORE, diceOf, FLOW, scanOf, scopeName, SEVERITIES, type Dice, type End } from './verdict-scans.ts'

/** Histories of one database transaction each step; more of them: SCANFARM_HISTORIES=10000. */
const HISTORIES = Number(process.env['SCANFARM_HISTORIES'] ?? 200)
const SEED = Number(process.env['SCANFARM_SEED'] ?? Date.now() % 1_000_000)
const AT_ONCE = 100
const STEPS = 12

const db = forAllTests(testDatabase)
let workerId: string
beforeAll(async () => {
  workerId = await joined(db.runStore)
})

const CHANGES: readonly [FindingChange, ...FindingChange[]] = [
  { verdict: 'false_positive', reason: 'no' },
  { verdict: 'accepted', until: '2999-01-01T00:00:00Z' },
  { verdict: 'fixed_claimed' },
  { verdict: 'confirmed', severity: 'critical' },
  { verdict: 'none' },
  { verdict: null },
  { add_tags: ['mine'], remove_tags: ['scan'] },
  { remove_tags: ['mine', 'ruled'] },
  { severity: 'info', assignee: 'ann' },
  { severity: null, assignee: null },
  { state: 'gone' },
  { state: 'open' },
]

const STATUSES = ['completed', 'completed', 'completed', 'failed', 'cancelled'] as const

const SETS: readonly [NewFindingRule['set'], ...NewFindingRule['set'][]] = [
  { verdict: 'false_positive', tags: ['ruled'] },
  { severity: 'low', tags: ['ruled'] },
  { verdict: 'confirmed', severity: 'high' },
]

/** Findings of one workspace, with the same scans and rules, and different sightings and decisions. */
class Histories {
  readonly #dice: Dice
  readonly #workspace: string
  readonly #findings: readonly Modelled[]
  readonly #ids = new Map<string, number>()
  readonly #rules = new Map<number, ModelRule>()
  /** Scopes in the order of their first import. */
  readonly #scopes: { readonly module: string; readonly filter: boolean }[] = []
  #run = 0

  constructor(seed: number) {
    this.#dice = diceOf(seed)
    this.#workspace = `h${seed}`
    this.#findings = Array.from({ length: AT_ONCE }, (_, n) => fresh(`f${n}`, `h${n % 5}`, `${80 + (n % 2)}`))
  }

  async check(steps: readonly string[]): Promise<void> {
    const { data } = await db.store.vulnerabilities.list(
      { workspace: [this.#workspace] },
      { offset: 0, limit: AT_ONCE },
    )
    for (const { id, vuln_info } of data) this.#ids.set(vuln_info, id)
    const rules = [...this.#rules.values()]
    const actual = data.map((one) => {
      const { verdict, seen, state, severity, assignee, tags, back_at, vuln_info } = one
      return {
        name: vuln_info,
        verdict,
        seen,
        back: back_at !== null,
        state,
        severity,
        assignee,
        tags: tags.sort(),
      }
    })
    const expected = this.#findings
      .filter(({ name }) => this.#ids.has(name))
      .map((finding) => ({ name: finding.name, ...outcomeOf(finding, rules) }))
    const sorted = <T extends { name: string }>(list: T[]): T[] =>
      list.sort((a, b) => a.name.localeCompare(b.name))
    expect({ seed: SEED, steps, findings: sorted(actual) }).toEqual({
      seed: SEED,
      steps,
      findings: sorted(expected),
    })
  }

  /** A run of the flow. `filter`: it only sees severe findings. */
  async scan(): Promise<string> {
    const dice = this.#dice
    for (const finding of this.#findings) if (dice.chance(0.15)) finding.exists = !finding.exists
    const filter = dice.chance(0.3)
    const params: Record<string, string> = filter ? { severity: 'high' } : {}
    const status = dice.one(STATUSES)
    const ends = new Map<string, End>([
      ['ports', dice.one(['well', 'well', 'well', 'failed'])],
      ...Object.keys(BEFORE).map((module): [string, End] => [
        module,
        dice.one([
          'well',
          'well',
          'well',
          'failed',
          'failed before its import',
          'removed',
          'with untested places',
        ]),
      ]),
    ])
    const isRecorded = status === 'completed' || dice.chance(0.7)
    const scans = Object.keys(BEFORE).map((module) =>
      scanOf(dice, this.#findings, { module, filter, ends, isRecorded }),
    )
    const [upstream] = scans
    await submitted(db.store, { ...FLOW, params }, [{ target: 'a.test', workspace: this.#workspace }])
    const [run] = await claimAll(db.store, db.runStore, workerId)
    if (run === undefined) throw new Error('nothing claimed')
    this.#run = run.runId
    for (const scan of scans) await this.#import(keyOf(run), scan, params)
    const steps = [...ends].flatMap(([module, end]) => [
      ...(end === 'failed' || end === 'failed before its import' || end === 'with untested places'
        ? [{ module, name: 'check', status: 'failed' as const }]
        : []),
      ...(isRecorded && end !== 'removed' && end !== 'failed before its import'
        ? [{ module, name: 'record' }]
        : []),
    ])
    await db.runStore.record([{ ...keyOf(run), steps: steps.map((change, n) => closedStep(n + 1, change)) }])
    await db.runStore.finish([ended(run, status)])
    await db.store.scans.judge({ limit: 10, history: 50 })

    for (const scan of scans)
      if (scan.hasImport)
        for (const finding of this.#findings) imported(finding, run.runId, scan, [...this.#rules.values()])
    // `deep` depends on `web`: what that did not test, it could not test either.
    const full = scans.map((scan) =>
      scan.module === 'deep' && upstream?.module === 'web' && upstream.hasImport
        ? {
            ...scan,
            untested: new Set([...scan.untested, ...upstream.untested]),
            silent: new Set([...scan.silent, ...upstream.silent]),
          }
        : scan,
    )
    this.#judge(full, filter)
    return `run ${run.runId} ${status}, ${filter ? 'filtered' : 'full'}, ${[...ends].join(' ')}`
  }

  async #import(key: RunKey, scan: ModelScan, params: Record<string, string>): Promise<void> {
    if (!scan.hasImport) return
    const { module, sees, reached, untested, silent, crashed } = scan
    const filter = 'severity' in params
    if (!this.#scopes.some((scope) => scope.module === module && scope.filter === filter))
      this.#scopes.push({ module, filter })
    const items = this.#findings.flatMap(({ name, host, port }): FindingContent[] => {
      const seen = sees.get(name)
      return seen === undefined
        ? []
        : [findingOf({ vuln_info: name, asset_value: `http://${host}:${port}/${name}`, ...seen })]
    })
    const places = [
      ...[...untested].map((place) => ({ place, reason: 'silent' })),
      // A port of a host as a place, or in a range.
      ...[...silent].map((place, n) => {
        const [host = '', port] = place.split(':')
        const ports = port === undefined || n > 1 ? {} : { ports: `{[1,2],[${port},${port}]}` }
        return { place: 'ports' in ports ? host : place, reason: 'dropped', silent: true, ...ports }
      }),
      ...[...crashed].map((text) => ({
        check: text.split(' ')[0] ?? '',
        place: text.split(' ')[2] ?? '',
        reason: 'crashed',
      })),
    ]
    await db.runStore.importRecords(key, {
      step: `${module}/record`,
      workspace: this.#workspace,
      source: 'nuclei',
      records: { kind: 'vulnerability', items },
      errors: 0,
      scope: params,
      failed: { hosts: [], files: [], places },
      namesUntested: untested.size > 0,
      // A finding of a scan proves that its host was reached.
      ...(reached === undefined ? {} : { reached: [...reached] }),
    })
  }

  /** First the scans that were made, by scope, then the scopes of the same params without one. */
  #judge(scans: readonly ModelScan[], filter: boolean): void {
    const known = (wanted: boolean) => this.#scopes.some((scope) => scope.filter === wanted)
    const hasImport = scans.some((scan) => scan.hasImport)
    const wanted = hasImport || !filter || known(true) ? filter : false
    const due = this.#scopes
      .filter((scope) => scope.filter === wanted)
      .flatMap(({ module }) => {
        const scan = scans.find((one) => one.module === module)
        return scan === undefined ? [] : [{ ...scan, scope: scopeName(module, wanted) }]
      })
    const before = new Map(this.#findings.map((finding) => [finding, finding.seen]))
    for (const scan of [...due.filter((one) => one.hasImport), ...due.filter((one) => !one.hasImport)])
      for (const finding of this.#findings) judged(finding, this.#run, scan)
    for (const [finding, seen] of before)
      if (!filter && finding.seen === 'gone' && seen !== 'gone')
        expect([finding, finding.exists]).toEqual([finding, false])
  }

  async decide(): Promise<string> {
    const change = this.#dice.one(CHANGES)
    if ('delete' in change) throw new Error('nothing is deleted')
    const chosen = this.#findings.filter(({ name }) => this.#ids.has(name) && this.#dice.chance(0.4))
    if (chosen.length === 0) return 'no decision'
    const ids = chosen.map(({ name }) => this.#ids.get(name) ?? 0)
    await db.store.triage.change(ids, change, 'user:ann')
    for (const finding of chosen) decided(finding, change, [...this.#rules.values()])
    return `${JSON.stringify(change)} of ${chosen.length}`
  }

  async changeRules(): Promise<string> {
    const [first] = this.#rules.keys()
    if (first !== undefined && this.#dice.chance(0.5)) {
      await db.store.rules.remove(first, 'user:ann')
      this.#rules.delete(first)
      return `rule ${first} removed`
    }
    const digit = this.#dice.one(['1', '2', '3'])
    const severity = this.#dice.one(SEVERITIES)
    const position = this.#dice.one([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) * 1_000 + this.#rules.size
    const set = this.#dice.one(SETS)
    const rule = {
      name: `${this.#workspace} ${position}`,
      position,
      match: { workspace: this.#workspace, check: `f*${digit}`, severity: [severity, 'high' as const] },
      set,
    }
    const saved = await db.store.rules.add(rule, false, 'user:ann')
    if (saved === undefined || saved === 'taken' || saved.rule === undefined) return 'no rule'
    this.#rules.set(saved.rule.id, {
      position,
      matches: ({ name, scan }) => name.endsWith(digit) && [severity, 'high'].includes(scan.severity),
      set,
    })
    return `rule ${saved.rule.id} added: ${JSON.stringify(rule)}`
  }

  async expire(): Promise<string> {
    await db.sql(
      `update vulnerabilities set decision = jsonb_set(decision, '{verdict,until}', to_jsonb(now() - interval '1 s'))
           where workspace = $1 and decision #>> '{verdict,value}' = 'accepted'`,
      [this.#workspace],
    )
    await db.store.triage.expire(1_000)
    for (const finding of this.#findings) expired(finding)
    return 'acceptances end'
  }

  async run(): Promise<void> {
    const steps = [await this.scan()]
    await this.check(steps)
    for (let n = 1; n < STEPS; n++) {
      const kind = this.#dice.one(['scan', 'scan', 'decide', 'decide', 'rules', 'expire'])
      if (kind === 'scan') steps.push(await this.scan())
      else if (kind === 'decide') steps.push(await this.decide())
      else steps.push(await (kind === 'rules' ? this.changeRules() : this.expire()))
      await this.check(steps)
    }
    for (const id of this.#rules.keys()) await db.store.rules.remove(id, 'user:ann')
  }
}

test(`${HISTORIES} histories of scans, verdicts, rules and expiry end as a model says (seed ${SEED})`, async () => {
  for (let n = 0; n < HISTORIES / AT_ONCE; n++) await new Histories(SEED + n).run()
}, 3_600_000)
