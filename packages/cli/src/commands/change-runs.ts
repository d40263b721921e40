import type { Command } from 'commander'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { printFields, printJson } from '../client/table.ts'
import { idArgument } from '../options.ts'
import type { Terminal } from '../terminal.ts'

const JOB_ID = /^[0-9a-f]{16}$/

const printAnswer = (
  terminal: Terminal,
  options: ClientOptions,
  answer: Readonly<Record<string, unknown>>,
): void => (wantsJson(options) ? printJson(terminal, answer) : printFields(terminal, answer))

export const cancelCommand = (terminal: Terminal): Command =>
  clientCommand('cancel', 'Cancel a run, or all runs of a job.')
    .argument('<id>', 'number or uuid of a run, or id of a job', idArgument)
    .action(async (id: string, options: ClientOptions) => {
      const api = connect(terminal, options)
      const answer = JOB_ID.test(id)
        ? await api.call(({ POST }) => POST('/jobs/{job_id}/cancel', { params: { path: { job_id: id } } }))
        : await api.call(({ DELETE }) => DELETE('/runs/{id}', { params: { path: { id } } }))
      printAnswer(terminal, options, answer)
    })

export const duplicateCommand = (terminal: Terminal): Command =>
  clientCommand('duplicate', 'Copy a run with its configuration. The copy is pending until it is started.')
    .argument('<run>', 'number or uuid', idArgument)
    .action(async (id: string, options: ClientOptions) => {
      const params = { path: { id } }
      const api = connect(terminal, options)
      printAnswer(terminal, options, await api.call(({ POST }) => POST('/runs/{id}/duplicate', { params })))
    })

export const startCommand = (terminal: Terminal): Command =>
  clientCommand('start', 'Start a run that is pending.')
    .argument('<run>', 'number or uuid', idArgument)
    .action(async (id: string, options: ClientOptions) => {
      const params = { path: { id } }
      const api = connect(terminal, options)
      printAnswer(terminal, options, await api.call(({ POST }) => POST('/runs/{id}/start', { params })))
    })
