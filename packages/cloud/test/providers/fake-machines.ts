import { openFakeApi, type Cloud, type FakeApi } from './fake-api.ts'

/** Reads after which a new machine starts, or is listed, and a deleted one is missing. */
const READS = 2

interface Kept<Machine> {
  readonly machine: Machine
  /** The request that created it. */
  readonly order: unknown
  reads: number
  lists: number
  /** Of a deleted machine: the reads that still show it. */
  readsLeft: number | undefined
}

/** The machines of a fake cloud. Like those of a real one, they appear, start and disappear late. */
export class FakeMachines<Machine extends { readonly id: number }> {
  readonly #kept = new Map<number, Kept<Machine>>()
  readonly #nameOf: (machine: Machine) => string
  readonly #start: (machine: Machine) => void

  constructor(nameOf: (machine: Machine) => string, start: (machine: Machine) => void) {
    this.#nameOf = nameOf
    this.#start = start
  }

  add(machine: Machine, order: unknown): Machine {
    this.#kept.set(machine.id, { machine, order, reads: 0, lists: 0, readsLeft: undefined })
    return machine
  }

  /** Adds a machine that is listed at once. */
  plant(machine: Machine): void {
    this.#kept.set(machine.id, { machine, order: undefined, reads: 0, lists: READS, readsLeft: undefined })
  }

  names(): string[] {
    return this.#alive().map(({ machine }) => this.#nameOf(machine))
  }

  orderOf(name: string): unknown {
    return this.#find(name)?.order
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined
  }

  /** Changes a machine, which does not start any more. */
  set(name: string, fields: Readonly<Record<string, unknown>>): void {
    const found = this.#find(name)
    if (!found) return
    Object.assign(found.machine, fields)
    found.reads = -Infinity
  }

  read(id: string): Machine | undefined {
    const found = this.#shown(id)
    if (found?.readsLeft !== undefined) found.readsLeft--
    else if (found && ++found.reads > READS) this.#start(found.machine)
    return found?.machine
  }

  delete(id: string): Machine | undefined {
    const found = this.#shown(id)
    if (found) found.readsLeft ??= READS
    return found?.machine
  }

  /** One list reads several pages: only the first one counts. */
  list(isFirstPage: boolean, wanted: (machine: Machine) => boolean): Machine[] {
    const all = [...this.#kept.values()].filter(({ machine }) => wanted(machine))
    if (isFirstPage)
      for (const each of all) {
        each.lists++
        if (each.readsLeft) each.readsLeft--
      }
    return all
      .filter(({ lists, readsLeft }) => lists > READS && readsLeft !== 0)
      .map(({ machine }) => machine)
  }

  #alive(): Kept<Machine>[] {
    return [...this.#kept.values()].filter(({ readsLeft }) => readsLeft === undefined)
  }

  #find(name: string): Kept<Machine> | undefined {
    return this.#alive().find(({ machine }) => this.#nameOf(machine) === name)
  }

  #shown(id: string): Kept<Machine> | undefined {
    const found = this.#kept.get(Number(id))
    return found?.readsLeft === 0 ? undefined : found
  }
}

/** A fake API whose machines tests can read and change. */
export interface MachineApi extends FakeApi {
  there(): string[]
  createRequest(name: string): { userData: string; order: unknown }
  plant(count: number, farm: string): void
  /** Changes a machine, which does not start any more. */
  set(name: string, fields: Readonly<Record<string, unknown>>): void
}

export interface CloudWithMachines<Machine extends { readonly id: number }> extends Omit<Cloud, 'sortOf'> {
  readonly machines: FakeMachines<Machine>
  userDataOf(order: unknown): string
  /** A new machine with the label of this farm. */
  machine(name: string, farm: string): Machine
}

export async function openMachineApi<Machine extends { readonly id: number }>({
  machines,
  userDataOf,
  machine,
  ...cloud
}: CloudWithMachines<Machine>): Promise<MachineApi> {
  const api = await openFakeApi({
    ...cloud,
    sortOf: ({ method }) => (method === 'POST' ? 'create' : method === 'DELETE' ? 'destroy' : 'read'),
  })
  return {
    ...api,
    there: () => machines.names(),
    createRequest: (name) => {
      const order = machines.orderOf(name)
      return { userData: userDataOf(order), order }
    },
    plant: (count, farm) => {
      for (let n = 0; n < count; n++) machines.plant(machine(`planted-${farm}-${n}`, farm))
    },
    set: (name, fields) => machines.set(name, fields),
  }
}
