import {
  AppError,
  closed,
  ChangeScope,
  entryProblem,
  MAX_TARGET_LENGTH,
  NewScope,
  Scope,
  workspaceProblem,
  wrapped,
  zoneProblem,
  type FieldError,
} from '@scanfarm/contracts'
import { MAX_SCOPES, type Store } from '@scanfarm/store'
import { Type } from 'typebox'
import { found, missing, problemAt, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { workspaceOf } from '../../submission/workspace-name.ts'
import { authorOf } from '../findings/decisions.ts'
import { timeOf } from '../query.ts'
import { limitProblems } from './limits.ts'

/** Problems of at most this many entries are listed. */
const MAX_PROBLEMS = 50

const entryProblems = (field: string, entries: readonly string[] = []): FieldError[] =>
  entries
    .flatMap((entry, index) => problemAt(`/${field}/${index}`, entryProblem(entry)))
    .slice(0, MAX_PROBLEMS)

const momentOf = (field: 'valid_from' | 'valid_until', text: string | null | undefined) =>
  text === undefined ? {} : { [field]: text === null ? null : timeOf(`/${field}`, text).toISOString() }

/** The scope with its times in UTC; throws for what is wrong with it. `now`: the stored scope. */
const checked = <S extends ChangeScope>(scope: S, now?: Scope): S => {
  refuse([
    ...entryProblems('allowed', scope.allowed),
    ...entryProblems('denied', scope.denied),
    ...limitProblems(scope.limits, '/limits'),
    ...problemAt('/zone', scope.zone === undefined ? undefined : zoneProblem(scope.zone)),
    ...(scope.workspaces ?? []).flatMap((workspace, index) =>
      problemAt(`/workspaces/${index}`, workspaceProblem(workspace)),
    ),
  ])
  const found = {
    ...scope,
    ...momentOf('valid_from', scope.valid_from),
    ...momentOf('valid_until', scope.valid_until),
  }
  const { valid_from: from = now?.valid_from ?? null, valid_until: until = now?.valid_until ?? null } = found
  if (from !== null && until !== null && from >= until)
    refuse([{ path: '/valid_until', message: 'must be after valid_from' }])
  return found
}

const find = async ({ scopes }: Store, name: string): Promise<Scope> => {
  const scope = found('scope', name, await scopes.find(name))
  return scope
}

const savedOf = (outcome: Awaited<ReturnType<Store['scopes']['add']>>, name: string): Scope => {
  if (outcome === 'taken') throw new AppError('conflict', `there is already a scope ${JSON.stringify(name)}`)
  if (outcome === 'full')
    throw new AppError('conflict', `there are ${MAX_SCOPES} scopes, the most that a farm has: remove one`)
  if (outcome === undefined) throw missing('scope', name)
  if ('boundTo' in outcome)
    throw new AppError(
      'conflict',
      `the workspace ${outcome.workspace} has the scope ${outcome.boundTo}: remove it there first`,
    )
  return outcome
}

export const listScopes = route(
  {
    endpoint: 'GET /scopes',
    summary: 'List what may be scanned',
    role: 'viewer',
    responses: { 200: wrapped(Type.Array(Scope)) },
  },
  async ({ store }) => ({ data: await store.scopes.list() }),
)

export const getScope = route(
  {
    endpoint: 'GET /scopes/{name}',
    summary: 'Read one scope',
    role: 'viewer',
    responses: { 200: wrapped(Scope) },
  },
  async ({ store }, { params }) => ({ data: await find(store, params.name) }),
)

export const addScope = route(
  {
    endpoint: 'POST /scopes',
    summary: 'Add a scope',
    description:
      'Runs keep to the scope that their request names and to that of their workspace: each target must be allowed by both. Denied entries win over allowed ones.',
    role: 'admin',
    body: NewScope,
    responses: { 201: wrapped(Scope) },
    errors: ['conflict'],
  },
  async ({ store }, { body, caller }) => ({
    data: savedOf(await store.scopes.add(checked(body), authorOf(caller)), body.name),
  }),
)

export const changeScope = route(
  {
    endpoint: 'PATCH /scopes/{name}',
    summary: 'Change a scope',
    description: 'Lists replace the stored ones as a whole. Waiting runs are checked again when they start.',
    role: 'admin',
    body: ChangeScope,
    responses: { 200: wrapped(Scope) },
    errors: ['conflict'],
  },
  async ({ store }, { params, body }) => {
    const change = checked(body, await find(store, params.name))
    const data = savedOf(await store.scopes.change(params.name, change), body.name ?? params.name)
    if (body.limits !== undefined) await store.limits.wake()
    return { data }
  },
)

export const removeScope = route(
  {
    endpoint: 'DELETE /scopes/{name}',
    summary: 'Remove a scope',
    description: 'Waiting runs that name it are refused. A scope that has workspaces is not removed.',
    role: 'admin',
    responses: { 200: Type.Object({ message: Type.String() }) },
    errors: ['conflict'],
  },
  async ({ store }, { params }) => {
    const removed = found('scope', params.name, await store.scopes.remove(params.name))
    if (removed === 'removed') return { message: 'Scope removed' }
    throw new AppError(
      'conflict',
      `the scope has workspaces (${removed.slice(0, 3).join(', ')}), whose runs could scan anything without it: take them out first`,
    )
  },
)

const Text = Type.String({ minLength: 1, maxLength: MAX_TARGET_LENGTH })

export const checkScope = route(
  {
    endpoint: 'GET /scope-check',
    summary: 'Say whether a target may be scanned, and why not',
    description: 'Names are not resolved: workers also refuse a name that has a forbidden address.',
    role: 'viewer',
    query: closed({
      target: Text,
      scope: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
      workspace: Type.Optional(Type.String({ maxLength: 128, description: 'Default: that of the target' })),
      workflow: Type.Optional(Type.String({ maxLength: 256 })),
    }),
    responses: {
      200: Type.Object({
        allowed: Type.Boolean(),
        reason: Type.String({ description: '"" if it is allowed' }),
        opens_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
          description: 'When a window of the scope opens',
        }),
      }),
    },
  },
  async ({ scopes }, { query: { target, scope, workspace, workflow = '' } }) => {
    const keeper = await scopes.keeperOf(scope, workflow)
    const found = keeper.permission(target, () => workspace ?? workspaceOf(target))
    return found.allowed
      ? { allowed: true, reason: '', opens_at: null }
      : { allowed: false, reason: found.reason, opens_at: found.opensAt?.toISOString() ?? null }
  },
)
