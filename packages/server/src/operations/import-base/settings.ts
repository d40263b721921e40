import { commandVariableProblem } from '@scanfarm/platform'
import { stringify } from 'yaml'
import { expanded, type BaseLayout } from './layout.ts'
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

/** Only where the operator has switched it on there. */
const whenOn =
  (switches: readonly string[], carry: Carry): Carry =>
  (value, all) => {
    const off = switches.find((key) => all.get(key) !== true)
    return off === undefined ? carry(value, all) : `it is switched off there (${off})`
  }

/** Text that begins with `@` would be the name of a file. */
const literal = (text: string): string => text.replace(/^@/, '@@')

const globalVariables: Carry = (value) => {
  const entries = Object.entries(isMap(value) ? value : {}).map(([name, item]): [string, string, boolean] =>
    isMap(item) ? [name, asText(item['value']), item['as_env'] !== false] : [name, asText(item), true],
  )
  const filled = entries.filter(([, text]) => text !== '')
  if (filled.length === 0) return 'none of them has a value'
  const problems = new Map(filled.map(([name]) => [name, commandVariableProblem(name)]))
  const refused = [...problems].flatMap(([name, why]) => (why === undefined ? [] : [`${name}: ${why}`]))
  const fit = filled.filter(([name]) => problems.get(name) === undefined)
  if (fit.length === 0) return `not possible here: ${refused.join('; ')}`
  const without = refused.length === 0 ? '' : `; without ${refused.join('; ')}`
  const of = (asEnv: boolean): Record<string, string> =>
    Object.fromEntries(
      fit.filter(([, , isEnv]) => isEnv === asEnv).map(([name, text]) => [name, literal(text)]),
    )
  return [
    {
      setting: 'runner.env',
      value: of(true),
      note: `commands see them; put secrets into files of their own where others read this one${without}`,
    },
    { setting: 'workflows.variables', value: of(false), note: `texts of workflows have them${without}` },
  ].filter(({ value: found }) => Object.keys(found).length > 0)
}

