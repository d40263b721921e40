import type { ReactNode } from 'react'
import { Link } from './link.tsx'
import { Time } from './values/values.tsx'

interface Run {
  readonly id: number
  readonly run_uuid: string
  readonly target: string
}

/** A run by its target. */
export const RunLink = ({ run: { id, run_uuid, target } }: { run: Run }) => (
  <Link href={`/runs/${run_uuid}`} title={target}>
    {target || `run ${id}`}
  </Link>
)

/** The items of a loop that a run executes. */
export const itemsText = ({ first, last }: { readonly first: number; readonly last: number }): string =>
  first === last ? `item ${first}` : `items ${first}–${last}`

/** "" without an id, so that facts leave it out. */
const linkTo =
  (folder: string) =>
  (id: string, text: ReactNode = id): ReactNode =>
    id === '' ? '' : <Link href={`/${folder}/${encodeURIComponent(id)}`}>{text}</Link>

export const runLink = linkTo('runs')
export const jobLink = linkTo('jobs')
export const workflowLink = linkTo('workflows')
export const workerLink = linkTo('workers')
export const hostLink = linkTo('hosts')

/** "" without a time, so that facts leave it out. */
export const timeIf = (at: string | null | undefined): ReactNode => (at ? <Time at={at} /> : '')
