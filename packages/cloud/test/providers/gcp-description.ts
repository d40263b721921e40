const STATUSES =
  'PENDING PENDING_STOP PROVISIONING STAGING RUNNING STOPPING STOPPED SUSPENDING SUSPENDED REPAIRING DEPROVISIONING TERMINATED'.split(
    ' ',
  )

const text = { type: 'string' }
/** Numbers of 64 bits are texts in JSON. */
const int64 = { type: 'string', pattern: '^-?\\d+$' }
const flag = { type: 'boolean' }

/** What machines need of Google's public description of Compute Engine, as an OpenAPI document. */
export const GCP_DESCRIPTION = {
  openapi: '3.0.0',
  paths: {
    '/compute/v1/projects/{project}/zones/{zone}/instances': {
      get: {
        parameters: [...inPath('project', 'zone'), ...listing()],
        responses: { 200: answer('instances'), default: answer('failure') },
      },
      post: {
        parameters: [...inPath('project', 'zone'), inQuery('requestId', { type: 'string', format: 'uuid' })],
        requestBody: json('order'),
        responses: { 200: answer('operation'), default: answer('failure') },
      },
    },
    '/compute/v1/projects/{project}/zones/{zone}/instances/{instance}': {
      get: {
        parameters: inPath('project', 'zone', 'instance'),
        responses: { 200: answer('instance'), default: answer('failure') },
      },
      delete: {
        parameters: [
          ...inPath('project', 'zone', 'instance'),
          inQuery('requestId', { type: 'string', format: 'uuid' }),
        ],
        responses: { 200: answer('operation'), default: answer('failure') },
      },
    },
    '/compute/v1/projects/{project}/aggregated/instances': {
      get: {
        parameters: [...inPath('project'), ...listing(), inQuery('includeAllScopes', flag)],
        responses: { 200: answer('aggregated'), default: answer('failure') },
      },
    },
    '/compute/v1/projects/{project}/zones/{zone}/operations/{operation}': {
      get: {
        parameters: inPath('project', 'zone', 'operation'),
        responses: { 200: answer('operation'), default: answer('failure') },
      },
    },
  },
  components: {
    schemas: {
      failure: {
        type: 'object',
        required: ['error'],
        properties: {
          error: object({
            code: { type: 'integer' },
            message: text,
            errors: list(object({ message: text, domain: text, reason: text })),
          }),
        },
      },
      order: object({
        name: text,
        machineType: text,
        labels: { $ref: '#/components/schemas/labels' },
        disks: list(
          object({
            boot: flag,
            autoDelete: flag,
            deviceName: text,
            diskSizeGb: int64,
            initializeParams: object({
              sourceImage: text,
              diskType: text,
              diskSizeGb: int64,
              labels: { $ref: '#/components/schemas/labels' },
            }),
          }),
        ),
        networkInterfaces: list(
          object({
            network: text,
            subnetwork: text,
            accessConfigs: list(
              object({
                name: text,
                type: { type: 'string', enum: ['ONE_TO_ONE_NAT', 'DIRECT_IPV6'] },
                networkTier: text,
              }),
            ),
          }),
        ),
        metadata: object({ items: list(object({ key: text, value: text })) }),
        scheduling: object({
          automaticRestart: flag,
          instanceTerminationAction: { type: 'string', enum: ['DELETE', 'STOP'] },
          maxRunDuration: object({ seconds: int64, nanos: { type: 'integer' } }),
          onHostMaintenance: { type: 'string', enum: ['MIGRATE', 'TERMINATE'] },
          provisioningModel: { type: 'string', enum: ['STANDARD', 'SPOT'] },
          preemptible: flag,
        }),
      }),
      labels: { type: 'object', additionalProperties: text },
      instance: object({
        id: int64,
        name: text,
        zone: text,
        status: { type: 'string', enum: STATUSES },
        statusMessage: text,
        labels: { $ref: '#/components/schemas/labels' },
        networkInterfaces: list(
          object({
            networkIP: { type: 'string', format: 'ipv4' },
            accessConfigs: list(
              object({ name: text, type: text, natIP: { type: 'string', format: 'ipv4' } }),
            ),
          }),
        ),
      }),
      operation: object({
        name: text,
        status: { type: 'string', enum: ['PENDING', 'RUNNING', 'DONE'] },
        httpErrorStatusCode: { type: 'integer' },
        httpErrorMessage: text,
        error: object({ errors: list(object({ code: text, message: text, location: text })) }),
      }),
      instances: object({ items: list({ $ref: '#/components/schemas/instance' }), nextPageToken: text }),
      aggregated: object({
        items: {
          type: 'object',
          additionalProperties: object({
            instances: list({ $ref: '#/components/schemas/instance' }),
            warning: object({ code: text, message: text }),
          }),
        },
        nextPageToken: text,
      }),
    },
  },
}

/** Without other fields: misspelt ones are found at any depth. */
function object(properties: Readonly<Record<string, object>>) {
  return { type: 'object', properties, additionalProperties: false }
}

function list(items: object) {
  return { type: 'array', items }
}

function inPath(...names: readonly string[]) {
  return names.map((name) => ({ in: 'path', name, required: true, schema: text }))
}

function inQuery(name: string, schema: object) {
  return { in: 'query', name, schema }
}

function listing() {
  return [
    inQuery('filter', text),
    inQuery('maxResults', { type: 'integer', minimum: 0, maximum: 500 }),
    inQuery('pageToken', text),
    inQuery('orderBy', text),
  ]
}

function json(schema: string) {
  return { content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } }
}

function answer(schema: string) {
  return { description: schema, ...json(schema) }
}
