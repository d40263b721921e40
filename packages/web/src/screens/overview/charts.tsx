import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { seriesQuery, type Range } from '../../api/farm.ts'
import { Chart, type Series } from '../../ui/chart.tsx'
import { ErrorPanel } from '../../ui/index.ts'
import { ChartsPlaceholder } from './charts-placeholder.tsx'

const ENDED = [
  ['completed', '--chart-1'],
  ['failed', '--chart-2'],
  ['cancelled', '--chart-4'],
] as const
const PRIORITIES = [
  ['critical', '--chart-2'],
  ['high', '--chart-4'],
  ['normal', '--chart-1'],
  ['low', '--chart-3'],
] as const

const lengthOf = (seconds: number): string => (seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`)

export const Charts = ({ range }: { range: Range }) => {
  const { data, error, refetch } = useQuery(seriesQuery(range))
  const drawn = useMemo(() => {
    if (!data) return undefined
    return {
      times: data.times.map((time) => Date.parse(time) / 1000),
      ended: ENDED.map(([status, color]): Series => ({ label: status, values: data.runs[status], color })),
      waiting: PRIORITIES.map(([priority, color]): Series => ({
        label: priority,
        values: data.queue[priority],
        color,
        figure: 'last',
      })),
      bucket: data.bucket_seconds === 60 ? 'minute' : lengthOf(data.bucket_seconds),
    }
  }, [data])
  if (error && !drawn) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (!drawn) return <ChartsPlaceholder />
  return (
    <div className="grid charts">
      <div className="panel pad">
        <Chart title={`Ended runs per ${drawn.bucket}`} times={drawn.times} series={drawn.ended} />
      </div>
      <div className="panel pad">
        <Chart title="Waiting runs by priority" times={drawn.times} series={drawn.waiting} />
      </div>
    </div>
  )
}