const languageModel: Carry = (value) => {
  const [first, ...others] = (Array.isArray(value) ? value : []).filter(isMap)
  if (first === undefined) return 'there is none'
  const url = asText(first['base_url']).replace(/\/(chat\/completions|embeddings)\/?$/, '')
  const note = others.length === 0 ? undefined : 'the first provider; the others have no place here'
  return [
    { setting: 'llm.base_url', value: url, note },
    { setting: 'llm.api_key', value: first['auth_token'] },
    { setting: 'llm.model', value: first['model'] },
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

const TELEGRAM = ['notification.enabled', 'notification.telegram.enabled']
const STORAGE = ['storage.enabled']
const isEmpty = (value: unknown): boolean => value === '' || value === null || value === undefined

const ENVIRONMENTS = 'copy what is in it to the folder that `scanfarm config` shows, or name this one there'
const DATABASE = 'its records are imported; Scanfarm keeps its own in the Postgres of database.url'

/** What each setting of the established system becomes. A key ends with `*` for all that begin so. */
const RULES: readonly (readonly [string, Carry])[] = [
  ['base_folder', none('every part has a setting of its own')],
  ['environments.workflows', none('its files are copied')],
  ['environments.workspaces', none('their files are imported as artifacts')],
  ['environments.external_binaries_path', as('folders.binaries')],
  ['environments.external_data', as('folders.data')],
  ['environments.external_configs', as('folders.configs')],
  ['environments.external_scripts', as('folders.scripts')],
  ['environments.external_agent_configs', as('folders.agent_configs')],
  ['environments.markdown_report_templates', as('folders.templates')],
  ['environments.snapshot', as('folders.snapshots')],
  ['environments.*', none(ENVIRONMENTS)],
  ['database.*', none(DATABASE)],
  [
    'server.host',
    (value) => [
      {
        setting: 'http.host',
        value,
        ...(value === '0.0.0.0' ? { note: 'all addresses; the default here is 127.0.0.1' } : {}),
      },
    ],
  ],
  ['server.port', as('http.port')],
  ['server.simple_user_map_key', none('make users with `POST /users`: passwords are kept as hashes only')],
  [
    'server.jwt.expiration_minutes',
    (value) => [{ setting: 'auth.session_hours', value: Math.ceil(Number(value) / MINUTES_PER_HOUR) || 1 }],
  ],
  ['server.jwt.secret_signing_key', none('every farm makes its own key')],
  [
    'server.auth_api_key',
    (value, all) =>
      all.get('server.enabled_auth_api') === true
        ? [
            {
              setting: 'auth.initial_token',
              value,
              note: 'clients may go on to send it as x-osm-api-key; counts on the first start of a farm only',
            },
          ]
        : 'it is switched off there',
  ],
  ['server.enabled_auth_api', none('tokens always work')],
  ['server.enable_metrics', none('/metrics is always served')],
  ['server.enable_trigger_via_webhook', none('make webhooks with `POST /webhooks`; each has a secret')],
  [
    'server.cors_allowed_origins',
    (value) =>
      value === '*' || value === 'reflect-origin'
        ? 'name the origins in http.cors_origins: any origin would be allowed to use a login'
        : [{ setting: 'http.cors_origins', value: String(value).split(/\s*,\s*/) }],
  ],
  ['scan_tactic.*', none('`scanfarm exec -B` has these; over the API send threads_hold')],
  ['redis.host', redisUrl],
  ['redis.*', (_value, all) => (isEmpty(all.get('redis.host')) ? 'there is no host' : 'part of redis.url')],
  ['global_vars', globalVariables],
  ['notification.telegram.bot_token', whenOn(TELEGRAM, as('notify.telegram_token'))],
  [
    'notification.telegram.chat_id',
    whenOn(TELEGRAM, (value) => [
      { setting: 'notify.telegram_chat', value: value === 0 ? '' : asText(value) },
    ]),
  ],
  [
    'notification.telegram.telegram_channel_map',
    whenOn(TELEGRAM, (value) => [
      {
        setting: 'notify.telegram_channels',
        value: Object.entries(isMap(value) ? value : {}).map(([name, id]) => `${name}=${asText(id)}`),
      },
    ]),
  ],
  [
    'notification.webhooks',
    whenOn(['notification.enabled'], (value) => {
      const on = (Array.isArray(value) ? value : []).filter(isMap).filter(({ enabled }) => enabled === true)
      return on.length === 0
        ? 'none of them is switched on there'
        : [
            {
              setting: 'notify.webhooks',
              value: on.map(({ url }) => url),
              note: 'those that are switched on, without their headers and filters',
            },
          ]
    }),
  ],
  ['notification.*', none('what is switched on there carries over')],
  [
    'storage.endpoint',
    whenOn(STORAGE, (value, all) => {
      const scheme = all.get('storage.use_ssl') === false ? 'http' : 'https'
      const url = asText(value)
      return [{ setting: 'storage.s3.endpoint', value: url.includes('://') ? url : `${scheme}://${url}` }]
    }),
  ],
  ['storage.access_key_id', whenOn(STORAGE, as('storage.s3.access_key'))],
  ['storage.secret_access_key', whenOn(STORAGE, as('storage.s3.secret_key'))],
  ['storage.bucket', whenOn(STORAGE, as('storage.s3.bucket'))],
  ['storage.region', whenOn(STORAGE, as('storage.s3.region'))],
  ['storage.path_style', whenOn(STORAGE, as('storage.s3.force_path_style'))],
  [
    'storage.provider',
    whenOn(STORAGE, (value, all) =>
      value === 's3' || !isEmpty(all.get('storage.endpoint'))
        ? 'the other settings say it'
        : `name the address of ${asText(value)} in storage.s3.endpoint`,
    ),
  ],
  ['storage.*', none('has no counterpart')],
  ['llm_config.llm_providers', languageModel],
  ['llm_config.*', none('steps say it in llm_config')],
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
    at[keys.at(-1) ?? ''] = value
  }
  return root
}

const valueIn = (folder: string, key: string, value: unknown): unknown => {
  if (typeof value !== 'string') return value
  return key.startsWith('environments.')
    ? expanded(value, folder)
    : value.replaceAll(/\{\{\s*base_folder\s*\}\}/g, folder)
}

/** What becomes of each setting that has a value, and the settings file that carries on what can be carried on. */
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
  // One line for all that share a rule.
  const lines = new Map(report.map((line) => [`${line.key} ${line.setting}`, line]))
  return { settings: [...lines.values()], yaml: carried.length === 0 ? '' : stringify(nested(carried)) }
}
