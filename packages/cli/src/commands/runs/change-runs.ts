import type { Fields } from '../../client/fields.ts'
import { idField, verb, type Id } from '../../client/verb.ts'
import { CliError, EXIT } from '../../exit.ts'

const JOB_ID = /^[0-9a-f]{16}$/

export const RUN = idField('<run>', 'number or uuid')

export const cancelCommand = verb('cancel', 'Cancel a run, or all runs of a job.', {
  fields: idField('<id>', 'number or uuid of a run, or id of a job'),
  call: ({ POST, DELETE }, { id }: Id): Promise<{ readonly data: object }> =>
    JOB_ID.test(id)
      ? POST('/jobs/{job_id}/cancel', { params: { path: { job_id: id } } })
      : DELETE('/runs/{id}', { params: { path: { id } } }),
})

export const duplicateCommand = verb(
  'duplicate',
  'Copy a run with its configuration. The copy is pending until it is started.',
  {
    fields: RUN,
    call: ({ POST }, path: Id) => POST('/runs/{id}/duplicate', { params: { path } }),
  },
)

/** What a retry executes again. */
export const FROM = {
  from: [
    '--from <step>',
    'what is executed again: failed (default: the first step that failed and all after it), start, or the name of a step',
  ],
} as const satisfies Fields

export const retryCommand = verb('retry', 'Repeat a run that did not do all its work, as a new run.', {
  fields: { ...RUN, ...FROM },
  async call({ POST }, { id, from }: Id & { readonly from?: string }) {
    const { data } = await POST('/runs/retry', { body: { ids: [id], from } })
    const [answer] = data.data
    if (answer === undefined || answer.result === 'not_found')
      throw new CliError(EXIT.failed, `there is no run ${id}`)
    if (answer.result === 'refused')
      throw new CliError(EXIT.failed, answer.message ?? 'the run was not repeated')
    return { data: answer }
  },
})

export const startCommand = verb('start', 'Start a run that is pending.', {
  fields: RUN,
  call: ({ POST }, path: Id) => POST('/runs/{id}/start', { params: { path } }),
})
