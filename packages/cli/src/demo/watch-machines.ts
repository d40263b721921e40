import { setTimeout as delay } from 'node:timers/promises'
import type { components } from '@scanfarm/client'
import type { Api } from '../client/api.ts'
import { dim, endProgress, green, progress, red, say, yellow } from './screen.ts'

export type Infra = components['schemas']['CloudInfra']

const POLL_MS = 250
const END_MS = 120_000

/** Shows each change of the machines of one infrastructure. */
export class MachineWatch {
  readonly infraId: string
  readonly #api: Api
  readonly #startedAt = Date.now()
  readonly #shown = new Map<string, string>()

  constructor(api: Api, infraId: string) {
    this.#api = api
    this.infraId = infraId
  }

  async poll(): Promise<Infra> {
    const { data } = await this.#api.call(({ GET }) =>
      GET('/cloud/instances/{infra_id}', { params: { path: { infra_id: this.infraId } } }),
    )
    for (const { name, status, address, message } of data.details)
      this.#show(
        `machine ${name}`,
        status,
        status === 'ready' ? address : status === 'booting' ? '' : message,
      )
    this.#show(
      'infrastructure'.padEnd('machine scanfarm-0123456789abcdef-1'.length),
      data.status,
      data.message,
    )
    return data
  }

  /** For the bottom line, like `1 booting, 2 ready`. */
  async note(): Promise<string> {
    const { details } = await this.poll()
    const statuses = details.map(({ status }) => status)
    const counts = [...new Set(statuses)].map(
      (status) => `${statuses.filter((each) => each === status).length} ${status}`,
    )
    return `machines: ${counts.join(', ')}`
  }

  /** Waits until the infrastructure has ended. */
  async ended(): Promise<Infra> {
    const deadline = Date.now() + END_MS
    while (Date.now() < deadline) {
      const infra = await this.poll()
      const gone = infra.details.filter(({ status }) => status === 'destroyed' || status === 'failed').length
      progress(gone, infra.details.length, 'machines are gone')
      if (infra.status === 'destroyed' || (infra.status === 'failed' && gone === infra.details.length)) {
        endProgress()
        return infra
      }
      await delay(POLL_MS)
    }
    throw new Error(`the machines are not destroyed within ${END_MS / 1000} s`)
  }

  #show(what: string, status: string, more: string): void {
    if (this.#shown.get(what) === status) return
    this.#shown.set(what, status)
    const seconds = ((Date.now() - this.#startedAt) / 1000).toFixed(1)
    const paint = status === 'ready' ? green : status === 'failed' ? red : yellow
    say(`${what}  ${paint(status)} ${dim([`after ${seconds} s`, more].filter(Boolean).join(' · '))}`)
  }
}

const ENDED = ['destroyed', 'failed']
const MOST_INFRAS = 100

/** Destroys all machines of a farm and waits until they are gone. */
export async function endMachines(api: Api): Promise<void> {
  const deadline = Date.now() + END_MS
  const asked = new Set<string>()
  for (;;) {
    const { data } = await api.call(({ GET }) =>
      GET('/cloud/instances', { params: { query: { limit: MOST_INFRAS } } }),
    )
    const open = data.filter(({ details }) => details.some(({ status }) => !ENDED.includes(status)))
    if (open.length === 0) return
    for (const { infra_id } of open) {
      if (asked.has(infra_id)) continue
      await api.call(({ DELETE }) =>
        DELETE('/cloud/instances/{infra_id}', { params: { path: { infra_id } } }),
      )
      asked.add(infra_id)
    }
    if (Date.now() > deadline) throw new Error('the farm did not destroy its machines in time')
    await delay(POLL_MS)
  }
}
