import { AppError } from '@scanfarm/contracts'
import { Type } from 'typebox'
import type { ServerContext } from '../../context.ts'
import { bytes, type Answer } from '../../http/answer.ts'
import { attachment } from '../../http/content-disposition.ts'
import { route, unsupportedRoute } from '../../http/route.ts'
import { entriesOf } from '../../snapshots/entries.ts'
import { zipOf } from '../../snapshots/zip-stream.ts'

const DESCRIPTION =
  'Made while it is sent: `runs.jsonl`, `assets.jsonl` and `vulnerabilities.jsonl` with all records, the newest artifact of each path below `files/`, and `snapshot.json` with the counts.'
const NONE: object[] = []
const ZIP = { 200: { media: ['application/zip'], description: 'The snapshot' } } as const

const send = async (
  { store, artifacts, snapshots }: Pick<ServerContext, 'store' | 'artifacts' | 'snapshots'>,
  workspace: string,
): Promise<Answer> => {
  if (!(await store.workspaces.exists(workspace)))
    throw new AppError('not_found', `there is no workspace ${JSON.stringify(workspace)}; see GET /workspaces`)
  const place = snapshots.enter()
  const zip = zipOf(entriesOf({ store, artifacts }, workspace))
  zip.once('close', () => place[Symbol.dispose]())
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  return bytes(200, zip, {
    'Content-Type': 'application/zip',
    'Content-Disposition': attachment(`${workspace}_${time}Z.zip`),
  })
}

export const downloadSnapshot = route(
  {
    method: 'get',
    path: '/snapshot-download/{workspace}',
    tag: 'Workspaces',
    summary: 'Download all that a workspace has, as a zip',
    description: DESCRIPTION,
    role: 'viewer',
    params: Type.Object({ workspace: Type.String() }),
    responses: ZIP,
    errors: ['not_found', 'unavailable'],
  },
  (context, { params }) => send(context, params.workspace),
)

export const exportSnapshot = route(
  {
    method: 'post',
    path: '/snapshots/export',
    tag: 'Workspaces',
    summary: 'Download all that a workspace has, as a zip',
    description: DESCRIPTION,
    role: 'viewer',
    body: Type.Object({ workspace: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
    responses: ZIP,
    errors: ['not_found', 'unavailable'],
  },
  (context, { body }) => send(context, body.workspace),
)

export const listSnapshots = route(
  {
    method: 'get',
    path: '/snapshots',
    tag: 'Workspaces',
    summary: 'List the snapshots that are kept',
    description: 'Always empty: a snapshot is made when it is downloaded, and none is kept.',
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
  method: 'post',
  path: '/snapshots/import',
  tag: 'Workspaces',
  summary: 'Import a snapshot (not carried out)',
  role: 'operator',
  description:
    'snapshots are not imported: runs belong to the farm that ran them; import findings with POST /vulnerabilities/import',
})

export const removeSnapshot = route(
  {
    method: 'delete',
    path: '/snapshots/{name}',
    tag: 'Workspaces',
    summary: 'Delete a snapshot that is kept',
    description: 'There is none: always 404.',
    role: 'operator',
    params: Type.Object({ name: Type.String() }),
    responses: {},
    errors: ['not_found'],
  },
  async (_context, { params }) => {
    throw new AppError(
      'not_found',
      `there is no snapshot ${JSON.stringify(params.name)}: snapshots are made when they are downloaded`,
    )
  },
)
