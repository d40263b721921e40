import { AppError, closed, Artifact, ArtifactType, type ArtifactStore } from '@scanfarm/contracts'
import { NEWEST_RUNS, withoutStorage, type StoredArtifact } from '@scanfarm/store'
import { Type } from 'typebox'
import { refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { pageBody, pages } from '../../http/paging.ts'
import { aliased, List, nameList, wordsOf, WordList } from '../query.ts'
import { ARTIFACT_RESPONSES, sendArtifact } from './send-artifact.ts'

const TYPES = ArtifactType.enum
/** Maximum artifacts of a page whose content is verified, and concurrent checks. */
const MAX_VERIFIED = 1_000
const VERIFIED_AT_ONCE = 16

/** The artifacts whose content still exists, in order. */
const verified = async (artifacts: ArtifactStore, found: readonly StoredArtifact[]) => {
  const kept = new Array<boolean>(found.length)
  const queue = found.entries()
  const check = async (): Promise<void> => {
    for (const [place, { store_key }] of queue) kept[place] = (await artifacts.size(store_key)) !== undefined
  }
  await Promise.all(Array.from({ length: VERIFIED_AT_ONCE }, check))
  return found
    .filter((_, place) => kept[place])
    .map((artifact) => ({
      ...withoutStorage(artifact),
      path_exists: true,
      path_is_dir: artifact.content_type === 'folder',
    }))
}

const ListedArtifact = Type.Object({
  ...Artifact.properties,
  path_exists: Type.Optional(Type.Boolean({ description: 'Only with verify_exist' })),
  path_is_dir: Type.Optional(Type.Boolean({ description: 'Only with verify_exist' })),
})

export const listAllArtifacts = route(
  {
    endpoint: 'GET /artifacts',
    summary: 'List the artifacts of several runs, newest runs first',
    description: `Artifacts of the latest attempts. Only the newest ${NEWEST_RUNS} runs that match workspace and run are read.`,
    role: 'viewer',
    ...pages(ListedArtifact, {
      workspace: List('Exact names, separated by commas'),
      artifact_type: WordList(TYPES, 'One or more, separated by commas'),
      search: Type.Optional(
        Type.String({
          maxLength: 1024,
          description: 'Substring of name, path or description, ignoring case',
        }),
      ),
      run_uuid: Type.Optional(Type.String({ description: 'Number or run_uuid of the run' })),
      run_id: Type.Optional(Type.String({ description: 'Alias of run_uuid' })),
      verify_exist: Type.Optional(
        Type.Boolean({
          description: `Leave out artifacts whose content no longer exists; a limit above ${MAX_VERIFIED} is lowered to ${MAX_VERIFIED}`,
        }),
      ),
    }),
  },
  async ({ store, artifacts }, { query, page }) => {
    const verify = query.verify_exist === true
    const request = verify ? { ...page, limit: Math.min(page.limit, MAX_VERIFIED) } : page
    const filter = {
      workspaces: nameList(query.workspace),
      types: wordsOf('artifact_type', query.artifact_type, TYPES),
      search: query.search,
      run: aliased(query, 'run_uuid', 'run_id'),
    }
    const found = await store.runs.allArtifacts(filter, request)
    const data = verify ? await verified(artifacts, found.data) : found.data.map(withoutStorage)
    return pageBody({ ...found, data }, request)
  },
)

/** A path is only compared with those of artifacts, never opened; ".." is refused nevertheless. */
const cleanPath = (path: string): string => {
  const parts = path.replaceAll('\\', '/').split('/')
  const kept = parts.filter((part) => part !== '' && part !== '.')
  if (parts.includes('..') || kept.length === 0)
    refuse([{ path: '/artifact_path', message: 'must be a path below the workspace, without ".."' }])
  return kept.join('/')
}

export const readWorkspaceArtifact = route(
  {
    endpoint: 'GET /artifacts/{workspace}',
    summary: 'Download the newest artifact with the given path in a workspace',
    description:
      'Supports `Range` and `If-None-Match`. The content is always an attachment, because it may be hostile. A folder is sent as a tar file.',
    role: 'viewer',
    query: closed({
      artifact_path: Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'The part of `artifact_path` after `/<workspace>/`',
      }),
    }),
    responses: ARTIFACT_RESPONSES,
    errors: ['range_not_satisfiable'],
  },
  async ({ store, artifacts }, { params, query, http }) => {
    const path = cleanPath(query.artifact_path)
    const artifact = await store.runs.artifactAt(params.workspace, path)
    if (artifact === undefined) throw noArtifact(params.workspace, path)
    return sendArtifact(artifacts, artifact, http.headers)
  },
)

const noArtifact = (workspace: string, path: string): AppError =>
  new AppError(
    'not_found',
    `the workspace ${JSON.stringify(workspace)} has no artifact ${JSON.stringify(path)}; see GET /artifacts`,
  )
