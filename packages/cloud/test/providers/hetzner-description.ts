const LABEL_KEY = '^([a-z0-9.-]{1,253}/)?[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$'
const LABEL_VALUE = '^([a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?)?$'

const STATUSES = 'running initializing starting stopping off deleting rebuilding migrating unknown'.split(' ')

/** What machines need of Hetzner Cloud's public API documentation, as an OpenAPI document. */
export const HETZNER_DESCRIPTION = {
  openapi: '3.0.0',
  paths: {
    '/v1/servers': {
      get: {
        parameters: [
          { $ref: '#/components/parameters/page' },
          { $ref: '#/components/parameters/per_page' },
          {
            in: 'query',
            name: 'label_selector',
            schema: { type: 'string', pattern: '^[a-z-]+==[a-zA-Z0-9._-]{1,63}$' },
          },
        ],
        responses: { 200: answer('servers'), default: answer('failure') },
      },
      post: { requestBody: json('order'), responses: { 201: answer('made'), default: answer('failure') } },
    },
    '/v1/servers/{id}': {
      get: {
        parameters: [{ $ref: '#/components/parameters/id' }],
        responses: { 200: answer('one'), default: answer('failure') },
      },
      delete: {
        parameters: [{ $ref: '#/components/parameters/id' }],
        responses: { 200: answer('acted'), default: answer('failure') },
      },
    },
    '/v1/server_types': {
      get: {
        parameters: [{ $ref: '#/components/parameters/page' }, { $ref: '#/components/parameters/per_page' }],
        responses: { 200: answer('types'), default: answer('failure') },
      },
    },
  },
  components: {
    parameters: {
      id: { in: 'path', name: 'id', required: true, schema: { type: 'integer' } },
      page: { in: 'query', name: 'page', schema: { type: 'integer', minimum: 1 } },
      per_page: { in: 'query', name: 'per_page', schema: { type: 'integer', minimum: 1, maximum: 50 } },
    },
    schemas: {
      failure: object({ error: object({ code: { type: 'string' }, message: { type: 'string' } }) }),
      order: {
        type: 'object',
        required: ['name', 'server_type', 'image'],
        properties: {
          // A host name as RFC 1123 has it.
          name: { type: 'string', pattern: '^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$' },
          server_type: { type: 'string' },
          image: { type: 'string' },
          location: { type: 'string', pattern: '^[a-z]{3}\\d$' },
          start_after_create: { type: 'boolean' },
          user_data: { type: 'string', maxLength: 32_768 },
          labels: { $ref: '#/components/schemas/labels' },
          networks: { type: 'array', items: { type: 'integer' } },
          public_net: {
            type: 'object',
            additionalProperties: false,
            properties: { enable_ipv4: { type: 'boolean' }, enable_ipv6: { type: 'boolean' } },
          },
        },
      },
      labels: {
        type: 'object',
        propertyNames: { pattern: LABEL_KEY },
        additionalProperties: { type: 'string', pattern: LABEL_VALUE },
      },
      server: object({
        id: { type: 'integer' },
        name: { type: 'string' },
        status: { type: 'string', enum: STATUSES },
        created: { type: 'string', format: 'date-time' },
        labels: { $ref: '#/components/schemas/labels' },
        public_net: object({
          ipv4: nullable({ ip: { type: 'string', format: 'ipv4' } }),
          ipv6: nullable({ ip: { type: 'string', pattern: '::/64$' } }),
        }),
        private_net: { type: 'array', items: object({ ip: { type: 'string', format: 'ipv4' } }) },
      }),
      made: object({
        server: { $ref: '#/components/schemas/server' },
        action: { $ref: '#/components/schemas/action' },
        root_password: { type: 'string', nullable: true },
      }),
      one: object({ server: { $ref: '#/components/schemas/server' } }),
      acted: object({ action: { $ref: '#/components/schemas/action' } }),
      action: object({ id: { type: 'integer' }, command: { type: 'string' }, status: { type: 'string' } }),
      servers: page('servers', { $ref: '#/components/schemas/server' }),
      types: page(
        'server_types',
        object({
          name: { type: 'string' },
          prices: {
            type: 'array',
            items: object({
              location: { type: 'string' },
              price_hourly: object({ net: { type: 'string' }, gross: { type: 'string' } }),
            }),
          },
        }),
      ),
    },
  },
}

/** All of its properties are there. */
function object(properties: Readonly<Record<string, object>>) {
  return { type: 'object', required: Object.keys(properties), properties }
}

function nullable(properties: Readonly<Record<string, object>>) {
  return { ...object(properties), nullable: true }
}

function json(schema: string) {
  return { content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } }
}

function answer(schema: string) {
  return { description: schema, ...json(schema) }
}

function page(name: string, items: object) {
  const next_page = { type: 'integer', nullable: true }
  const pagination = object({ page: { type: 'integer' }, per_page: { type: 'integer' }, next_page })
  return object({ [name]: { type: 'array', items }, meta: object({ pagination }) })
}
