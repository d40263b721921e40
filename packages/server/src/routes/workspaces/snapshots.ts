import { closed } from '@scanfarm/contracts'
import { Type } from 'typebox'
import type { ServerContext } from '../../context.ts'
import { attachment, bytes, type Answer } from '../../http/answer.ts'
import { missing } from '../../http/refusal.ts'
import { route, unsupportedRoute } from '../../http/route.ts'
import { entriesOf } from './snapshot-entries.ts'
import { zipOf } from './zip-stream.ts'

const DESCRIPTION =
  'Created while it is sent: `runs.jsonl`, `assets.jsonl` and `vulnerabilities.jsonl` with all records, the newest artifact of each path below `files/`, and `snapshot.json` with the counts.'
const NONE: object[] = []
const ZIP = { 200: { media: ['application/zip'], description: 'The snapshot' } } as const

const send = async (
  { store, artifacts, snapshots }: Pick<ServerContext, 'store' | 'artifacts' | 'snapshots'>,
  workspace: string,
): Promise<Answer> => {
  if (!(await store.workspaces.exists(workspace)))
    throw missing('workspace', workspace, '; see GET /workspaces')
  const slot = snapshots.acquire()
  const zip = zipOf(entriesOf({ store, artifacts }, workspace))
  zip.once('close', () => slot[Symbol.dispose]())
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  return bytes(200, zip, {
    'Content-Type': 'application/zip',
    'Content-Disposition': attachment(`${workspace}_${time}Z.zip`),
  })
}

export const downloadSnapshot = route(
  {
    endpoint: 'GET /snapshot-download/{workspace}',
    summary: 'Download all records and files of a workspace as a zip file',
    description: DESCRIPTION,
    role: 'viewer',
    responses: ZIP,
    errors: ['unavailable'],
  },
  (context, { params }) => send(context, params.workspace),
)

export const exportSnapshot = route(
  {
    endpoint: 'POST /snapshots/export',
    summary: 'Download all records and files of a workspace as a zip file',
    description: DESCRIPTION,
    role: 'viewer',
    body: closed({ workspace: Type.String({ minLength: 1 }) }),
    responses: ZIP,
    errors: ['not_found', 'unavailable'],
  },
  (context, { body }) => send(context, body.workspace),
)

export const listSnapshots = route(
  {
    endpoint: 'GET /snapshots',
    summary: 'List stored snapshots',
    description: 'Always empty: a snapshot is created for each download and not stored.',
    role: 'viewer',
    responses: {
      200: Type.Object({
        data: Type.Array(Type.Object({})),
        count: Type.Integer({ minimum: 0 }),
        path: Type.Literal(''),
      }),
    },
  },
  async () => ({ data: NONE, count: 0, path: '' as const }),
)

export const importSnapshot = unsupportedRoute({
  endpoint: 'POST /snapshots/import',
  summary: 'Import a snapshot (not supported)',
  role: 'operator',
  description:
    'snapshots cannot be imported: runs belong to the farm that executed them; import findings with POST /vulnerabilities/import',
})

export const removeSnapshot = route(
  {
    endpoint: 'DELETE /snapshots/{name}',
    summary: 'Delete a stored snapshot',
    description: 'Always 404, because no snapshot is stored.',
    role: 'operator',
    responses: {},
  },
  async (_context, { params }) => {
    throw missing('snapshot', params.name, ': snapshots are created for each download and not stored')
  },
)
