import { Option, type Command } from 'commander'
import { actionOn, printAnswer } from '../../client/answer.ts'
import { clientCommand, connect, type ClientOptions } from '../../client/connect.ts'
import { CliError, EXIT } from '../../exit.ts'
import { idArgument } from '../../options.ts'
import type { Terminal } from '../../terminal.ts'

const JOB_ID = /^[0-9a-f]{16}$/

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
    .action(actionOn(terminal, ({ POST }, id) => POST('/runs/{id}/duplicate', { params: { path: { id } } })))

/** What a retry executes again. */
export const fromOption = (): Option =>
  new Option(
    '--from <step>',
    'what is executed again: failed (default: the first step that failed and all after it), start, or the name of a step',
  )

export const retryCommand = (terminal: Terminal): Command =>
  clientCommand('retry', 'Repeat a run that did not do all its work, as a new run.')
    .argument('<run>', 'number or uuid', idArgument)
    .addOption(fromOption())
    .action(async (id: string, { from, ...options }: ClientOptions & { readonly from?: string }) => {
      const api = connect(terminal, options)
      const { data } = await api.call(({ POST }) => POST('/runs/retry', { body: { ids: [id], from } }))
      const [answer] = data
      if (answer === undefined || answer.result === 'not_found')
        throw new CliError(EXIT.failed, `there is no run ${id}`)
      if (answer.result === 'refused')
        throw new CliError(EXIT.failed, answer.message ?? 'the run was not repeated')
      printAnswer(terminal, options, answer)
    })

export const startCommand = (terminal: Terminal): Command =>
  clientCommand('start', 'Start a run that is pending.')
    .argument('<run>', 'number or uuid', idArgument)
    .action(actionOn(terminal, ({ POST }, id) => POST('/runs/{id}/start', { params: { path: { id } } })))
