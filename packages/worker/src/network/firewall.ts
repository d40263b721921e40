import { errorText, type Logger } from '@scanfarm/platform'
import { difference, NOTHING, sums, type Blocked, type Watch } from './blocked.ts'
import { networkDevices } from './devices.ts'
import type { Fence } from './fences.ts'
import { networkHelpers } from './helpers.ts'
import { nft, NftSession } from './nft.ts'
import { removeDead, workerTables } from './dead-tables.ts'
import { countsOf, type Counted } from './nft-answers.ts'
import { Pacer, paceRules, releaseDevices } from './pacer.ts'
import { deviceChain, FAMILIES, HITS, rulesetOf, tableText, type Ruleset } from './ruleset.ts'
import { isEmpty, NO_RULES, userRules, type UserRules } from './user-rules.ts'
import { newTable } from './table-names.ts'

const DEVICES_EVERY_MS = 1_000
const SWEEP_EVERY_MS = 60_000
/** Rules of ended runs remain for this long if nothing else changes. */
const TIDY_MS = 100
/** Rules that no user has are kept for the next run. */
const MOST_UNUSED = 8

/** The rules of a user, by who wants them: runs of a workspace share a user, and what one forbids is forbidden to all. */
type Holders = Map<object, HolderRules>
interface HolderRules {
  /** Undefined: it may send packets anywhere. */
  readonly ruleset: Ruleset | undefined
  readonly proxyPort: number | undefined
  /** New connections a second. */
  readonly rate: number
}

/**
 * Rules of the kernel for the packets of commands, by their user. `inet output` sees what goes through sockets, `netdev
 * egress` also what tools write to a device themselves. Nothing is executed before the first user has rules.
 */
export class Firewall implements AsyncDisposable {
  readonly #log: Logger
  readonly #table = newTable()
  readonly #users = new Map<number, Holders>()
  /** Rules in the table, the latest last. */
  readonly #rulesets = new Map<string, Ruleset>()
  /** Devices with a chain. */
  #devices: ReadonlyMap<string, string> = new Map()
  #chains = 0
  /** The rules of users in the kernel. */
  readonly #applied = new Map<number, UserRules>()
  #applying: Promise<void> | undefined
  #tidying: NodeJS.Timeout | undefined
  /** Number of the set that proves the last change. */
  #proof = 0
  #isMade = false
  #session: NftSession | undefined
  #turn: Promise<unknown> = Promise.resolve()
  /** Rules are made once for each fence. */
  readonly #rendered = new WeakMap<Fence, Ruleset>()
  #reading: Promise<void> | undefined
  #counted: ReadonlyMap<number, Blocked> = new Map()
  #watch: NodeJS.Timeout | undefined
  /** Rules of workers that were killed remain. */
  #hasDead = false
  #sweptAt = -Infinity
  readonly #pacer = new Pacer()
  #unpaced: string | undefined
  /** A user has had a rate: its connections may have been late. */
  #isPaced = false

  private constructor(log: Logger, unpaced: string | undefined) {
    this.#log = log
    this.#unpaced = unpaced
  }

