import './overview.css'
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { deadDeliveriesQuery, overviewQuery, queueQuery, RANGES, type Range } from '../../api/farm.ts'
import { useRefusal } from '../../api/role.ts'
import {
  sumOf,
  CopyLine,
  type CommandLine,
  Duration,
  ErrorPanel,
  Figure,
  hrefWith,
  Link,
  Notice,
  Page,
  PlainTable,
  Share,
  Skeleton,
  StatusBadge,
  useFilters,
} from '../../ui/index.ts'
import { late } from '../../ui/late.ts'
import { Nights } from '../nights/nights.tsx'
import { dollars } from '../cloud/cost.ts'
import { problemsOf, type Overview, type Problem } from './attention.ts'
import { ChartsPlaceholder } from './charts-placeholder.tsx'

/** In a file of its own: the numbers appear before the code of the charts is loaded. */
const Charts = late(async () => (await import('./charts.tsx')).Charts)

const RANGE_NAMES: Readonly<Record<Range, string>> = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days' }
const STATUSES = ['pending', 'queued', 'running', 'completed', 'failed', 'cancelled'] as const

const number = (value: number): string => value.toLocaleString()

const Attention = ({ problems }: { problems: readonly Problem[] }) => (
  <section aria-labelledby="attention" className="stack gap-6">
    <h2 id="attention">Needs attention</h2>
    {problems.length === 0 ? (
      <p>
        <span className="tone-good" aria-hidden="true">
          ●
        </span>{' '}
        The farm itself works: nothing waits for you.
      </p>
    ) : (
      <ul className="panel list ruled attention">
        {problems.map(({ tone, text, action, href }) => (
          <li key={text} className="line">
            <span className={`tone-${tone}`} aria-hidden="true">
              {tone === 'bad' ? '■' : '▲'}
            </span>
            <span>{text}</span>
            <Link href={href}>{action}</Link>
          </li>
        ))}
      </ul>
    )}
  </section>
)

const Figures = ({ overview }: { overview: Overview }) => {
  const { runs, throughput, queue, workers, findings_24h, cloud } = overview
  const oldest = queue.by_priority.flatMap(({ oldest_at }) => oldest_at ?? []).toSorted()[0]
  const findings = sumOf(findings_24h)
  return (
    <dl className="figures">
      <Figure name="Running" href="/runs?status=running" value={number(runs.running)}>
        {number(workers.busy_slots)} of {number(workers.slots)} slots in use
      </Figure>
      <Figure name="Waiting" href="/queue" value={number(queue.waiting)}>
        {oldest === undefined ? (
          'The queue is empty'
        ) : (
          <>
            oldest <Duration from={oldest} />
          </>
        )}
      </Figure>
      <Figure
        name="Ended per minute"
        href="/runs"
        value={throughput.runs_per_minute.toLocaleString(undefined, { maximumFractionDigits: 1 })}
      >
        mean of 5 minutes
      </Figure>
      <Figure name="Workers" href="/workers" value={number(workers.live)}>
        {workers.draining > 0 ? `${workers.draining} draining or paused` : 'live, with servers'}
        {workers.lost > 0 ? <strong className="tone-bad number"> ■ {workers.lost} lost</strong> : null}
      </Figure>
      <Figure name="New or back, 24 h" href="/findings?since=24h" value={number(findings)}>
        {findings_24h.critical + findings_24h.high > 0
          ? `${number(findings_24h.critical)} critical, ${number(findings_24h.high)} high`
          : 'none critical or high'}
      </Figure>
      <Figure name="Cloud, 24 h" href="/cloud" value={dollars(cloud.cost_24h)}>
        {cloud.enabled
          ? `${number(cloud.machines)} machines, ${dollars(cloud.hourly_cost)} an hour`
          : 'turned off in the settings'}
      </Figure>
    </dl>
  )
}

const Ranges = () => {
  const [{ range }, set] = useFilters(['range'])
  const chosen = rangeOf(range)
  return (
    <div className="panel ranges" role="group" aria-label="Time range of the charts">
      {RANGES.map((each) => (
        <button
          key={each}
          type="button"
          className="button"
          aria-pressed={each === chosen}
          onClick={() => set({ range: each })}
        >
          {RANGE_NAMES[each]}
        </button>
      ))}
    </div>
  )
}

const rangeOf = (text: string | undefined): Range => RANGES.find((each) => each === text) ?? '1h'

