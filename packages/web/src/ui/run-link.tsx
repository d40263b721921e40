import { Link } from './link.tsx'

interface RunLinkProps {
  readonly run: { readonly id: number; readonly run_uuid: string; readonly target: string }
}

/** A run by its target. */
export const RunLink = ({ run: { id, run_uuid, target } }: RunLinkProps) => (
  <Link href={`/runs/${run_uuid}`} title={target}>
    {target || `run ${id}`}
  </Link>
)

/** The items of a loop that a run executes. */
export const itemsText = ({ first, last }: { readonly first: number; readonly last: number }): string =>
  first === last ? `item ${first}` : `items ${first}–${last}`
