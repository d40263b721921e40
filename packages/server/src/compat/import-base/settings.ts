import { commandVariableProblem } from '@scanfarm/runners/settings'
import { stringify } from 'yaml'
import type { BaseLayout } from './layout.ts'
import type { SettingReport } from './report.ts'
import { asText } from './values.ts'

interface Carried {
  readonly setting: string
  readonly value: unknown
  readonly note?: string
}

type Carry = (value: unknown, all: ReadonlyMap<string, unknown>) => readonly Carried[] | string

const as =
  (setting: string): Carry =>
  (value) => [{ setting, value }]

const none =
  (note: string): Carry =>
  () =>
    note

const MINUTES_PER_HOUR = 60

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Only if the operator enabled it. */
const whenOn =
  (switches: readonly string[], carry: Carry): Carry =>
  (value, all) => {
    const off = switches.find((key) => all.get(key) !== true)
    return off === undefined ? carry(value, all) : `disabled in Osmedeus (${off})`
  }

/** Text that begins with `@` would be read as a file name. */
const literal = (text: string): string => text.replace(/^@/, '@@')

const globalVariables: Carry = (value) => {
  const entries = Object.entries(isMap(value) ? value : {}).map(([name, item]): [string, string, boolean] =>
    isMap(item) ? [name, asText(item['value']), item['as_env'] !== false] : [name, asText(item), true],
  )
  const filled = entries.filter(([, text]) => text !== '')
  if (filled.length === 0) return 'none of the variables has a value'
  const problems = new Map(filled.map(([name]) => [name, commandVariableProblem(name)]))
  const refused = [...problems].flatMap(([name, why]) => (why === undefined ? [] : [`${name}: ${why}`]))
  const fit = filled.filter(([name]) => problems.get(name) === undefined)
  if (fit.length === 0) return `not supported: ${refused.join('; ')}`
  const without = refused.length === 0 ? '' : `; without ${refused.join('; ')}`
  const of = (asEnv: boolean): Record<string, string> =>
    Object.fromEntries(
      fit.filter(([, , isEnv]) => isEnv === asEnv).map(([name, text]) => [name, literal(text)]),
    )
  return [
    {
      setting: 'runner.env',
      value: of(true),
      note: `available to commands; move secrets to separate files if others can read this one${without}`,
    },
    { setting: 'workflows.variables', value: of(false), note: `available in workflow templates${without}` },
  ].filter(({ value: found }) => Object.keys(found).length > 0)
}

const languageModel: Carry = (value) => {
  const [first, ...others] = (Array.isArray(value) ? value : []).filter(isMap)
  if (first === undefined) return 'no provider is configured'
  const url = asText(first['base_url']).replace(/\/(chat\/completions|embeddings)\/?$/, '')
  const key = encodeURIComponent(asText(first['auth_token']))
  const withKey = key === '' ? url : url.replace('://', `://:${key}@`)
  const note = others.length === 0 ? undefined : 'the first provider; others are not supported'
  return [
    {
      setting: 'llm.url',
      value: `${withKey}?model=${encodeURIComponent(asText(first['model']))}`,
      note,
    },
  ]
}

const redisUrl: Carry = (host, all) => {
  const of = (key: string): string => asText(all.get(`redis.${key}`))
  const url = new URL('redis://localhost')
  url.hostname = asText(host).includes(':') ? `[${asText(host)}]` : asText(host)
  url.port = of('port')
  url.username = of('username')
  url.password = of('password')
  url.pathname = of('db') === '' ? '' : `/${of('db')}`
  return [{ setting: 'redis.url', value: url.href }]
}

const telegramUrl: Carry = (token, all) => {
  const id = all.get('notification.telegram.chat_id')
  const chat = id === 0 ? '' : asText(id)
  const channels = all.get('notification.telegram.telegram_channel_map')
  const others = new URLSearchParams(
    Object.entries(isMap(channels) ? channels : {}).map(([name, other]): [string, string] => [
      name,
      asText(other),
    ]),
  )
  if (chat === '' && others.size === 0) return 'no chat is configured'
  const query = others.size === 0 ? '' : `?${others.toString()}`
  return [{ setting: 'notify.telegram', value: `telegram://${asText(token)}@${chat}${query}` }]
}

const bucketUrl: Carry = (bucket, all) => {
  const of = (key: string): string => asText(all.get(`storage.${key}`))
  const [id, secret] = [of('access_key_id'), of('secret_access_key')].map(encodeURIComponent)
  const login = id === '' || secret === '' ? '' : `${id}:${secret}@`
  const scheme = all.get('storage.use_ssl') === false ? 'http' : 'https'
  const endpoint = of('endpoint')
  const query = new URLSearchParams({
    ...(of('region') === '' ? {} : { region: of('region') }),
    ...(endpoint === '' ? {} : { endpoint: endpoint.includes('://') ? endpoint : `${scheme}://${endpoint}` }),
  })
  return [
    {
      setting: 'storage.s3',
      value: `s3://${login}${asText(bucket)}${query.size === 0 ? '' : `?${query.toString()}`}`,
    },
  ]
}

const TELEGRAM = ['notification.enabled', 'notification.telegram.enabled']
const STORAGE = ['storage.enabled']
const isEmpty = (value: unknown): boolean => value === '' || value === null || value === undefined

const DATABASE = 'its records are imported; Scanfarm uses the Postgres database of database.url'

