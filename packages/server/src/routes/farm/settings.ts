import { AppError, named, wrapped } from '@scanfarm/contracts'
import { changedSettings, ConfigError, describeSettings, settingsYaml } from '@scanfarm/platform'
import { Type } from 'typebox'
import type { ServerContext } from '../../context.ts'
import { text } from '../../http/answer.ts'
import { route } from '../../http/route.ts'
import { VERSION } from '../../version.ts'
import { SETTINGS } from '../../settings.ts'

type Written = Pick<ServerContext, 'config' | 'settings'>

const tableOf = ({ settings }: Written) => settings?.table ?? SETTINGS

const Setting = named('Setting', {
  key: Type.String(),
  value: Type.Unknown({ description: 'A masked value is `***`; null: not set' }),
  origin: Type.String({
    description: '`default`, an environment variable, a line of the settings file, or `command line`',
  }),
  description: Type.String(),
  env: Type.String({ description: 'The environment variable that sets it' }),
  kind: Type.String({ description: 'Type and bounds' }),
  fallback: Type.String({ description: 'The default as documented' }),
})

export const listSettings = route(
  {
    endpoint: 'GET /settings',
    summary: 'List the effective settings of this server and their origins, with masked secrets',
    role: 'admin',
    responses: { 200: wrapped(Type.Array(Setting)) },
  },
  async (context) => ({
    data: describeSettings(tableOf(context), {
      config: context.config,
      origins: context.settings?.origins ?? new Map(),
    }),
  }),
)

export const settingsAsYaml = route(
  {
    endpoint: 'GET /settings/yaml',
    aliases: ['/settings/yaml/'],
    summary: 'Read the effective settings of this server as YAML, with masked secrets',
    description:
      'All settings with a value, including defaults and environment variables. A masked value is `***`.',
    role: 'admin',
    responses: { 200: { media: ['text/yaml'], description: 'The settings' } },
  },
  async (context) => text(200, 'text/yaml; charset=utf-8', settingsYaml(tableOf(context), context.config)),
)

/** What a running server reloads. */
const RELOADED = ['workflows']

const Status = Type.Object({
  hot_reload_enabled: Type.Literal(false, { description: 'Settings are read only when a server starts' }),
  watcher_running: Type.Literal(false),
  config_version: Type.Integer({ description: 'Rises with each reload' }),
  callback_count: Type.Integer({ description: 'Parts that a reload reads again' }),
  config_path: Type.String({ description: 'The settings file, or ""' }),
  restart_required: Type.Array(Type.String(), {
    description: 'Settings whose value has changed; a restart applies them',
  }),
  problems: Type.Array(Type.String(), { description: 'Why a restart would reject the settings' }),
  version: Type.String(),
  server_version: Type.String(),
  base_folder: Type.String({ description: '`data_dir`' }),
  server_port: Type.Integer(),
  database_engine: Type.Literal('postgresql'),
  redis_configured: Type.Boolean(),
  storage_configured: Type.Boolean(),
  llm_configured: Type.Boolean(),
  telegram_configured: Type.Boolean(),
})

export const settingsStatus = route(
  {
    endpoint: 'GET /settings/status',
    summary: 'Read which settings file is used and what a restart would change',
    role: 'admin',
    responses: { 200: Status },
  },
  async (context) => {
    const { config, settings } = context
    return {
      hot_reload_enabled: false as const,
      watcher_running: false as const,
      config_version: context.catalog.version,
      callback_count: RELOADED.length,
      config_path: settings?.file ?? '',
      ...sinceStart(context),
      version: VERSION,
      server_version: VERSION,
      base_folder: config.dataDir,
      server_port: config.http.port,
      database_engine: 'postgresql' as const,
      redis_configured: config.redis.url !== undefined,
      storage_configured: config.storage.s3 !== undefined,
      llm_configured: config.llm.url !== undefined,
      telegram_configured: config.notify.telegram !== undefined,
    }
  },
)

/** Compares the settings as they are stored now with the effective ones. */
const sinceStart = (context: Written): { restart_required: string[]; problems: string[] } => {
  const { config, settings } = context
  try {
    const now = settings?.read() ?? config
    return { restart_required: changedSettings(tableOf(context), config, now), problems: [] }
  } catch (error) {
    if (error instanceof ConfigError) return { restart_required: [], problems: [...error.problems] }
    throw error
  }
}

export const reloadSettings = route(
  {
    endpoint: 'POST /settings/reload',
    summary: 'Reload the workflows and report settings that require a restart',
    description:
      'The settings file is read and checked, but a server keeps the settings of its start: changed ones are listed in `restart_required`. Workflow files are reloaded immediately.',
    role: 'admin',
    responses: {
      200: Type.Object({
        message: Type.String(),
        version: Type.Integer({ description: '`config_version` from now on' }),
        reload_time: Type.String(),
        reloaded: Type.Array(Type.String()),
        restart_required: Type.Array(Type.String()),
      }),
    },
    errors: ['invalid_input'],
  },
  async (context) => {
    const from = performance.now()
    const { restart_required, problems } = sinceStart(context)
    if (problems.length > 0)
      throw new AppError(
        'invalid_input',
        `the settings are invalid, and a restart would fail: ${problems.join('; ')}`,
      )
    await context.catalog.reload()
    return {
      message:
        restart_required.length === 0
          ? 'Workflows reloaded; no setting has changed'
          : `Workflows reloaded; restart the server to apply ${restart_required.join(', ')}`,
      version: context.catalog.version,
      reload_time: `${(performance.now() - from).toFixed(1)}ms`,
      reloaded: RELOADED,
      restart_required,
    }
  },
)
