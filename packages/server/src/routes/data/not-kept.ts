import { AppError, Pagination } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { pageQuery, pageRequest } from '../paging.ts'

const NONE: object[] = []

/** Clients of the established API list comparisons that were stored; here each is made when it is asked for. */
const storedDiffs = (path: string, things: string) =>
  route(
    {
      method: 'get',
      path: `${path}/diffs`,
      tag: 'Findings',
      summary: `List the comparisons of ${things} that are kept`,
      description: `Always empty: \`GET ${path}/diff\` compares when it is asked, from the history of the records.`,
      role: 'viewer',
      query: Type.Object(
        { workspace: Type.Optional(Type.String()), ...pageQuery },
        { additionalProperties: false },
      ),
      responses: { 200: Type.Object({ data: Type.Array(Type.Object({})), pagination: Pagination }) },
    },
    async (_context, { query }) => {
      const { offset, limit } = pageRequest(query)
      return { data: NONE, pagination: { total: 0, offset, limit } }
    },
  )

export const listVulnerabilityDiffs = storedDiffs('/vulnerabilities', 'vulnerabilities')
export const listAssetDiffs = storedDiffs('/assets', 'assets')

export const listWebhookRuns = route(
  {
    method: 'get',
    path: '/webhook-runs/list',
    tag: 'Webhooks',
    summary: 'List the runs that wait for a webhook',
    description:
      'Always empty: here an incoming webhook raises an event, and a trigger on `webhook.received` starts the workflow.',
    role: 'viewer',
    responses: {
      200: Type.Object({ data: Type.Array(Type.Object({})), total: Type.Integer({ minimum: 0 }) }),
    },
  },
  async () => ({ data: NONE, total: 0 }),
)

const triggerWebhookRun = (method: 'get' | 'post') =>
  route(
    {
      method,
      path: '/webhook-runs/{uuid}/trigger',
      tag: 'Webhooks',
      summary: 'Start a run that waits for a webhook',
      description: 'There is none: always 404. Use `POST /webhooks/{name}`.',
      role: 'operator',
      params: Type.Object({ uuid: Type.String() }),
      responses: {},
      errors: ['not_found'],
    },
    async () => {
      throw new AppError(
        'not_found',
        'no run waits for a webhook: add one with POST /incoming-webhooks and a trigger on the topic webhook.received',
      )
    },
  )

export const getWebhookRunTrigger = triggerWebhookRun('get')
export const postWebhookRunTrigger = triggerWebhookRun('post')