/** How each Osmedeus setting is imported. A key that ends with `*` is a prefix. */
const RULES: readonly (readonly [string, Carry])[] = [
  ['base_folder', as('folders.base')],
  ['environments.workflows', none('its files are copied')],
  ['environments.workspaces', none('their files are imported as artifacts')],
  ['environments.*', none('found below folders.base by their usual names; link those that are elsewhere')],
  ['database.*', none(DATABASE)],
  [
    'server.host',
    (value) => [
      {
        setting: 'http.host',
        value,
        ...(value === '0.0.0.0' ? { note: 'listens on all addresses; the default is 127.0.0.1' } : {}),
      },
    ],
  ],
  ['server.port', as('http.port')],
  ['server.simple_user_map_key', none('create users with `POST /users`: only password hashes are stored')],
  [
    'server.jwt.expiration_minutes',
    (value) => [{ setting: 'auth.session_hours', value: Math.ceil(Number(value) / MINUTES_PER_HOUR) || 1 }],
  ],
  ['server.jwt.secret_signing_key', none('every farm creates its own key')],
  [
    'server.auth_api_key',
    (value, all) =>
      all.get('server.enabled_auth_api') === true
        ? [
            {
              setting: 'auth.initial_token',
              value,
              note: 'clients may keep sending it as x-osm-api-key; only used on the first start of a farm',
            },
          ]
        : 'disabled in Osmedeus',
  ],
  ['server.enabled_auth_api', none('tokens are always accepted')],
  ['server.enable_metrics', none('/metrics is always available')],
  [
    'server.enable_trigger_via_webhook',
    none('create webhooks with `POST /incoming-webhooks`; each has a secret'),
  ],
  [
    'server.cors_allowed_origins',
    (value) =>
      value === '*' || value === 'reflect-origin'
        ? 'list the origins in http.cors_origins: a wildcard would allow any origin to use a login'
        : [{ setting: 'http.cors_origins', value: String(value).split(/\s*,\s*/) }],
  ],
  ['scan_tactic.*', none('supported by `scanfarm exec -B`; send threads_hold to the API')],
  ['redis.host', redisUrl],
  [
    'redis.*',
    (_value, all) => (isEmpty(all.get('redis.host')) ? 'no host is configured' : 'part of redis.url'),
  ],
  ['global_vars', globalVariables],
  ['notification.telegram.bot_token', whenOn(TELEGRAM, telegramUrl)],
  ...['chat_id', 'telegram_channel_map'].map((name): readonly [string, Carry] => [
    `notification.telegram.${name}`,
    whenOn(TELEGRAM, none('part of notify.telegram')),
  ]),
  [
    'notification.webhooks',
    whenOn(['notification.enabled'], (value) => {
      const on = (Array.isArray(value) ? value : []).filter(isMap).filter(({ enabled }) => enabled === true)
      return on.length === 0
        ? 'none of them is enabled in Osmedeus'
        : [
            {
              setting: 'notify.webhooks',
              value: on.map(({ url }) => url),
              note: 'the enabled ones, without headers and filters',
            },
          ]
    }),
  ],
  ['notification.*', none('enabled settings are imported')],
  ['storage.bucket', whenOn(STORAGE, bucketUrl)],
  [
    'storage.provider',
    whenOn(STORAGE, (value, all) =>
      value === 's3' || !isEmpty(all.get('storage.endpoint'))
        ? 'the other settings determine it'
        : `add the address of ${asText(value)} to storage.s3 as endpoint`,
    ),
  ],
  ...['endpoint', 'access_key_id', 'secret_access_key', 'region'].map((name): readonly [string, Carry] => [
    `storage.${name}`,
    whenOn(STORAGE, none('part of storage.s3')),
  ]),
  ['storage.*', none('has no counterpart')],
  ['llm_config.llm_providers', languageModel],
  ['llm_config.*', none('set it in llm_config of steps')],
  ['cloud.*', none('see docs/cloud.md: credentials and limits are settings below cloud.')],
]

const ruleFor = (key: string): readonly [string, Carry] =>
  RULES.find(([pattern]) =>
    pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
  ) ?? [key, none('has no counterpart')]

const nested = (carried: readonly Carried[]): Record<string, unknown> => {
  const root: Record<string, unknown> = {}
  for (const { setting, value } of carried) {
    const keys = setting.split('.')
    let at = root
    for (const key of keys.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>
    const last = keys.at(-1) ?? ''
    const both = [at[last], value]
    at[last] = both.every((one) => Array.isArray(one)) ? both.flat() : value
  }
  return root
}

const valueIn = (folder: string, key: string, value: unknown): unknown => {
  if (key === 'base_folder') return folder
  if (typeof value !== 'string') return value
  return value.replaceAll(/\{\{\s*base_folder\s*\}\}/g, folder)
}

/** Reports what happens to each setting that has a value, and creates the settings file with the imported ones. */
export const importSettings = ({
  settings,
  folder,
}: BaseLayout): { settings: SettingReport[]; yaml: string } => {
  const carried: Carried[] = []
  const report = [...settings].flatMap(([key, value]): SettingReport[] => {
    if (isEmpty(value)) return []
    const [pattern, carry] = ruleFor(key)
    const became = carry(valueIn(folder, key, value), settings)
    if (typeof became === 'string') return [{ key: pattern, setting: '', note: became }]
    const filled = became.filter((item) => !isEmpty(item.value))
    carried.push(...filled)
    return filled.map(({ setting, note = '' }) => ({ key, setting, note }))
  })
  // One line for all settings of the same rule.
  const lines = new Map(report.map((line) => [`${line.key} ${line.setting}`, line]))
  return { settings: [...lines.values()], yaml: carried.length === 0 ? '' : stringify(nested(carried)) }
}