const Breakdown = ({ overview }: { overview: Overview }) => {
  const { runs, queue, failing_workflows_24h: failing } = overview
  const all = STATUSES.reduce((sum, status) => sum + runs[status], 0)
  return (
    <div className="grid roomy breakdown">
      <section aria-labelledby="by-priority" className="stack gap-6">
        <h2 id="by-priority">Queue by priority</h2>
        <PlainTable
          full
          head={['Priority', 'Waiting', 'Oldest']}
          rows={queue.by_priority.map(({ priority, waiting, oldest_at }) => [
            <Link key="name" href={`/queue?priority=${priority}`}>
              {priority}
            </Link>,
            number(waiting),
            oldest_at === null ? (
              <span key="none" className="muted">
                –
              </span>
            ) : (
              <Duration key="oldest" from={oldest_at} />
            ),
          ])}
        />
      </section>
      <section aria-labelledby="by-status" className="stack gap-6">
        <h2 id="by-status">Runs by status</h2>
        <PlainTable
          full
          rows={STATUSES.map((status) => [
            <Link key="name" href={`/runs?status=${status}`} className="plain-link">
              <StatusBadge status={status} />
            </Link>,
            number(runs[status]),
            <Share key="share" value={runs[status]} of={all} label={`${runs[status]} of ${all} runs`} />,
          ])}
        />
      </section>
      <section aria-labelledby="failing" className="stack gap-6">
        <h2 id="failing">Workflows with failed runs in 24 hours</h2>
        {failing.length === 0 ? (
          <p className="muted">No run has failed.</p>
        ) : (
          <PlainTable
            full
            head={['Workflow', 'Failed', 'Ended']}
            rows={failing.map(({ workflow_name: workflow, failed, ended }) => [
              <Link key="name" href={hrefWith('/runs', { workflow, status: 'failed' })}>
                {workflow}
              </Link>,
              number(failed),
              number(ended),
            ])}
          />
        )}
      </section>
    </div>
  )
}

/** For a farm that has executed nothing yet. */
const FirstSteps = ({ slots }: { slots: number }) => (
  <Notice tone="accent" className="pad stack gap-6 first-steps" role="region" aria-labelledby="first-steps">
    <h2 id="first-steps">This farm has no runs yet</h2>
    <ol className="bullets stack">
      <li>
        <p>
          {slots === 0
            ? 'Start a worker on a machine that has the tools, with the settings of this server.'
            : `${number(slots)} slots are ready. Start more workers on machines that have the tools, with the settings of this server.`}
        </p>
        <CopyLine text="scanfarm worker" />
      </li>
      <li>
        <p>
          Start a workflow: <Link href="/workflows">choose one here</Link>, or use the command line.
        </p>
        <CopyLine
          text={`scanfarm run --url ${window.location.origin} -f baseline -t 127.0.0.1 --mode distributed`}
        />
      </li>
    </ol>
  </Notice>
)

export const Screen = () => {
  const [{ range }] = useFilters(['range'])
  const { data: overview, error, refetch } = useQuery(overviewQuery)
  const { data: queue } = useQuery(queueQuery)
  const isAdmin = useRefusal('admin') === undefined
  const { data: dead } = useQuery({ ...deadDeliveriesQuery, enabled: isAdmin })
  const commands: readonly CommandLine[] = [
    { title: 'Read the nights', api: ['GET', '/nights'] },
    { title: 'Read the capacity', api: ['GET', '/stats/overview'] },
    { title: 'Read the charts', api: ['GET', `/stats/series?range=${rangeOf(range)}`] },
  ]
  const failure = error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : null
  if (!overview)
    return (
      <Page title="Nights" commands={commands}>
        <Nights />
        {failure ?? <Skeleton lines={12} />}
      </Page>
    )
  const isNew = STATUSES.every((status) => overview.runs[status] === 0)
  return (
    <Page title="Nights" commands={commands}>
      {isNew ? <FirstSteps slots={overview.workers.slots} /> : <Nights />}
      {failure}
      <Attention problems={problemsOf(overview, queue, dead)} />
      <section aria-labelledby="capacity" className="stack">
        <h2 id="capacity">Capacity</h2>
        <Figures overview={overview} />
      </section>
      <section aria-labelledby="over-time" className="stack">
        <header className="line spread">
          <h2 id="over-time">Over time</h2>
          <Ranges />
        </header>
        <Suspense fallback={<ChartsPlaceholder />}>
          <Charts range={rangeOf(range)} />
        </Suspense>
      </section>
      <Breakdown overview={overview} />
    </Page>
  )
}
