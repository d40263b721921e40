import { createHash, timingSafeEqual } from 'node:crypto'
import { AppError, WORKSPACE_PATTERN } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { ARTIFACT_RESPONSES, sendArtifact } from '../runs/send-artifact.ts'

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Links of dashboards, which carry no token. Every refusal is the same 404: it does not tell whether the key was right. */
export const readWorkspaceFile = route(
  {
    method: 'get',
    path: '/ws/{key}/{workspace}/{path}',
    tag: 'Workspaces',
    summary: 'Download the newest artifact with a path below the workspace, by a link',
    description:
      'Only where the setting `http.files_key` has a key; otherwise always 404. The path may have several parts. No folders are listed. Always an attachment: artifacts may hold hostile content.',
    role: 'public',
    bare: true,
    aliases: ['/ws/{key}/{workspace}/*path'],
    params: Type.Object({
      key: Type.String({ description: 'The key of the setting' }),
      workspace: Type.String(),
      path: Type.Union([Type.String(), Type.Array(Type.String())]),
    }),
    responses: ARTIFACT_RESPONSES,
    errors: ['not_found', 'range_not_satisfiable'],
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
    if (known === undefined) throw new AppError('not_found', 'there is nothing here')
    return sendArtifact(artifacts, known, http.headers)
  },
)
