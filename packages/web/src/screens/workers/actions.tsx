import { api, byId, type BodyOf } from '../../api/client.ts'
import { useRefresh } from '../../api/act.ts'
import { useState } from 'react'
import { Confirm, SelectField, toast } from '../../ui/index.ts'
import { stateOf, type Worker } from './state.tsx'

interface Order {
  readonly verb: 'Drain' | 'Pause' | 'Resume'
  readonly done: string
  readonly text: string
  readonly can: (worker: Worker) => boolean
  readonly send: (id: string, wait: string) => Promise<unknown>
}

const drain = (id: string, body: BodyOf<'/workers/{id}/drain', 'post'>) =>
  api.POST('/workers/{id}/drain', { ...byId(id), body })

const ORDERS: readonly Order[] = [
  {
    verb: 'Drain',
    done: 'drains and ends',
    text: 'It claims no more runs, finishes those it has, and its program ends. Runs that take longer start again on another worker. To use it again, start its program on its machine.',
    can: (worker) => worker.kind === 'worker' && !['stopping', 'lost'].includes(stateOf(worker)),
    send: (id, wait) => drain(id, wait === '' ? {} : { for: wait }),
  },
  {
    verb: 'Pause',
    done: 'finishes its runs and claims no more',
    text: 'It finishes the runs it has, without a time limit, and claims no more until you resume it.',
    can: (worker) => ['busy', 'idle'].includes(stateOf(worker)),
    send: (id) => drain(id, { stop: false }),
  },
  {
    verb: 'Resume',
    done: 'claims runs again',
    text: 'It claims runs again.',
    can: (worker) => ['pausing', 'paused'].includes(stateOf(worker)),
    send: (id) => api.POST('/workers/{id}/resume', byId(id)),
  },
]

/** `""`: as after SIGTERM. */
const WAITS = [
  { value: '', label: 'as long as worker.drain_ms' },
  ...['10m', '1h', '2h', '8h', '1d'].map((value) => ({ value, label: `at most ${value}` })),
]

const nameOf = (workers: readonly Worker[]): string =>
  workers.length === 1 ? (workers[0]?.name ?? '') : `${workers.length} workers`

/** Buttons that drain, pause and resume these workers. */
export const WorkerActions = ({ workers, onDone }: { workers: readonly Worker[]; onDone?: () => void }) => {
  const refresh = useRefresh()
  const [wait, setWait] = useState('')
  const act = async ({ send, done }: Order, those: readonly Worker[]) => {
    try {
      for (const { id } of those) await send(id, wait)
      toast(`${nameOf(those)}: ${done}.`)
      onDone?.()
    } finally {
      await refresh('workers', 'worker', 'overview', 'queue')
    }
  }
  return ORDERS.map((order) => {
    const those = workers.filter(order.can)
    const skipped = workers.length - those.length
    if (workers.length === 1 && those.length === 0) return null
    return (
      <Confirm
        key={order.verb}
        trigger={order.verb}
        title={`${order.verb} ${nameOf(those)}?`}
        action={`${order.verb} ${nameOf(those)}`}
        danger={order.verb === 'Drain'}
        disabled={those.length === 0}
        needs="operator"
        onConfirm={() => act(order, those)}
      >
        <p>{order.text}</p>
        {order.verb === 'Drain' ? (
          <SelectField
            label="Wait for its runs"
            name="for"
            value={wait}
            onChange={(event) => setWait(event.target.value)}
            options={WAITS}
          />
        ) : null}
        {skipped > 0 ? (
          <p className="muted">
            {skipped} of the selected {skipped === 1 ? 'is' : 'are'} not affected: lost, already so, or slots
            of a server.
          </p>
        ) : null}
      </Confirm>
    )
  })
}
