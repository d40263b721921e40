import type { Schemas } from '../../api/client.ts'
import { cancelRuns, retryRuns } from '../../api/runs.ts'
import { Confirm, plural } from '../../ui/index.ts'

type Run = Schemas['Run']

const ENDED = new Set(['completed', 'failed', 'cancelled'])
const hasEnded = ({ status }: Run): boolean => ENDED.has(status)
const canRetry = ({ status, outcome }: Run): boolean =>
  status === 'failed' || status === 'cancelled' || outcome === 'partial' || outcome === 'nothing_done'

/** What can be done with the selected runs. */
export const BulkActions = ({ runs, clear }: { runs: readonly Run[]; clear: () => void }) => {
  const open = runs.filter((run) => !hasEnded(run))
  const failed = runs.filter(canRetry)
  const cancel = async () => {
    const results = await cancelRuns(open.map(({ run_uuid: id }) => id))
    const count = (wanted: string): number => results.filter(({ result }) => result === wanted).length
    clear()
    return `${plural(count('cancelled'), 'run')} cancelled, ${count('stopping')} stopping.`
  }
  const retry = async () => {
    const results = await retryRuns(failed.map(({ run_uuid: id }) => id))
    const refused = results.filter(({ result }) => result === 'refused')
    const made = results.filter(({ result }) => result === 'retried').length
    if (made === 0 && refused[0]) throw new Error(refused[0].message ?? 'These runs cannot be retried.')
    const left = refused[0] ? `, ${refused.length} refused: ${refused[0].message ?? ''}` : ''
    clear()
    return `${plural(made, 'run')} queued again${left}.`
  }
  return (
    <>
      <Confirm
        trigger={`Cancel ${open.length}`}
        title={`Cancel ${plural(open.length, 'run')}?`}
        action={`Cancel ${plural(open.length, 'run')}`}
        danger
        disabled={open.length === 0}
        needs="operator"
        refresh={['runs']}
        onConfirm={cancel}
        text="Waiting runs do not start. The processes of running ones are terminated."
      />
      <Confirm
        trigger={`Retry ${failed.length}`}
        title={`Retry ${plural(failed.length, 'run')}?`}
        action={`Retry ${plural(failed.length, 'run')}`}
        disabled={failed.length === 0}
        needs="operator"
        refresh={['runs']}
        onConfirm={retry}
        text="The selected runs of each job that failed, were cancelled or left work out become a new job."
      />
    </>
  )
}
