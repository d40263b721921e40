// long
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { FindingContent, NewFindingRule, Severity } from '@scanfarm/contracts'
import type { FindingChange } from '../src/findings/triage.ts'
import { asSuperuser, testDatabase, type TestDatabase } from './database.ts'
import { claimAll, ended, findingOf, joined, keyOf, submitted } from './fixtures.ts'
import {
  decided,
  expired,
  fresh,
  outcomeOf,
  scanned,
  type ModelRule,
  type Modelled,
} from './verdict-model.ts'

/** Histories of one database transaction each step; more of them: SCANFARM_HISTORIES=10000. */
const HISTORIES = Number(process.env['SCANFARM_HISTORIES'] ?? 200)
const SEED = Number(process.env['SCANFARM_SEED'] ?? Date.now() % 1_000_000)
const AT_ONCE = 100
const STEPS = 12

let db: TestDatabase
let workerId: string
beforeAll(async () => {
  db = await testDatabase()
  workerId = await joined(db.runStore)
})
afterAll(() => db[Symbol.asyncDispose]())

const diceOf = (seed: number) => {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return {
    chance: (part: number): boolean => next() < part,
    one: <T>(values: readonly [T, ...T[]]): T => values[Math.floor(next() * values.length)] ?? values[0],
  }
}
type Dice = ReturnType<typeof diceOf>

const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const
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

  constructor(seed: number) {
    this.#dice = diceOf(seed)
    this.#workspace = `h${seed}`
    this.#findings = Array.from({ length: AT_ONCE }, (_, n) => fresh(`f${n}`, `h${n % 5}`))
  }

  async check(steps: readonly string[]): Promise<void> {
    const { data } = await db.store.vulnerabilities.list(
      { workspaces: [this.#workspace] },
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

  /** `filtered` scans only see severe findings. */
  async scan(): Promise<string> {
    const dice = this.#dice
    const scope = dice.one(['full', 'full', 'filtered'])
    const isComplete = dice.chance(0.75)
    const reached = dice.chance(0.3) ? new Set(['h0', 'h1', dice.one(['h2', 'h3'])]) : undefined
    const sees = new Map<string, { severity: Severity; tags: string[] }>()
    for (const { name, host } of this.#findings) {
      const severity = dice.one(SEVERITIES)
      const isSevere = severity === 'critical' || severity === 'high'
      const isReached = reached === undefined || reached.has(host)
      if (isReached && dice.chance(0.6) && (scope === 'full' || isSevere))
        sees.set(name, { severity, tags: dice.chance(0.5) ? ['scan'] : [] })
    }
    await submitted(db.store, {}, [{ target: 'a.test', workspace: this.#workspace }])
    const [run] = await claimAll(db.store, db.runStore, workerId)
    if (run === undefined) throw new Error('nothing claimed')
    const items = this.#findings.flatMap(({ name, host }): FindingContent[] => {
      const seen = sees.get(name)
      return seen === undefined
        ? []
        : [findingOf({ vuln_info: name, asset_value: `http://${host}/${name}`, ...seen })]
    })
    await db.runStore.importRecords(keyOf(run), {
      step: scope,
      workspace: this.#workspace,
      source: 'nuclei',
      records: { kind: 'vulnerability', items },
      errors: 0,
      ...(reached === undefined ? {} : { reached: [...reached] }),
    })
    await db.runStore.finish([ended(run, isComplete ? 'completed' : 'failed')])
    await db.store.scans.judge({ limit: 10, history: 50 })
    const hosts = new Set(this.#findings.filter(({ name }) => sees.has(name)).map(({ host }) => host))
    const scan = { run: run.runId, scope, isComplete, reached, sees }
    for (const finding of this.#findings) scanned(finding, scan, [...this.#rules.values()], hosts)
    return `${scope} scan, ${isComplete ? 'complete' : 'failed'}, reached ${reached === undefined ? 'all' : [...reached].join()}`
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
    await asSuperuser(
      (client) =>
        client.query(
          `update vulnerabilities set decision = jsonb_set(decision, '{verdict,until}', to_jsonb(now() - interval '1 s'))
           where workspace = $1 and decision #>> '{verdict,value}' = 'accepted'`,
          [this.#workspace],
        ),
      db.url,
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
