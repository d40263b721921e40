import type { WorkerDetail } from '@scanfarm/contracts'
import { type Command, Option } from 'commander'
import { actionOn, printAnswer } from '../../client/answer.ts'
import { clientCommand, connect, type ClientOptions } from '../../client/connect.ts'
import { printFields } from '../../client/table.ts'
import { duration, idArgument } from '../../options.ts'
import type { Terminal } from '../../terminal.ts'
import { scopesOf } from '../lists.ts'

interface DrainOptions extends ClientOptions {
  readonly pause?: boolean
  readonly for?: number
}

const changed = (
  terminal: Terminal,
  { message, data }: { readonly message: string; readonly data: WorkerDetail },
): void => {
  const { name, status, busy_slots, slots } = data
  printFields(terminal, { message, name, status, slots: `${busy_slots}/${slots}` })
}

export const showWorkerCommand = (terminal: Terminal): Command =>
  clientCommand('show', 'Show a worker, and whether its kernel enforces scopes.')
    .argument('<worker>', 'name or id, from `scanfarm workers`', idArgument)
    .action(
      actionOn(
        terminal,
        ({ GET }, id) => GET('/workers/{id}', { params: { path: { id } } }),
        ({ data: worker }) => {
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
      ),
    )

export const drainCommand = (terminal: Terminal): Command =>
  clientCommand('drain', 'Let a worker finish its runs, claim no more, and end.')
    .argument('<worker>', 'name or id, from `scanfarm workers`', idArgument)
    .addOption(
      new Option('--for <duration>', 'wait this long for its runs, for example 2h; otherwise worker.drain_ms')
        .argParser(duration)
        .conflicts('pause'),
    )
    .option('--pause', 'keep the worker: it claims no runs until `worker resume`')
    .action(async (id: string, { pause, for: forMs, ...options }: DrainOptions) => {
      const init = {
        params: { path: { id } },
        body: { stop: pause !== true, ...(forMs === undefined ? {} : { for: `${forMs}ms` }) },
      }
      const answer = await connect(terminal, options).call(({ POST }) => POST('/workers/{id}/drain', init))
      printAnswer(terminal, options, answer, (it) => changed(terminal, it))
    })

export const resumeCommand = (terminal: Terminal): Command =>
  clientCommand('resume', 'Let a paused worker claim runs again.')
    .argument('<worker>', 'name or id, from `scanfarm workers`', idArgument)
    .action(
      actionOn(
        terminal,
        ({ POST }, id) => POST('/workers/{id}/resume', { params: { path: { id } } }),
        (answer) => changed(terminal, answer),
      ),
    )
