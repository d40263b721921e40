import { createHash, timingSafeEqual } from 'node:crypto'
import { AppError, WORKSPACE_PATTERN } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { ARTIFACT_RESPONSES, sendArtifact } from './send-artifact.ts'

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Links of dashboards, without a token. Every error is the same 404, so that none reveals the right key. */
export const readWorkspaceFile = route(
  {
    endpoint: 'GET /ws/{key}/{workspace}/{path}',
    summary: 'Download the newest artifact with the given path in a workspace through a link',
    description:
      'Requires a key in the setting `http.files_key`; otherwise the answer is always 404. The path may have several segments. Folders are not listed. The content is always an attachment, because it may be hostile.',
    role: 'public',
    bare: true,
    aliases: ['/ws/{key}/{workspace}/*path'],
    params: Type.Object({
      key: Type.String({ description: 'The key in `http.files_key`' }),
      workspace: Type.String(),
      path: Type.Union([Type.String(), Type.Array(Type.String())]),
    }),
    responses: ARTIFACT_RESPONSES,
    errors: ['range_not_satisfiable'],
  },
  async ({ store, artifacts, config }, { params: { key, workspace, path }, http }) => {
    const wanted = config.http.filesKey?.reveal() ?? ''
    const fits = timingSafeEqual(hashed(key), hashed(wanted)) && wanted !== ''
    const parts = Array.isArray(path) ? path : path.split('/')
    const known =
      fits && new RegExp(WORKSPACE_PATTERN).test(workspace) && !parts.includes('..')
        ? await store.runs.artifactAt(
            workspace,
            parts.filter((part) => part !== '' && part !== '.').join('/'),
          )
        : undefined
    if (known === undefined) throw new AppError('not_found', 'not found')
    return sendArtifact(artifacts, known, http.headers)
  },
)
