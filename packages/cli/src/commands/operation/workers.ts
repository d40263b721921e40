import type { Worker, WorkerDetail } from '@scanfarm/contracts'
import { inColumns } from '../../client/page.ts'
import { printFields, shortTime } from '../../client/table.ts'
import { idField, verb, type Id } from '../../client/verb.ts'
import { listingNoun } from '../../noun.ts'
import { duration } from '../../options.ts'
import type { Terminal } from '../../terminal.ts'

/** How a worker keeps to scopes. */
const scopesOf = ({ enforcement_gap: gap }: Pick<Worker, 'enforcement_gap'>): string =>
  gap === '' ? 'enforced' : gap === null ? '' : 'checked'

const listCommand = verb('list', 'List the workers and the local slots of servers.', {
  call: ({ GET }) => GET('/workers'),
  print: inColumns<Worker>([
    { title: 'NAME', value: (worker) => worker.name },
    { title: 'KIND', value: (worker) => worker.kind },
    { title: 'STATUS', value: (worker) => worker.status, coloured: true },
    { title: 'SLOTS', value: (worker) => `${worker.busy_slots}/${worker.slots}` },
    { title: 'SCOPES', value: scopesOf },
    { title: 'HEARTBEAT', value: (worker) => shortTime(worker.last_heartbeat) },
    { title: 'ID', value: (worker) => worker.id },
  ]),
})

const WORKER = idField('<worker>', 'name or id, from `scanfarm workers`')

const printChange = (
  terminal: Terminal,
  { message, data }: { readonly message: string; readonly data: WorkerDetail },
): void => {
  const { name, status, busy_slots, slots } = data
  printFields(terminal, { message, name, status, slots: `${busy_slots}/${slots}` })
}

const showCommand = verb('show', 'Show a worker, and whether its kernel enforces scopes.', {
  fields: WORKER,
  call: ({ GET }, path: Id) => GET('/workers/{id}', { params: { path } }),
  print(terminal, { data: worker }) {
    const gap = worker.enforcement_gap ?? ''
    printFields(terminal, {
      name: worker.name,
      id: worker.id,
      kind: worker.kind,
      status: worker.status,
      slots: `${worker.busy_slots}/${worker.slots}`,
      host: `${worker.hostname}, process ${worker.pid}`,
      version: worker.version,
      scopes: gap === '' ? scopesOf(worker) : `checked, not enforced: ${gap}`,
      offers: worker.capabilities.join(' '),
    })
  },
})

export const drainCommand = verb('drain', 'Let a worker finish its runs, claim no more, and end.', {
  fields: {
    ...WORKER,
    for: [
      '--for <duration>',
      'wait this long for its runs, for example 2h; otherwise worker.drain_ms',
      duration,
      { conflicts: ['pause'] },
    ],
    pause: ['--pause', 'keep the worker: it claims no runs until `worker resume`'],
  },
  call({ POST }, { pause, for: forMs, ...path }: Id & { readonly pause?: true; readonly for?: number }) {
    const body = { stop: pause !== true, ...(forMs === undefined ? {} : { for: `${forMs}ms` }) }
    return POST('/workers/{id}/drain', { params: { path }, body })
  },
  print: printChange,
})

export const resumeCommand = verb('resume', 'Let a paused worker claim runs again.', {
  fields: WORKER,
  call: ({ POST }, path: Id) => POST('/workers/{id}/resume', { params: { path } }),
  print: printChange,
})

export const workersCommand = listingNoun('workers', listCommand, [showCommand, drainCommand, resumeCommand])
