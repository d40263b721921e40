import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { call, farm, watchFarm } from '../farm/attacked-farm.ts'
import {
  concrete,
  METHODS,
  nameOf,
  operations,
  ROOTS,
  type NeededRole,
  type Operation,
} from '../farm/document.ts'

/** Routes that need no token: every machine that reaches the port may call them. */
const PUBLIC = [
  'GET /docs',
  'GET /health',
  'GET /health/ready',
  'GET /info',
  'GET /openapi.json',
  'GET /osm/server-info',
  'GET /server-info',
  'GET /status',
  'GET /swagger',
  'GET /swagger/',
  'GET /swagger/doc.json',
  'GET /swagger/index.html',
  'GET /ws/{key}/{workspace}/*path',
  'GET /ws/{key}/{workspace}/{path}',
  'GET /workflow.schema.json',
  'POST /login',
  'POST /logout',
  'POST /session',
  'POST /webhooks/{name}',
]

/** Routes other than GET that viewers may call. They change nothing but the caller's own login and saved filters. */
const VIEWER_READS_BY_POST = [
  'DELETE /session',
  'POST /session/links',
  'DELETE /sessions/{id}',
  'POST /cloud/estimate',
  'POST /snapshots/export',
  'POST /workflows/lint',
  'POST /workflows/{name}/needs',
  'POST /saved-filters',
  'DELETE /saved-filters/{id}',
]

const OPERATOR_NEVER = [
  'GET /settings',
  'GET /settings/yaml',
  'GET /settings/status',
  'POST /settings/reload',
  'POST /registry-install',
  'POST /database/tables/{table}/clear',
  'GET /audit',
  'GET /tokens',
  'POST /tokens',
  'DELETE /tokens/{id}',
  'GET /users',
  'POST /users',
  'GET /users/{id}',
  'PATCH /users/{id}',
  'DELETE /users/{id}',
  'POST /workflow-upload',
  'POST /schedules',
  'PUT /schedules/{id}',
  'DELETE /schedules/{id}',
  'POST /incoming-webhooks',
  'GET /incoming-webhooks',
  'DELETE /incoming-webhooks/{id}',
  'POST /webhook-subscriptions',
  'GET /webhook-subscriptions',
  'PATCH /webhook-subscriptions/{id}',
  'DELETE /webhook-subscriptions/{id}',
  'GET /webhook-deliveries',
  'POST /webhook-deliveries/{id}/redeliver',
  'POST /cloud/instances',
  'DELETE /cloud/instances/{id}',
  'POST /orgs',
  'PUT /orgs/{org}',
  'DELETE /orgs/{org}',
]

const VIEWER_NEVER = [
  ...OPERATOR_NEVER,
  'POST /runs',
  'DELETE /runs/{id}',
  'POST /runs/{id}/duplicate',
  'POST /runs/{id}/start',
  'POST /jobs/{id}/cancel',
  'POST /upload-file',
  'POST /events/emit',
  'POST /vulnerabilities',
  'POST /vulnerabilities/bulk',
  'POST /triggers/test',
  'DELETE /vulnerabilities/{id}',
  'POST /schedules/{id}/trigger',
  'POST /tasks',
  'POST /workflows/refresh',
  'POST /functions/eval',
  'POST /llm/v1/chat/completions',
  'POST /llm/v1/embeddings',
  'POST /agent/chat/completions',
]

const RANK: Readonly<Record<NeededRole, number>> = { public: 0, viewer: 1, operator: 2, admin: 3 }
const ROLES = ['viewer', 'operator', 'admin'] as const

let all: Operation[] = []
let expired = ''
beforeAll(async () => {
  all = await operations()
  const made = await call('post', '/tokens', {
    body: { name: 'expired', role: 'admin', expires_at: new Date(Date.now() + 1_000).toISOString() },
  })
  expired = String(made.json?.['token'])
  await delay(1_500)
})

