import type { Run, RunDetail } from '@scanfarm/contracts'
import type { ServerContext } from '../context.ts'
import { hookCount } from '../routes/workflows/workflows.ts'

/** Below this root answers have the words and fields that clients of Osmedeus read. */
export const isEstablished = (root: string): boolean => root === '/osm/api'

/**
 * How runs are shown below a root. Below `/osm/api` a queued run is shown as `pending`, because the Osmedeus dashboard
 * fails on an unknown status. The filter `status=pending` includes queued runs.
 */
export const runShape = async (
  { catalog }: Pick<ServerContext, 'catalog'>,
  root: string,
): Promise<<R extends Run | RunDetail>(run: R) => R> => {
  if (!isEstablished(root)) return (run) => run
  const hooked = new Set(
    (await catalog.list()).filter((entry) => hookCount(entry) > 0).map(({ name }) => name),
  )
  return (run) => ({
    ...run,
    status: run.status === 'queued' ? 'pending' : run.status,
    hooks_enabled: hooked.has(run.workflow_name),
    is_queued: run.status === 'queued',
    input_is_file: false,
  })
}
