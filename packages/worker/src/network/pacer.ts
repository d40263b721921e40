import { isIPv4 } from 'node:net'
import { errorText } from '@scanfarm/platform'
import { networkDevices } from './devices.ts'
import { execute, TcSession } from './nft.ts'
import { HITS } from './ruleset.ts'

/** Workers know by it what they put on devices. */
const HANDLE = '5ca0:'
/** Each packet counts as so many bytes, whatever its size: a rate of bytes is one of packets. */
const UNIT = 1_000
const EQUAL_SIZES = `stab mpu ${UNIT} tsize 16 mtu 2000`
/** Longest queue of a user on a device. */
const MOST_WAITING = 100_000

/** What `tc -j qdisc show` tells. */
interface Discipline {
  readonly kind: string
  readonly handle: string
  readonly dev: string
  readonly root?: true
}

/** Those of devices as a whole. */
const disciplines = async (): Promise<Discipline[]> =>
  (JSON.parse(await execute('tc', ['-j', 'qdisc', 'show'])) as Discipline[]).filter(
    ({ root }) => root === true,
  )

const classOf = (uid: number): string => `${HANDLE}${((uid % 0xffff) + 1).toString(16)}`

/** Tools may give up connections that wait longer. */
export const LATE_S = 3

/** What counts as a request: new TCP connections, and UDP but for look-ups of names. */
const requests = (nameServers: readonly string[]): string[] => {
  const udp = (family: string, servers: readonly string[]): string =>
    servers.length === 0
      ? `meta protocol ${family} meta l4proto udp`
      : `${family} daddr . udp dport != { ${servers.map((server) => `${server} . 53`).join(', ')} }`
  return [
    'tcp flags & (syn | ack) == syn',
    udp('ip', nameServers.filter(isIPv4)),
    udp(
      'ip6',
      nameServers.filter((server) => !isIPv4(server)),
    ),
  ]
}

/** Rules for devices that make the requests of a user wait for their turn, and count those that wait for long. */
export const paceRules = (
  uid: number,
  rate: number | undefined,
  nameServers: readonly string[],
): string[] => {
  if (rate === undefined) return []
  const limit = `${Math.max(1, Math.round(rate * 60))}/minute burst ${Math.max(1, Math.ceil(rate * LATE_S))} packets`
  const wait = `meta priority set ${classOf(uid)} limit rate over ${limit} update @${HITS.late} { meta skuid }`
  return requests(nameServers).map((request) => `${request} ${wait}`)
}

/** Statements that turn the rates of a device into others. What waits for a user without a rate is never sent. */
const changes = (
  device: string,
  known: ReadonlyMap<number, number>,
  rates: ReadonlyMap<number, number>,
): string[] => {
  const ended = [...known.keys()].filter((uid) => !rates.has(uid))
  const changed = [...rates].filter(([uid, rate]) => known.get(uid) !== rate)
  return [
    ...ended.map((uid) => `class del dev ${device} classid ${classOf(uid)}`),
    ...changed.flatMap(([uid, rate]) => {
      const bytes = Math.max(1, Math.round(rate * UNIT))
      // What comes due within 10 ms may leave at once.
      const burst = Math.max(UNIT, Math.ceil(bytes / 100))
      const speed = `rate ${bytes}bps burst ${burst} cburst ${burst} quantum ${UNIT}`
      return [
        `class replace dev ${device} parent ${HANDLE} classid ${classOf(uid)} htb ${speed}`,
        `qdisc replace dev ${device} parent ${classOf(uid)} pfifo limit ${MOST_WAITING}`,
      ]
    }),
  ]
}

/** Makes packets with a class leave each device at the rate of their user: they wait, none is dropped. */
export class Pacer implements Disposable {
  /** By the key of each device: rates of users in the kernel, or why there are none. */
  readonly #devices = new Map<string, ReadonlyMap<number, number> | string>()
  #problem: string | undefined
  #session: TcSession | undefined
  /** The devices that the session knows. */
  #names = ''

  /** Why packets do not wait. */
  get gap(): string | undefined {
    return this.#problem ?? [...this.#devices.values()].find((known) => typeof known === 'string')
  }

  /** `devices`: names by key. Rejects when packets may not wait; the next call sets all again. */
  async set(rates: ReadonlyMap<number, number>, devices: ReadonlyMap<string, string>): Promise<void> {
    for (const key of this.#devices.keys()) if (!devices.has(key)) this.#devices.delete(key)
    const added = rates.size === 0 ? [] : [...devices].filter(([key]) => !this.#devices.has(key))
    try {
      const lines = added.length === 0 ? [] : this.#take(added, await disciplines())
      for (const [key, device] of devices) {
        const known = this.#devices.get(key)
        if (known === undefined || typeof known === 'string') continue
        lines.push(...changes(device, known, rates))
        this.#devices.set(key, new Map(rates))
      }
      await this.#change(lines, [...devices.keys()].join())
      this.#problem = undefined
    } catch (error) {
      this.#devices.clear()
      // Those of containers come and go.
      const left = [...devices].filter(([key]) => networkDevices().has(key))
      if (left.length < devices.size) return await this.set(rates, new Map(left))
      this.#problem = errorText(error)
      throw error
    }
  }

  [Symbol.dispose](): void {
    this.#session?.end()
  }

  async #change(lines: readonly string[], names: string): Promise<void> {
    if (lines.length === 0) return
    if (this.#session?.isOver !== false || names !== this.#names) {
      this.#session?.end()
      this.#session = new TcSession()
      this.#names = names
    }
    await this.#session.change(lines)
  }

  /** An operator's own discipline stays. */
  #take(added: readonly (readonly [string, string])[], found: readonly Discipline[]): string[] {
    return added.flatMap(([key, device]) => {
      const root = found.find(({ dev }) => dev === device)
      const isTaken = root?.handle === HANDLE
      const isFree = root === undefined || isTaken || root.handle === '0:'
      this.#devices.set(key, isFree ? new Map() : `${device} has its own queueing discipline (${root.kind})`)
      // Names of devices have no spaces.
      return isFree && !isTaken ? [`qdisc add dev ${device} root handle ${HANDLE} ${EQUAL_SIZES} htb`] : []
    })
  }
}

/** Gives back all devices unless others use them. Rejects when there is no tc. */
export const releaseDevices = async (areUsed: () => Promise<boolean>): Promise<void> => {
  const ours = (await disciplines()).filter(({ handle }) => handle === HANDLE)
  if (ours.length === 0 || (await areUsed())) return
  // A device that has gone meanwhile is an error.
  const session = new TcSession()
  await session.change(ours.map(({ dev }) => `qdisc del dev ${dev} root`)).catch(() => undefined)
  session.end()
}
