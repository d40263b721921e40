import { AppError } from '@scanfarm/contracts'
import { changedSettings, ConfigError, settingsInForce, settingsYaml } from '@scanfarm/platform'
import { Type } from 'typebox'
import type { ServerContext } from '../context.ts'
import { text } from '../http/answer.ts'
import { route } from '../http/route.ts'
import { VERSION } from '../version.ts'

export const listSettings = route(
  {
    method: 'get',
    path: '/settings',
    tag: 'Farm',
    summary: 'List the settings in force on this server, secrets masked',
    role: 'admin',
    responses: {
      200: Type.Object({ data: Type.Array(Type.Object({ key: Type.String(), value: Type.Unknown() })) }),
    },
  },
  async ({ config }) => ({ data: settingsInForce(config) }),
)

export const settingsAsYaml = route(
  {
    method: 'get',
    path: '/settings/yaml',
    aliases: ['/settings/yaml/'],
    tag: 'Farm',
    summary: 'The settings in force on this server as YAML, secrets masked',
    description:
      'All settings that have a value, defaults and environment variables included. A masked value is `***`.',
    role: 'admin',
    responses: { 200: { media: ['text/yaml'], description: 'The settings' } },
  },
  async ({ config }) => text(200, 'text/yaml; charset=utf-8', settingsYaml(config)),
)

const Status = Type.Object({
  hot_reload_enabled: Type.Literal(false, { description: 'A server keeps the settings of its start' }),
  watcher_running: Type.Literal(false),
  config_path: Type.String({ description: 'The settings file, or ""' }),
  restart_required: Type.Array(Type.String(), {
    description: 'Settings that have another value now; they are in force after a restart',
  }),
  problems: Type.Array(Type.String(), { description: 'Why a restart would refuse the settings' }),
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
    method: 'get',
    path: '/settings/status',
    tag: 'Farm',
    summary: 'Which settings file is used, and what a restart would change',
    role: 'admin',
    responses: { 200: Status },
  },
  async (context) => {
    const { config, settings } = context
    return {
      hot_reload_enabled: false as const,
      watcher_running: false as const,
      config_path: settings?.file ?? '',
      ...sinceStart(context),
      version: VERSION,
      server_version: VERSION,
      base_folder: config.dataDir,
      server_port: config.http.port,
      database_engine: 'postgresql' as const,
      redis_configured: config.redis.url !== undefined,
      storage_configured: config.storage.s3.bucket !== undefined,
      llm_configured: config.llm.baseUrl !== undefined,
      telegram_configured: config.notify.telegramToken !== undefined,
    }
  },
)

/** The settings as they are written now, compared with those in force. */
const sinceStart = ({
  config,
  settings,
}: Pick<ServerContext, 'config' | 'settings'>): { restart_required: string[]; problems: string[] } => {
  try {
    const now = settings?.read() ?? config
    return { restart_required: changedSettings(config, now), problems: [] }
  } catch (error) {
    if (error instanceof ConfigError) return { restart_required: [], problems: [...error.problems] }
    throw error
  }
}

/** What a running server reads again. */
const RELOADED = ['workflows']

export const reloadSettings = route(
  {
    method: 'post',
    path: '/settings/reload',
    tag: 'Farm',
    summary: 'Read the workflows again, and report settings that need a restart',
    description:
      'The settings file is read and checked, but a server keeps the settings of its start: what has changed is listed in `restart_required`. Workflow files are read again at once.',
    role: 'admin',
    responses: {
      200: Type.Object({
        message: Type.String(),
        version: Type.String(),
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
        `the settings cannot be used, and a restart would fail: ${problems.join('; ')}`,
      )
    await context.catalog.reload()
    return {
      message:
        restart_required.length === 0
          ? 'Workflows were read again; no setting has changed'
          : `Workflows were read again; restart the server for ${restart_required.join(', ')}`,
      version: VERSION,
      reload_time: `${(performance.now() - from).toFixed(1)}ms`,
      reloaded: RELOADED,
      restart_required,
    }
  },
)