/** Parameter names are not compared. */
const shape = (name: string): string => name.replaceAll(/\{\w+\}/g, '{}')
const withRole = (...roles: NeededRole[]): string[] =>
  all.filter(({ role }) => roles.includes(role)).map(nameOf)

describe('roles in the OpenAPI document', () => {
  test('The OpenAPI document has a role for each of many routes', () => {
    expect(all.length).toBeGreaterThanOrEqual(78)
  })

  test('Only the listed routes are public', () => {
    expect(withRole('public').sort()).toEqual([...PUBLIC].sort())
  })

  test('Viewers can only call routes that change nothing', () => {
    const changing = withRole('viewer').filter((name) => !name.startsWith('GET '))
    expect(changing.filter((name) => !VIEWER_READS_BY_POST.includes(name))).toEqual([])
  })

  test.each([
    ['viewers', VIEWER_NEVER, ['public', 'viewer']],
    ['operators', OPERATOR_NEVER, ['public', 'viewer', 'operator']],
  ] as const)('The listed routes are forbidden to %s', (_who, never, roles) => {
    const allowed = withRole(...roles).map(shape)
    expect(never.map(shape).filter((name) => allowed.includes(name))).toEqual([])
    // An entry that names no route would test nothing.
    expect(never.map(shape).filter((name) => !all.map(nameOf).map(shape).includes(name))).toEqual([])
  })
})

/** The status of a call. The body is not read, because a stream of events has no end. */
const statusOf = async (operation: Operation, root: string, token: string): Promise<number> => {
  const answer = await fetch(`${farm.url}${root}${concrete(operation.path)}`, {
    method: operation.method.toUpperCase(),
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(operation.json ? { 'content-type': 'application/json' } : {}),
    },
    body: operation.json ? '{}' : undefined,
    signal: AbortSignal.timeout(30_000),
  })
  await answer.body?.cancel()
  return answer.status
}

describe.each(ROOTS)('routes below %s', (root) => {
  test.each([
    ['no token', () => ''],
    ['an unknown token', () => 'sfm_0000000000000000000000000000000000000000000'],
    ['an expired token', () => expired],
  ])('A call with %s can only use public routes', async (_name, token) => {
    const wrong: string[] = []
    for (const operation of all) {
      if (operation.path === '/login' || operation.path.startsWith('/webhooks/')) continue
      const status = await statusOf(operation, root, token())
      if ((status === 401) === (operation.role === 'public')) wrong.push(`${nameOf(operation)}: ${status}`)
    }
    expect(wrong).toEqual([])
  })

  test.each(ROLES)(
    'The role %s can use the routes that the OpenAPI document allows and no others',
    async (role) => {
      const wrong: string[] = []
      for (const operation of all) {
        const status = await statusOf(operation, root, farm.tokens[role])
        const allowed = RANK[operation.role] <= RANK[role]
        const isPublic = operation.path === '/login' || operation.path.startsWith('/webhooks/')
        const isRight = isPublic
          ? status < 500
          : allowed
            ? ![401, 403].includes(status) && status < 500
            : status === 403
        // A route may return 503 without its loop, provider or setting, and 501 if it is not implemented.
        if (!isRight && !(allowed && [501, 503].includes(status)))
          wrong.push(`${nameOf(operation)}: ${status}`)
      }
      expect(wrong).toEqual([])
    },
  )

  test('Administrators cannot use methods that the OpenAPI document does not have', async () => {
    const documented = new Set(all.map(nameOf))
    const wrong: string[] = []
    for (const path of new Set(all.map((operation) => operation.path)))
      for (const method of [...METHODS, 'link', 'propfind']) {
        if (documented.has(nameOf({ method, path }))) continue
        // Another method may read a word of the path as an id: DELETE /vulnerabilities/summary.
        const { status } = await call(method, concrete(path), { root })
        if (![404, 405, 400].includes(status)) wrong.push(`${method} ${path}: ${status}`)
      }
    expect(wrong).toEqual([])
  })
})

watchFarm()