  /**
   * Rejects with the reason why the kernel of this machine cannot do it for this process. `unpaced`: why rates do not hold
   * for its users.
   */
  static async open(log: Logger, unpaced?: string): Promise<Firewall> {
    const firewall = new Firewall(log, unpaced)
    const probe = `${firewall.#table}_probe`
    const remove = FAMILIES.map((family) => `delete table ${family} ${probe}`).join('\n')
    await nft(`${tableText(probe)}\n${deviceChain(probe, 'probe', 'lo')}\n${remove}\n`)
    await firewall.#sweep()
    await firewall.#releaseDevices().catch((error: unknown) => {
      firewall.#unpaced ??= `${errorText(error)}; iproute2 is needed`
    })
    return firewall
  }

  /** Why new connections do not wait for the rate of their user. */
  get paceGap(): string | undefined {
    return this.#unpaced ?? this.#pacer.gap
  }

  /**
   * Before a command of `holder` starts as a user, which may always reach a port of 127.0.0.1. Undefined: no rules apply
   * to the user. Rejects when they cannot be set. New connections wait for their turn by `rate`; those of holders with the
   * same user share the sum.
   */
  async begin(
    uid: number,
    holder: object,
    fence: Fence,
    { proxyPort, rate }: { readonly proxyPort?: number; readonly rate?: number | null } = {},
  ): Promise<Watch | undefined> {
    if (this.#hasDead) await this.#inTurn(() => this.#sweep(uid))
    const known = this.#users.get(uid)
    const isOpen = fence.forbidden.length + fence.allowed.length === 0
    const paced = this.#unpaced === undefined ? (rate ?? 0) : 0
    this.#isPaced ||= paced > 0
    if (isOpen && paced === 0 && known === undefined) return undefined
    const rules: Holders = known ?? new Map()
    if (isOpen && paced === 0) rules.delete(holder)
    else rules.set(holder, { ruleset: isOpen ? undefined : this.#rulesetOf(fence), proxyPort, rate: paced })
    this.#users.set(uid, rules)
    await this.#apply()
    if (rules.size === 0) return undefined
    const before = this.#counted.get(uid) ?? NOTHING
    return { blocked: async () => difference(before, await this.#count(uid)) }
  }

  /**
   * After the last command of `holder`. What waits is not sent any more: others may have its share now. The last rules of a
   * user go with the next change, or soon. Those that could not be removed are made again with the next change.
   */
  async end(uid: number, holder: object): Promise<void> {
    const rules = this.#users.get(uid)
    if (rules?.delete(holder) !== true) return
    const tidy = (): Promise<void> =>
      this.#apply().catch((error: unknown) => this.#warn('old rules remain', error))
    if (rules.size > 0) return await tidy()
    this.#tidying ??= setTimeout(() => void tidy(), TIDY_MS)
    await this.#inTurn(() => this.#pace())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#tidying)
    await this.#turn.catch(() => undefined)
    clearInterval(this.#watch)
    this.#session?.end()
    this.#pacer[Symbol.dispose]()
    if (this.#isMade)
      await nft(`${this.#removal().join('\n')}\n`)
        .then(() => this.#releaseDevices())
        .catch((error: unknown) => this.#warn('the rules remain', error))
    this.#isMade = false
  }

  /** Statements that also work when there is no table. */
  #removal(): string[] {
    return FAMILIES.flatMap((family) => [
      `add table ${family} ${this.#table}`,
      `delete table ${family} ${this.#table}`,
    ])
  }

  #warn(what: string, error: unknown): void {
    this.#log.warn(`packets of commands: ${what}`, { reason: errorText(error) })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.catch(() => undefined).then(work)
    this.#turn = done
    return done
  }

  #rulesetOf(fence: Fence): Ruleset {
    const known = this.#rendered.get(fence) ?? rulesetOf(this.#table, fence, networkHelpers())
    this.#rendered.set(fence, known)
    return known
  }

  /** Changes that come while others are being made are made together. */
  async #apply(): Promise<void> {
    this.#applying ??= this.#inTurn(async () => {
      this.#applying = undefined
      clearTimeout(this.#tidying)
      this.#tidying = undefined
      await this.#applyNow()
    })
    await this.#applying
  }

  async #applyNow(): Promise<void> {
    const wanted = new Map<string, Ruleset>()
    const rules = new Map<number, UserRules>()
    const { nameServers } = networkHelpers()
    const rates = this.#rates()
    for (const [uid, holders] of this.#users) {
      if (holders.size === 0) this.#users.delete(uid)
      const all = [...holders.values()]
      for (const { ruleset } of all) if (ruleset !== undefined) wanted.set(ruleset.name, ruleset)
      const accepted = all.flatMap(({ proxyPort: port }) =>
        port === undefined ? [] : [`ip daddr 127.0.0.1 tcp dport ${port} accept`],
      )
      const jumps = new Set(all.flatMap(({ ruleset: to }) => (to === undefined ? [] : [`jump ${to.name}`])))
      const paced = paceRules(uid, rates.get(uid), nameServers)
      rules.set(uid, {
        inet: jumps.size === 0 ? [] : [...accepted, ...jumps],
        netdev: [...accepted, ...paced, ...jumps],
      })
    }
    if (rules.size === 0 && !this.#isMade) return
    try {
      await this.#set(rules, [...wanted.values()])
    } catch (error) {
      // What applies is not known: the next change makes all of it again, at once.
      this.#isMade = false
      throw error
    }
    this.#keepWatch()
  }

  async #set(rules: ReadonlyMap<number, UserRules>, wanted: readonly Ruleset[]): Promise<void> {
    const isNew = !this.#isMade
    if (isNew) {
      this.#rulesets.clear()
      this.#applied.clear()
      this.#devices = new Map()
      this.#counted = new Map()
      this.#proof = 0
    }
    const missing = wanted.filter(({ name }) => !this.#rulesets.has(name))
    const users = [...new Set([...this.#applied.keys(), ...rules.keys()])].flatMap((uid) =>
      userRules(this.#table, uid, this.#applied.get(uid) ?? NO_RULES, rules.get(uid) ?? NO_RULES),
    )
    if (isNew || missing.length > 0) {
      const unused = this.#unused(wanted)
      await nft(
        [
          ...(isNew ? [...this.#removal(), tableText(this.#table)] : []),
          ...missing.map(({ add }) => add),
          ...users,
          ...unused.map(({ remove }) => remove),
          '',
        ].join('\n'),
      )
      this.#isMade = true
      for (const { name } of unused) this.#rulesets.delete(name)
    } else if (users.length > 0) {
      // An empty set proves the change: to list it is quick, while nft reads the elements of all sets to list a chain.
      const set = (number: number): string => `set inet ${this.#table} change${number}`
      const before = this.#proof === 0 ? [] : [`delete ${set(this.#proof)}`]
      this.#proof += 1
      const statements = [...users, `add ${set(this.#proof)} { type uid; }`, ...before]
      // nft 1.0 reads the semicolon as part of a class before it.
      await this.#asked.ask(statements.join(' ; '), [`list ${set(this.#proof)}`])
    }
    this.#applied.clear()
    for (const [uid, of] of rules) if (!isEmpty(of)) this.#applied.set(uid, of)
    for (const ruleset of wanted) {
      this.#rulesets.delete(ruleset.name)
      this.#rulesets.set(ruleset.name, ruleset)
    }
    await this.#cover()
  }

  get #asked(): NftSession {
    if (this.#session?.isWorn === true) this.#session.end()
    if (this.#session?.isOver !== false) this.#session = new NftSession()
    return this.#session
  }

  #keepWatch(): void {
    this.#watch ??= setInterval(() => {
      if (this.#users.size === 0) return
      const isDue = performance.now() - this.#sweptAt > SWEEP_EVERY_MS
      this.#inTurn(() => (isDue ? this.#sweep() : this.#cover())).catch((error: unknown) =>
        this.#warn('devices or old rules cannot be checked', error),
      )
    }, DEVICES_EVERY_MS)
  }

  #unused(wanted: readonly Ruleset[]): Ruleset[] {
    const used = new Set(wanted.map(({ name }) => name))
    return [...this.#rulesets.values()].filter(({ name }) => !used.has(name)).slice(0, -MOST_UNUSED)
  }

  /** Devices that have appeared since. The kernel removes the chain of one that has gone. */
  async #cover(): Promise<void> {
    const now = networkDevices()
    const added = [...now].filter(([key]) => !this.#devices.has(key))
    const chains = added.map(([, name]) => deviceChain(this.#table, `d${(this.#chains += 1)}`, name))
    if (chains.length > 0) await nft(`${chains.join('\n')}\n`)
    this.#devices = now
    await this.#pace()
  }

  #rates(): Map<number, number> {
    const rates = [...this.#users].map(
      ([uid, holders]) => [uid, [...holders.values()].reduce((sum, { rate }) => sum + rate, 0)] as const,
    )
    return new Map(rates.filter(([, rate]) => rate > 0))
  }

  async #pace(): Promise<void> {
    if (this.#unpaced !== undefined) return
    const before = this.paceGap
    await this.#pacer.set(this.#rates(), this.#devices).catch(() => undefined)
    const gap = this.paceGap
    if (gap !== undefined && gap !== before)
      this.#log.warn('limits: new connections of commands are not delayed', { reason: gap })
  }

  /** Gives back the devices that this worker or a killed one has taken, unless other workers use them. */
  async #releaseDevices(): Promise<void> {
    await releaseDevices(async () => (await workerTables()).length > 0)
  }

  /** What was blocked until now. Callers that come while the counters are being read share the next reading. */
  async #count(uid: number): Promise<Blocked> {
    this.#reading ??= this.#inTurn(async () => {
      this.#reading = undefined
      await this.#read()
    })
    await this.#reading
    return this.#counted.get(uid) ?? NOTHING
  }

  async #read(): Promise<void> {
    const list = (set: string): string[] =>
      FAMILIES.map((family) => `list set ${family} ${this.#table} ${set}`)
    const uidOf = ({ key: [uid] }: Counted): number => Number(uid)
    const read = async (...lists: readonly string[]): Promise<Counted[]> =>
      (await this.#asked.ask('', lists)).flatMap(countsOf)
    const totals = sums(await read(...list(HITS.total)), uidOf)
    const late = sums(this.#isPaced ? await read(`list set netdev ${this.#table} ${HITS.late}`) : [], uidOf)
    const users = new Set([...totals.keys(), ...late.keys()])
    const isKnown = [...users].every((uid) => {
      const known = this.#counted.get(uid) ?? NOTHING
      return known.packets === (totals.get(uid) ?? 0) && known.late === (late.get(uid) ?? 0)
    })
    if (isKnown) return
    const byUser = Map.groupBy(await read(...list(HITS.v4), ...list(HITS.v6)), uidOf)
    this.#counted = new Map(
      [...users].map((uid) => [
        uid,
        {
          packets: totals.get(uid) ?? 0,
          late: late.get(uid) ?? 0,
          addresses: sums(byUser.get(uid) ?? [], ({ key: [, address] }) => String(address)),
        },
      ]),
    )
  }

  /** Removes tables of workers that were killed. `uid` has no processes. */
  async #sweep(uid?: number): Promise<void> {
    this.#sweptAt = performance.now()
    const isFree = (user: number): boolean => user === uid || this.#users.has(user)
    this.#hasDead = await removeDead(isFree, (error) => this.#warn('old rules remain', error))
  }
}
