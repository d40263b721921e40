import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ConfigError, readConfig } from '@scanfarm/platform'
import { testServer, type TestServer } from '../_server.ts'
import { SETTINGS, type Config } from '../../src/settings.ts'

const SECRETS = {
  'auth.initial_token': 'sft_not_to_be_shown',
  'notify.telegram': 'telegram://tg_not_to_be_shown@1',
  'notify.webhooks': ['https://hooks.example/not_to_be_shown'],
}

let server: TestServer
let now: () => Config
beforeAll(async () => {
  server = await testServer({ settings: SECRETS, reread: () => now() })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const written = (changes: Record<string, unknown> = {}): Config =>
  readConfig(SETTINGS, {
    env: {},
    argvOverrides: {
      data_dir: `${server.folder}/data`,
      'workflows.folders': [`${server.folder}/workflows`],
      'http.port': 0,
      ...SECRETS,
      ...changes,
    },
  })

test('GET /settings shows each setting with its origin and documentation, and masks secrets', async () => {
  const { body, text } = await server.admin.get('/api/settings').expect(200)
  const settings = body.data as Record<string, unknown>[]
  const of = (name: string): Record<string, unknown> => settings.find(({ key }) => key === name) ?? {}
  expect(of('http.port')).toMatchObject({ value: 0, origin: 'command line', env: 'SCANFARM_HTTP_PORT' })
  expect(of('log.level')).toMatchObject({ value: 'info', origin: 'default', fallback: 'info' })
  expect(of('log.level').kind).not.toContain('\\')
  expect(of('auth.initial_token').value).toBe('***')
  expect(text).not.toContain('not_to_be_shown')
})

describe('GET /settings/yaml', () => {
  test.each(['/api/settings/yaml', '/osm/api/settings/yaml/'])(
    'the settings are available at %s with masked secrets',
    async (path) => {
      const { text } = await server.admin
        .get(path)
        .expect(200)
        .expect('Content-Type', /^text\/yaml/)
      expect(text).toMatch(/^cloud:\n {2}enabled: false$/m)
      expect(text).toMatch(/^auth:\n {2}initial_token: "\*\*\*"\n {2}session_hours: 24$/m)
      expect(text).toMatch(/^ {2}webhooks:\n {4}- https:\/\/hooks\.example\/\*\*\*$/m)
      expect(text).not.toContain('not_to_be_shown')
      expect(text).not.toContain('null')
    },
  )
})

describe('GET /settings/status and POST /settings/reload', () => {
  test('the status shows no change if the settings are the same', async () => {
    now = () => written()
    const { body } = await server.admin.get('/osm/api/settings/status').expect(200)
    expect(body).toMatchObject({
      hot_reload_enabled: false,
      config_path: '/etc/scanfarm/scanfarm.yaml',
      restart_required: [],
      problems: [],
      telegram_configured: true,
      llm_configured: false,
    })
    const reloaded = await server.admin.post('/osm/api/settings/reload').expect(200)
    const version = body.config_version + 1
    expect(reloaded.body).toMatchObject({ reloaded: ['workflows'], restart_required: [], version })
  })

  test('the status names settings that require a restart, without values of secrets', async () => {
    now = () => written({ 'log.level': 'debug', 'notify.telegram': 'telegram://tg_another@1' })
    const { body, text } = await server.admin.post('/api/settings/reload').expect(200)
    expect(body.restart_required).toEqual(['notify.telegram', 'log.level'])
    expect(body.message).toContain('restart the server to apply notify.telegram, log.level')
    expect(text).not.toContain('tg_')
    expect((await server.admin.get('/api/settings/status')).body.restart_required).toEqual(
      body.restart_required,
    )
  })

  test('a reload answers 400 if a restart would fail, and the status shows the reason', async () => {
    now = () => {
      throw new ConfigError(['http.port must be an integer'])
    }
    const { body } = await server.admin.post('/api/settings/reload').expect(400)
    expect(body.message).toContain('http.port must be an integer')
    expect((await server.admin.get('/api/settings/status').expect(200)).body.problems).toEqual([
      'http.port must be an integer',
    ])
  })
})
