const STATUSES =
  'running offline booting busy rebooting shutting_down provisioning deleting migrating rebuilding cloning restoring stopped'.split(
    ' ',
  )

/** What machines need of Linode's public API documentation; `@linode/validation` decides what may be ordered. */
export const LINODE_DESCRIPTION = {
  openapi: '3.0.0',
  paths: {
    '/v4beta/linode/instances': {
      get: {
        parameters: [{ $ref: '#/components/parameters/page' }, { $ref: '#/components/parameters/page_size' }],
        responses: { 200: answer('instances'), default: answer('errors') },
      },
      post: { requestBody: json('order'), responses: { 200: answer('instance'), default: answer('errors') } },
    },
    '/v4beta/linode/instances/{id}': {
      get: {
        parameters: [{ $ref: '#/components/parameters/id' }],
        responses: { 200: answer('instance'), default: answer('errors') },
      },
    },
    '/v4/linode/instances/{id}': {
      delete: {
        parameters: [{ $ref: '#/components/parameters/id' }],
        responses: { 200: answer('nothing'), default: answer('errors') },
      },
    },
    '/v4/linode/types': {
      get: {
        parameters: [{ $ref: '#/components/parameters/page' }, { $ref: '#/components/parameters/page_size' }],
        responses: { 200: answer('types'), default: answer('errors') },
      },
    },
    '/v4beta/regions/{region}': {
      get: {
        parameters: [
          { in: 'path', name: 'region', required: true, schema: { type: 'string', pattern: '^[a-z-]+$' } },
        ],
        responses: { 200: answer('region'), default: answer('errors') },
      },
    },
  },
  components: {
    parameters: {
      id: { in: 'path', name: 'id', required: true, schema: { type: 'integer' } },
      page: { in: 'query', name: 'page', schema: { type: 'integer', minimum: 1 } },
      page_size: { in: 'query', name: 'page_size', schema: { type: 'integer', minimum: 25, maximum: 500 } },
    },
    schemas: {
      nothing: { type: 'object' },
      errors: {
        type: 'object',
        required: ['errors'],
        properties: {
          errors: {
            type: 'array',
            minItems: 1,
            items: {
              type: 'object',
              required: ['reason'],
              properties: { reason: { type: 'string' }, field: { type: 'string' } },
            },
          },
        },
      },
      order: {
        type: 'object',
        required: ['region', 'type'],
        properties: {
          label: {
            type: 'string',
            pattern: '^(?!.*(--|__|\\.\\.))[a-zA-Z0-9][a-zA-Z0-9._-]{1,62}[a-zA-Z0-9]$',
          },
          region: { type: 'string' },
          type: { type: 'string' },
          image: { type: 'string' },
          root_pass: { type: 'string', minLength: 11, maxLength: 128 },
          authorized_keys: { type: 'array', items: { type: 'string', pattern: '^ssh-ed25519 ' } },
          tags: { type: 'array', items: { type: 'string', minLength: 3, maxLength: 50 } },
          metadata: {
            type: 'object',
            additionalProperties: false,
            properties: {
              user_data: { type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$', maxLength: 87_384 },
            },
          },
          booted: { type: 'boolean' },
          backups_enabled: { type: 'boolean' },
          private_ip: { type: 'boolean' },
        },
      },
      instance: {
        type: 'object',
        required: [
          'id',
          'label',
          'status',
          'created',
          'ipv4',
          'ipv6',
          'tags',
          'region',
          'type',
          'has_user_data',
        ],
        properties: {
          id: { type: 'integer' },
          label: { type: 'string' },
          status: { type: 'string', enum: STATUSES },
          created: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d$' },
          ipv4: { type: 'array', items: { type: 'string', format: 'ipv4' } },
          ipv6: { type: 'string', nullable: true, pattern: '/128$' },
          tags: { type: 'array', items: { type: 'string' } },
          region: { type: 'string' },
          type: { type: 'string' },
          has_user_data: { type: 'boolean' },
        },
      },
      instances: page('instance'),
      types: page('type'),
      type: {
        type: 'object',
        required: ['id', 'price', 'region_prices'],
        properties: {
          id: { type: 'string' },
          price: { $ref: '#/components/schemas/price' },
          region_prices: {
            type: 'array',
            items: { allOf: [{ $ref: '#/components/schemas/price' }, { type: 'object', required: ['id'] }] },
          },
        },
      },
      price: {
        type: 'object',
        required: ['hourly', 'monthly'],
        properties: {
          hourly: { type: 'number', nullable: true },
          monthly: { type: 'number', nullable: true },
        },
      },
      region: {
        type: 'object',
        required: ['id', 'capabilities', 'status'],
        properties: { capabilities: { type: 'array', items: { type: 'string' } } },
      },
    },
  },
}

function json(schema: string) {
  return { content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } }
}

function answer(schema: string) {
  return { description: schema, ...json(schema) }
}

function page(items: string) {
  return {
    type: 'object',
    required: ['data', 'page', 'pages', 'results'],
    properties: {
      data: { type: 'array', items: { $ref: `#/components/schemas/${items}` } },
      page: { type: 'integer', minimum: 1 },
      pages: { type: 'integer', minimum: 1 },
      results: { type: 'integer', minimum: 0 },
    },
  }
}
