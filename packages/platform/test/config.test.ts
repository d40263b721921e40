import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ConfigError, loadConfig, readConfig, showConfig, settingsMarkdown } from '../src/index.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-config-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const file = (text: string): string => {
  const path = join(folder, 'scanfarm.yaml')
  writeFileSync(path, text)
  return path
}

const problemsOf = (sources: Parameters<typeof readConfig>[0]): readonly string[] => {
  try {
    readConfig(sources)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

test('The files that settings were read from are known, and which of them hold secrets', () => {
  const secretFile = (name: string): string => {
    writeFileSync(join(folder, name), 'postgres://secret')
    return join(folder, name)
  }
  const env = { DATABASE_URL_FILE: secretFile('database'), SCANFARM_RUNNER_SSH_KEY_FILE: '/etc/key' }
  const open = file('redis:\n  url_file: redis-url\n')
  secretFile('redis-url')
  expect(readConfig({ env, configPath: open }).files).toEqual([
    { path: open, holdsSecrets: false },
    { path: join(folder, 'database'), holdsSecrets: true },
    { path: join(folder, 'redis-url'), holdsSecrets: true },
    { path: '/etc/key', holdsSecrets: true },
  ])
  for (const text of ['redis.url: redis://:p@x', 'notify.webhooks: [https://x.test/secret]'])
    expect(readConfig({ env: {}, configPath: file(text) }).files).toEqual([
      { path: open, holdsSecrets: true },
    ])
  expect(readConfig({ env: {} }).files).toEqual([])
})

describe('precedence', () => {
  test('without any source every setting has its default', () => {
    const config = readConfig({ env: {} })
    expect(config.http).toMatchObject({ host: '127.0.0.1', port: 8002 })
    expect(config.worker.leaseMs).toBe(20_000)
    expect(config.database.url).toBeUndefined()
  })

  test('the environment wins over the file, and the command line over both', () => {
    const configPath = file('http:\n  port: 1000\n  host: 10.0.0.1\nlog.level: warn\n')
    const env = { SCANFARM_HTTP_PORT: '2000', SCANFARM_LOG_LEVEL: 'error' }
    const { config, origins } = loadConfig({ env, configPath, argvOverrides: { 'http.port': 3000 } })
    expect(config.http).toMatchObject({ port: 3000, host: '10.0.0.1' })
    expect(config.log.level).toBe('error')
    expect(origins.get('http.port')).toBe('command line')
    expect(origins.get('http.host')).toBe(`${configPath}:3`)
    expect(origins.get('log.level')).toBe('SCANFARM_LOG_LEVEL')
    expect(origins.get('http.json_bytes')).toBe('default')
  })

  test('an empty variable counts as not set', () => {
    expect(readConfig({ env: { SCANFARM_HTTP_PORT: '' } }).http.port).toBe(8002)
  })

  test('defaults follow the settings that they depend on', () => {
    const config = readConfig({ env: { SCANFARM_DATA_DIR: '/data', SCANFARM_SCHEDULER_ENABLED: 'off' } })
    expect(config.artifacts.folder).toBe('/data/artifacts')
    expect(config.eventReceiver.enabled).toBe(false)
  })

  test('relative paths of the file start at its folder', () => {
    const configPath = file('artifacts.folder: kept\n')
    expect(readConfig({ env: {}, configPath }).artifacts.folder).toBe(join(folder, 'kept'))
  })

  test('lists are YAML lists in the file and separated by commas in the environment', () => {
    const configPath = file('runner:\n  ssh_hosts: [a, b]\n')
    const config = readConfig({ env: { SCANFARM_WORKER_LABELS: 'region=eu, tier=1' }, configPath })
    expect(config.runner.sshHosts).toEqual(['a', 'b'])
    expect(config.worker.labels).toEqual(['region=eu', 'tier=1'])
  })

  test('the config is frozen to its depth', () => {
    const config = readConfig({ env: {} })
    expect(Object.isFrozen(config.artifacts.s3)).toBe(true)
    expect(Object.isFrozen(config.worker.labels)).toBe(true)
  })
})

describe('problems', () => {
  test('all of them are reported at once with key, variable, value and what is right', () => {
    const configPath = file('http:\n  port: x\nworkr:\n  slots: 1\nqueue.kind: rabbit\n')
    const env = { SCANFARM_WORKER_LEASE_MS: '5', SCANFARM_WORKER_LABELS: 'bad' }
    expect(problemsOf({ env, configPath })).toEqual([
      `${configPath}:4: unknown key workr.slots: did you mean worker.slots?`,
      `http.port (SCANFARM_HTTP_PORT) must be an integer from 0 to 65535, not "x" (from ${configPath}:2)`,
      `queue.kind (SCANFARM_QUEUE) must be one of auto, redis, postgres, not "rabbit" (from ${configPath}:5)`,
      'worker.labels (SCANFARM_WORKER_LABELS) must hold labels of the form name=value, not "bad" (from SCANFARM_WORKER_LABELS)',
      'worker.lease_ms (SCANFARM_WORKER_LEASE_MS) must be an integer from 3000 to 3600000, not "5" (from SCANFARM_WORKER_LEASE_MS)',
    ])
  })

  test('bad YAML is named with line and column', () => {
    const configPath = file('http:\n  port: [1\n')
    expect(problemsOf({ env: {}, configPath })[0]).toMatch(`${configPath}:3:1: `)
  })

  test('a key given twice is a problem, whichever form it has', () => {
    const configPath = file('http:\n  port: 1\nhttp.port: 2\n')
    expect(problemsOf({ env: {}, configPath })).toEqual([
      `${configPath}:3: http.port is given twice: keep one`,
    ])
  })

  test('a settings file that is not there is a problem', () => {
    expect(problemsOf({ env: {}, configPath: '/nowhere/x.yaml' })[0]).toMatch('cannot be read')
  })

  test('settings that contradict each other are problems', () => {
    const env = {
      SCANFARM_ARTIFACTS_KIND: 's3',
      SCANFARM_ARTIFACTS_S3_ACCESS_KEY: 'k',
      SCANFARM_QUEUE: 'postgres',
      REDIS_URL: 'redis://x',
    }
    expect(problemsOf({ env })).toHaveLength(3)
  })

  test('keys of the object storage and words about the language model come together or not at all', () => {
    const secretKey = join(folder, 'key')
    writeFileSync(secretKey, 'k\n')
    const env = { SCANFARM_STORAGE_S3_SECRET_KEY_FILE: secretKey, SCANFARM_LLM_API_KEY: 'k' }
    expect(problemsOf({ env })).toEqual([
      'storage.s3.access_key and storage.s3.secret_key belong together: give both or none',
      'llm.api_key is of no use without llm.base_url: say where it belongs',
    ])
    expect(problemsOf({ env: { SCANFARM_LLM_MODEL: 'm' } })).toEqual([
      'llm.base_url and llm.model belong together: give both or none',
    ])
    const all = { ...env, SCANFARM_STORAGE_S3_ACCESS_KEY: 'a', SCANFARM_LLM_BASE_URL: 'http://m/v1' }
    const { storage } = readConfig({ env: { ...all, SCANFARM_LLM_MODEL: 'm' } })
    expect(storage.s3.secretKey?.reveal()).toBe('k')
  })
})

describe('settings of clouds', () => {
  test('keys of a provider come together or not at all, and limits fit each other', () => {
    const env = {
      SCANFARM_CLOUD_AWS_ACCESS_KEY: 'a',
      SCANFARM_CLOUD_AZURE_TENANT: 't',
      SCANFARM_CLOUD_HOURS: '30',
      SCANFARM_CLOUD_PROVIDER: 'local',
    }
    expect(problemsOf({ env })).toEqual([
      'cloud.aws.access_key and cloud.aws.secret_key belong together: give both or none',
      'cloud.azure.client and cloud.azure.secret missing: cloud.azure.tenant, cloud.azure.client, cloud.azure.secret belong together',
      'cloud.hours is more than cloud.limits.max_hours allows',
      'cloud.provider is local, which is for development: set cloud.local.enabled to true as well',
    ])
  })

  test('prices name provider, type and dollars; amounts may have decimals', () => {
    const configPath = file(
      'cloud:\n  prices: ["aws:t3.medium=0.0416", "hetzner:cx22=1"]\n  limits.max_cost: 2.5\n',
    )
    const { cloud } = readConfig({ env: {}, configPath })
    expect(cloud.prices).toEqual(['aws:t3.medium=0.0416', 'hetzner:cx22=1'])
    expect(cloud.limits).toMatchObject({ maxCost: 2.5, maxTotalCost: 0, maxInstances: 10 })
    expect(cloud.provider).toBeUndefined()
    const env = {
      SCANFARM_CLOUD_PRICES: 'aws=1',
      SCANFARM_CLOUD_LIMITS_MAX_COST: 'much',
      SCANFARM_CLOUD_PROVIDER: 'ibm',
    }
    expect(problemsOf({ env })).toEqual([
      'cloud.provider (SCANFARM_CLOUD_PROVIDER) must be one of aws, gcp, azure, digitalocean, linode, hetzner, local, not "ibm" (from SCANFARM_CLOUD_PROVIDER)',
      'cloud.limits.max_cost (SCANFARM_CLOUD_LIMITS_MAX_COST) must be a number from 0, not "much" (from SCANFARM_CLOUD_LIMITS_MAX_COST)',
      'cloud.prices (SCANFARM_CLOUD_PRICES) must hold prices of the form provider:type=0.05, not "aws=1" (from SCANFARM_CLOUD_PRICES)',
    ])
  })

  test('tokens come from files too and are never shown', () => {
    const path = join(folder, 'token')
    writeFileSync(path, 'dop_v1_secret\n')
    const loaded = loadConfig({ env: { SCANFARM_CLOUD_DIGITALOCEAN_TOKEN_FILE: path } })
    expect(loaded.config.cloud.digitalocean.token?.reveal()).toBe('dop_v1_secret')
    expect(JSON.stringify(showConfig(loaded))).not.toContain('dop_v1')
  })
})

describe('secrets', () => {
  test('a secret shows as *** wherever it is printed, and its value comes only by asking', () => {
    const config = readConfig({ env: { DATABASE_URL: 'postgres://u:hunter2@h/d' } })
    const { url } = config.database
    expect(url?.reveal()).toBe('postgres://u:hunter2@h/d')
    for (const shown of [String(url), JSON.stringify(config), inspect(config, { depth: 9 }), `${url}`])
      expect(shown).not.toMatch('hunter2')
  })

  test('the *_FILE form reads the secret from a file without its last newline', () => {
    const path = join(folder, 'secret')
    writeFileSync(path, 's3cret\n')
    expect(readConfig({ env: { SCANFARM_TOKEN_FILE: path } }).client.token?.reveal()).toBe('s3cret')
    expect(readConfig({ env: {}, configPath: file('redis.url_file: secret\n') }).redis.url?.reveal()).toBe(
      's3cret',
    )
  })

  test('both forms at once, and a file that cannot be read, are problems that do not show the value', () => {
    const env = { REDIS_URL: 'redis://:pw@h', REDIS_URL_FILE: '/x', SCANFARM_TOKEN_FILE: '/nowhere' }
    expect(problemsOf({ env })).toEqual([
      'redis.url (REDIS_URL) is given by REDIS_URL and by REDIS_URL_FILE: keep one of them',
      expect.stringMatching(/^client\.token \(SCANFARM_TOKEN\) names a file that cannot be read/),
    ])
  })

  test('what is in force is shown with secrets masked', () => {
    const shown = showConfig(loadConfig({ env: { REDIS_URL: 'redis://:pw@h' } }))
    expect(shown).toContainEqual({ key: 'redis.url', value: '***', origin: 'REDIS_URL' })
  })
})

test('the table of settings names every key with its variables', () => {
  const table = settingsMarkdown()
  expect(table).toMatch('| `queue.kind` | `SCANFARM_QUEUE` `SCANFARM_QUEUE_KIND` |')
  expect(table).toMatch('`DATABASE_URL` (`DATABASE_URL_FILE`)')
})

test('URLs among the settings are shown without what is secret in them', () => {
  const loaded = loadConfig({
    env: {},
    argvOverrides: {
      'notify.webhooks': [
        'https://hooks.example/services/T0/B0/hook-secret?token=query-secret',
        'https://bare.example',
      ],
      'llm.model': 'm',
      'llm.base_url': 'https://user-secret:pass-secret@llm.example/v1',
      'artifacts.s3.endpoint': 'https://token-secret@s3.example:9000/path?key=query-secret#fragment-secret',
      'runner.docker_host': 'tcp://docker.example:2376',
    },
  })
  const shown = showConfig(loaded)
  expect(JSON.stringify(shown)).not.toMatch(/(?:hook|query|user|pass|token|fragment)-secret/)
  const values = Object.fromEntries(shown.map(({ key, value }) => [key, value]))
  expect(values).toMatchObject({
    'notify.webhooks': ['https://hooks.example/***?***', 'https://bare.example'],
    'llm.base_url': 'https://***@llm.example/v1',
    'artifacts.s3.endpoint': 'https://***@s3.example:9000/path?***#***',
    'runner.docker_host': 'tcp://docker.example:2376',
  })
  expect(loaded.config.notify.webhooks[0]).toContain('hook-secret')
})
