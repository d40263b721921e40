import { AppError, closed, Pagination } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route, unsupportedRoute } from '../http/route.ts'
import { pageQuery, pageRequest } from '../http/paging.ts'

export const installFromRegistry = unsupportedRoute({
  endpoint: 'POST /registry-install',
  summary: 'Install programs or workflows (not supported)',
  role: 'admin',
  description:
    'a server does not install anything on the machines of a farm: put programs into the machine or image of the workers (GET /registry-info lists what they have), and add workflows with POST /workflow-upload',
})

export const clearTable = unsupportedRoute({
  endpoint: 'POST /database/tables/{table}/clear',
  summary: 'Delete all records of a table (not supported)',
  role: 'admin',
  description:
    'records that refer to each other cannot be deleted by table: the settings retention.run_days and retention.event_days delete ended runs, with their steps and artifacts, and the event log by age; DELETE /vulnerabilities/{id} deletes one finding',
})

export const agentChat = unsupportedRoute({
  endpoint: 'POST /agent/chat/completions',
  summary: 'Chat with an agent program on the server (not supported)',
  role: 'operator',
  description:
    'a server does not start agent programs: run a workflow with a step of type agent, or ask the model with POST /llm/v1/chat/completions',
})

const NONE: object[] = []

/** Osmedeus clients list stored comparisons; here each comparison is computed on request. */
const storedDiffs = (path: '/vulnerabilities' | '/assets', things: string) =>
  route(
    {
      endpoint: `GET ${path}/diffs`,
      summary: `List stored comparisons of ${things}`,
      description: `Always empty: \`GET ${path}/diff\` computes a comparison on request from the history of the records.`,
      role: 'viewer',
      query: closed({ workspace: Type.Optional(Type.String()), ...pageQuery }),
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
    endpoint: 'GET /webhook-runs/list',
    summary: 'List the runs that wait for a webhook',
    description:
      'Always empty: an incoming webhook emits an event, and a trigger on `webhook.received` starts the workflow.',
    role: 'viewer',
    responses: {
      200: Type.Object({ data: Type.Array(Type.Object({})), total: Type.Integer({ minimum: 0 }) }),
    },
  },
  async () => ({ data: NONE, total: 0 }),
)

const triggerWebhookRun = (method: 'GET' | 'POST') =>
  route(
    {
      endpoint: `${method} /webhook-runs/{uuid}/trigger`,
      summary: 'Start a run that waits for a webhook',
      description: 'Always 404, because no run waits for a webhook. Use `POST /webhooks/{name}`.',
      role: 'operator',
      responses: {},
    },
    async () => {
      throw new AppError(
        'not_found',
        'no run waits for a webhook: create a webhook with POST /incoming-webhooks and a trigger on the topic webhook.received',
      )
    },
  )

export const getWebhookRunTrigger = triggerWebhookRun('GET')
export const postWebhookRunTrigger = triggerWebhookRun('POST')
