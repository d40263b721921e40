import { useQuery } from '@tanstack/react-query'
import { Suspense, useMemo } from 'react'
import { progressQuery, type JobProgress } from '../../api/jobs.ts'
import { Duration, KeyValues, Loaded, Progress as Bar, RunLink, Skeleton, Time } from '../../ui/index.ts'
import { late } from '../../ui/late.ts'

/** Charts are a file of their own: the page appears before it. */
const Chart = late(async () => (await import('../../ui/chart.tsx')).Chart)

const COLORS = { completed: '--good', failed: '--bad', cancelled: '--off' } as const
const NAMES = ['completed', 'failed', 'cancelled'] as const

/** Rates below one a second are easier to read by the minute or the hour. */
const rateText = (rate: number): string => {
  if (rate >= 1) return `${rate.toFixed(1)} runs/s`
  return rate * 60 >= 1 ? `${(rate * 60).toFixed(1)} runs/min` : `${(rate * 3_600).toFixed(1)} runs/h`
}

const Estimate = ({ eta }: { eta: JobProgress['eta'] }) => {
  if (eta.expected_seconds === null) return <span className="muted">{eta.reason || 'not known yet'}</span>
  return (
    <span>
      in about{' '}
      <strong>
        <Duration ms={eta.expected_seconds * 1_000} />
      </strong>
      {eta.early_seconds === null || eta.late_seconds === null ? (
        <span className="muted"> {eta.reason}</span>
      ) : (
        <span className="muted">
          {' '}
          (<Duration ms={eta.early_seconds * 1_000} /> to <Duration ms={eta.late_seconds * 1_000} />)
        </span>
      )}
    </span>
  )
}

const Throughput = ({ progress }: { progress: JobProgress }) => {
  const { series, started_at: started, bucket_seconds: width } = progress
  const first = started === null ? 0 : Date.parse(started) / 1000
  const times = useMemo(() => series.map((_, index) => first + index * width), [series, first, width])
  const lines = useMemo(
    () =>
      NAMES.filter((name) => name === 'completed' || series.some((bucket) => bucket[name] > 0)).map(
        (name) => ({ label: name, color: COLORS[name], values: series.map((bucket) => bucket[name]) }),
      ),
    [series],
  )
  if (series.length < 2) return null
  return (
    <div>
      <Suspense fallback={<Skeleton lines={5} />}>
        <Chart
          title={`Ended runs in ${width === 1 ? 'each second' : `each ${width} seconds`}`}
          times={times}
          series={lines}
        />
      </Suspense>
    </div>
  )
}

/** How far the job is, how fast, and when it ends. */
export const Progress = ({ jobId, ended }: { jobId: string; ended: boolean }) => (
  <Loaded query={useQuery(progressQuery(jobId, ended))} lines={3}>
    {(progress) => (
      <section className="panel pad columns job-progress" aria-label="Progress">
        <Counts progress={progress} />
        <Throughput progress={progress} />
      </section>
    )}
  </Loaded>
)

const Counts = ({
  progress: { ended, total, running, waiting, eta, rate, oldest_waiting: oldest },
}: {
  progress: JobProgress
}) => (
  <div className="stack">
    <p>
      <strong className="job-share number">{Math.floor((ended / Math.max(1, total)) * 100)}%</strong>{' '}
      <span className="number">
        {ended.toLocaleString()} of {total.toLocaleString()} ended
      </span>
      {ended === total ? null : (
        <span className="muted number">
          {' '}
          · {running.toLocaleString()} running, {waiting.toLocaleString()} waiting
        </span>
      )}
    </p>
    <Bar value={ended} max={total} label="Ended runs" />
    {ended === total ? null : (
      <KeyValues
        facts={{
          Ends: <Estimate eta={eta} />,
          Lately: <span className="number">{rate === null ? '–' : rateText(rate)}</span>,
          'Waits longest': oldest && (
            <>
              <RunLink run={oldest} />, since <Time at={oldest.since} />
            </>
          ),
        }}
      />
    )}
  </div>
)
