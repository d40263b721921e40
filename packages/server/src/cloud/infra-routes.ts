import { budgetOf, draftInfra } from '@scanfarm/cloud'
import {
  closed,
  CloudInfra,
  CloudInstance,
  CloudProviderName,
  InfraStatus,
  Pagination,
} from '@scanfarm/contracts'
import { Type } from 'typebox'
import { signalCancel } from '../cancel.ts'
import { found, refuse } from '../http/refusal.ts'
import { route } from '../http/route.ts'
import { refuseDisabled } from './plan-cloud-job.ts'
import { pageQuery } from '../http/paging.ts'
import { InfraRequestBody, REFUSED_FIELDS, requestOf, requestProblems } from './infra-request.ts'

/** `root`: the API root through which the request came. */
export const infraStatusUrl = (root: string, infraId: string): string =>
  `${root}/cloud/instances/${infraId}/status`

const Program = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$' })

const Created = Type.Object({
  message: Type.String(),
  infra_id: Type.String(),
  status: InfraStatus,
  provider: CloudProviderName,
  instances: Type.Integer(),
  infra_status_url: Type.String(),
  poll_url: Type.String({ description: 'Same as infra_status_url' }),
})

export const createInfra = route(
  {
    endpoint: 'POST /cloud/instances',
    summary: 'Create machines at a cloud provider',
    description:
      'Runs use them with `cloud_reuse_infra`. They are destroyed by DELETE, when their time is over, and with `auto_destroy` after the last run of all jobs that use them.',
    role: 'admin',
    body: closed(
      {
        ...InfraRequestBody.properties,
        auto_destroy: Type.Optional(Type.Boolean()),
        tools: Type.Optional(
          Type.Array(Program, {
            maxItems: 100,
            description: 'Programs that a machine must have before it takes runs',
          }),
        ),
      },
      { $id: 'CreateInfra' },
    ),
    refusedFields: REFUSED_FIELDS,
    rules: requestProblems,
    responses: { 202: Created },
    errors: ['cloud_disabled', 'cloud_credentials', 'cloud_limit', 'unavailable'],
  },
  async (context, { body, http }) => {
    const { store, config, notifier } = context
    refuseDisabled(config.cloud.enabled)
    refuse(requestProblems(body))
    const { auto_destroy: autoDestroy, tools = [] } = body
    const draft = await draftInfra(context, { ...requestOf(body), autoDestroy, tools }, '')
    const infra = await store.cloud.request(draft, budgetOf(config.cloud))
    notifier.notify()
    const url = infraStatusUrl(http.root, infra.infra_id)
    return {
      message: `${draft.instances} ${draft.instances === 1 ? 'machine' : 'machines'} requested`,
      infra_id: infra.infra_id,
      status: infra.status,
      provider: infra.provider,
      instances: infra.instances,
      infra_status_url: url,
      poll_url: url,
    }
  },
)

export const listInfras = route(
  {
    endpoint: 'GET /cloud/instances',
    summary: 'List infrastructures with their machines, newest first',
    role: 'viewer',
    query: Type.Object({
      status: Type.Optional(InfraStatus),
      provider: Type.Optional(CloudProviderName),
      ...pageQuery,
    }),
    responses: { 200: Type.Object({ data: Type.Array(CloudInfra), pagination: Pagination }) },
    errors: ['cloud_disabled'],
  },
  async ({ store, config }, { query: { status, provider }, page }) => {
    refuseDisabled(config.cloud.enabled)
    return await store.cloud.list({ status, provider }, page)
  },
)

export const getInfra = route(
  {
    endpoint: 'GET /cloud/instances/{infra_id}',
    summary: 'Read an infrastructure and its machines',
    role: 'viewer',
    responses: { 200: Type.Object({ data: CloudInfra }) },
    errors: ['cloud_disabled'],
  },
  async ({ store, config }, { params }) => {
    refuseDisabled(config.cloud.enabled)
    const infra = found('infrastructure', params.infra_id, await store.cloud.find(params.infra_id))
    return { data: infra }
  },
)

export const getInfraStatus = route(
  {
    endpoint: 'GET /cloud/instances/{infra_id}/status',
    summary: 'Read the progress of the machines of an infrastructure',
    role: 'viewer',
    responses: {
      200: Type.Object({
        infra_id: Type.String(),
        status: InfraStatus,
        message: Type.String(),
        ready_count: Type.Integer({ minimum: 0 }),
        total_count: Type.Integer({ minimum: 0 }),
        expires_at: Type.String({ format: 'date-time' }),
        details: Type.Array(CloudInstance),
      }),
    },
    errors: ['cloud_disabled'],
  },
  async ({ store, config }, { params }) => {
    refuseDisabled(config.cloud.enabled)
    const infra = found('infrastructure', params.infra_id, await store.cloud.find(params.infra_id))
    const { infra_id, status, message, ready_count, total_count, expires_at, details } = infra
    return { infra_id, status, message, ready_count, total_count, expires_at, details }
  },
)

export const destroyInfra = route(
  {
    endpoint: 'DELETE /cloud/instances/{infra_id}',
    summary: 'Destroy the machines of an infrastructure',
    description:
      'Waiting runs are cancelled, and running ones are asked to stop. The machines are destroyed asynchronously: poll the status. An infrastructure that has ended stays as it is.',
    role: 'admin',
    responses: { 202: Type.Object({ message: Type.String(), infra_id: Type.String(), status: InfraStatus }) },
    errors: ['cloud_disabled'],
  },
  async (context, { params, caller }) => {
    const { store, config, notifier } = context
    refuseDisabled(config.cloud.enabled)
    const drained = found(
      'infrastructure',
      params.infra_id,
      await store.cloud.drain(params.infra_id, `destroyed by ${caller.name}`),
    )
    await signalCancel(context, drained.cancelled)
    notifier.notify()
    const { infra_id, status } = drained.infra
    const message =
      status === 'draining' ? 'The machines are being destroyed' : `The infrastructure is already ${status}`
    return { message, infra_id, status }
  },
)
