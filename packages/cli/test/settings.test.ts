import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { ConfigSources } from '@scanfarm/platform'
import { ConfigError, loadConfig, readConfig, showConfig, settingsMarkdown } from '@scanfarm/platform'
import { SETTINGS } from '../src/settings.ts'

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

const problemsOf = (sources: ConfigSources): readonly string[] => {
  try {
    readConfig(SETTINGS, sources)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

test('The config lists the files that settings were read from, and which of them contain secrets', () => {
  const secretFile = (name: string): string => {
    writeFileSync(join(folder, name), 'postgres://secret')
    return join(folder, name)
  }
  const env = { DATABASE_URL_FILE: secretFile('database'), SCANFARM_RUNNER_SSH_KEY_FILE: '/etc/key' }
  const open = file('redis:\n  url_file: redis-url\n')
  secretFile('redis-url')
  expect(readConfig(SETTINGS, { env, configPath: open }).files).toEqual([
    { path: open, containsSecrets: false },
    { path: join(folder, 'database'), containsSecrets: true },
    { path: join(folder, 'redis-url'), containsSecrets: true },
    { path: '/etc/key', containsSecrets: true },
  ])
  for (const text of ['redis.url: redis://:p@x', 'notify.webhooks: [https://x.test/secret]'])
    expect(readConfig(SETTINGS, { env: {}, configPath: file(text) }).files).toEqual([
      { path: open, containsSecrets: true },
    ])
  expect(readConfig(SETTINGS, { env: {} }).files).toEqual([])
})

test('A variable with the prefix of settings that no setting has is a problem, which names the nearest one', () => {
  const foreign = {
    SCANFARM_CONFIG: 'x.yaml',
    SCANFARM_TARGET: 'a.test',
    SCANFARM_BIND: '192.0.2.1',
    SCANFARM_MASTER_SERVICE_HOST: '10.0.0.1',
    SCANFARM_MASTER_SERVICE_PORT_API: '8002',
    SCANFARM_MASTER_PORT: 'tcp://10.0.0.1:8002',
    SCANFARM_MASTER_PORT_8002_TCP_ADDR: '10.0.0.1',
    SCANFARM_EMPTY: '',
  }
  expect(problemsOf({ env: { ...foreign, SCANFARM_TOKEN_FILE: file('secret') } })).toEqual([])
  expect(problemsOf({ env: { SCANFARM_HTTP_PROT: '80', SCANFARM_QUUX_ZZYZX: '1' } })).toEqual([
    'unknown variable SCANFARM_HTTP_PROT: did you mean SCANFARM_HTTP_PORT?',
    'unknown variable SCANFARM_QUUX_ZZYZX: remove it (`scanfarm config --docs` lists all)',
  ])
})

describe('precedence', () => {
  test('without any source, every setting has its default', () => {
    const config = readConfig(SETTINGS, { env: {} })
    expect(config.http).toMatchObject({ host: '127.0.0.1', port: 8002 })
    expect(config.worker.leaseMs).toBe(20_000)
    expect(config.database.url).toBeUndefined()
  })

  test('the environment overrides the file, and the command line overrides both', () => {
    const configPath = file('http:\n  port: 1000\n  host: 10.0.0.1\nlog.level: warn\n')
    const env = { SCANFARM_HTTP_PORT: '2000', SCANFARM_LOG_LEVEL: 'error' }
    const { config, origins } = loadConfig(SETTINGS, {
      env,
      configPath,
      argvOverrides: { 'http.port': 3000 },
    })
    expect(config.http).toMatchObject({ port: 3000, host: '10.0.0.1' })
    expect(config.log.level).toBe('error')
    expect(origins.get('http.port')).toBe('command line')
    expect(origins.get('http.host')).toBe(`${configPath}:3`)
    expect(origins.get('log.level')).toBe('SCANFARM_LOG_LEVEL')
    expect(origins.get('http.trust_proxy')).toBe('default')
  })

  test('an empty variable counts as not set', () => {
    expect(readConfig(SETTINGS, { env: { SCANFARM_HTTP_PORT: '' } }).http.port).toBe(8002)
  })

  test('a default follows the setting that it depends on', () => {
    const config = readConfig(SETTINGS, { env: { SCANFARM_DATA_DIR: '/data' } })
    expect(config.artifacts.folder).toBe('/data/artifacts')
  })

  test('a relative path in the settings file is resolved from the folder of that file', () => {
    const configPath = file('artifacts.folder: kept\n')
    expect(readConfig(SETTINGS, { env: {}, configPath }).artifacts.folder).toBe(join(folder, 'kept'))
  })

  test('lists are YAML lists in the file and separated by commas in the environment', () => {
    const configPath = file('runner:\n  ssh_hosts: [a, b]\n')
    const config = readConfig(SETTINGS, { env: { SCANFARM_WORKER_LABELS: 'region=eu, tier=1' }, configPath })
    expect(config.runner.sshHosts).toEqual(['a', 'b'])
    expect(config.worker.labels).toEqual(['region=eu', 'tier=1'])
  })

  test('the config is deeply frozen', () => {
    const config = readConfig(SETTINGS, { env: {} })
    expect(Object.isFrozen(config.cloud.limits)).toBe(true)
    expect(Object.isFrozen(config.worker.labels)).toBe(true)
  })
})

describe('problems', () => {
  test('all problems are reported at once, with the key, the variable, the value and what is expected', () => {
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

  test('invalid YAML is reported with line and column', () => {
    const configPath = file('http:\n  port: [1\n')
    expect(problemsOf({ env: {}, configPath })[0]).toMatch(`${configPath}:3:1: `)
  })

  test('a key that is given twice is a problem, also in different forms', () => {
    const configPath = file('http:\n  port: 1\nhttp.port: 2\n')
    expect(problemsOf({ env: {}, configPath })).toEqual([
      `${configPath}:3: http.port is given twice: keep one`,
    ])
  })

  test('a missing settings file is a problem', () => {
    expect(problemsOf({ env: {}, configPath: '/nowhere/x.yaml' })[0]).toMatch('cannot be read')
  })

  test('settings that contradict each other are problems', () => {
    const env = {
      SCANFARM_QUEUE: 'postgres',
      REDIS_URL: 'redis://x',
    }
    expect(problemsOf({ env })).toEqual([
      'queue.kind (SCANFARM_QUEUE) is postgres but redis.url (REDIS_URL) is set: remove one of them',
    ])
  })

  test('the address of a bucket is refused without its secret', () => {
    expect(problemsOf({ env: { SCANFARM_ARTIFACTS_S3: 's3://key:hush@bucket?regoin=eu' } })).toEqual([
      'artifacts.s3 (SCANFARM_ARTIFACTS_S3) must not have the parameter regoin: did you mean region? (from SCANFARM_ARTIFACTS_S3)',
    ])
  })
})

describe('what the project ships', () => {
  const root = join(import.meta.dirname, '../../..')
  const texts = (pattern: string): string[] =>
    globSync(pattern, { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'))
  const ofSettings = (text: string): boolean =>
    Object.keys(SETTINGS).some((group) => new RegExp(`^${group}[.:]`, 'm').test(text))

  test('the examples of settings files have no problem but files that are not here', () => {
    const blocks = texts('docs/*.md').flatMap((text) => [...text.matchAll(/^```yaml\n(.*?)^```/gms)])
    const examples = blocks
      .map(([, text = '']) => text)
      .filter((text) => !/^(?:kind|database|tools):/m.test(text))
    const commented = texts('infra/scanfarm.yaml').map((text) => text.replaceAll(/^# /gm, ''))
    const settings = [...examples, ...commented.map((text) => text.replace(/^.*?\n#\n/s, ''))].filter(
      ofSettings,
    )
    expect(settings.length).toBeGreaterThanOrEqual(5)
    for (const text of settings) {
      const problems = problemsOf({ env: {}, configPath: file(text) })
      expect({ text, problems: problems.filter((one) => !one.includes('cannot be read')) }).toEqual({
        text,
        problems: [],
      })
    }
  })

  test('services, containers and pods get variables that settings have', () => {
    const files = texts(
      '{docker-compose.yml,infra/{*.yml,systemd/*,helm/scanfarm/templates/*.{yaml,tpl},Dockerfile,install.sh}}',
    )
    const names = new Set(files.flatMap((text) => text.match(/SCANFARM_\w+/g) ?? []))
    expect(names.size).toBeGreaterThan(15)
    const env = Object.fromEntries([...names].map((name) => [name, 'x']))
    expect(problemsOf({ env }).filter((problem) => problem.startsWith('unknown'))).toEqual([])
  })

  test('compose waits until a master and a worker have stopped in order', () => {
    const files = texts('{docker-compose.yml,infra/docker-compose.worker.yml}').join('')
    const graces = Array.from(files.matchAll(/stop_grace_period: (\d+)s/g), ([, seconds]) => Number(seconds))
    const programs = texts('packages/cli/src/commands/operation/{server,worker}.ts').join('')
    const closings = Array.from(programs.matchAll(/CLOSE_MS = (\d+)_000/g), ([, seconds]) => Number(seconds))
    expect([graces.length, closings.length]).toEqual([3, 2])
    const { worker } = readConfig(SETTINGS, { env: {} })
    expect(Math.min(...graces)).toBeGreaterThan(worker.drainMs / 1000 + Math.max(...closings))
  })
})

describe('settings of clouds', () => {
  test('credentials of a cloud provider must be complete or absent, and limits must be consistent', () => {
    const env = {
      SCANFARM_CLOUD_CREDENTIALS: 'aws=a,azure=t:c,gcp={}',
      SCANFARM_CLOUD_PROJECTS: 'azure=s',
      SCANFARM_CLOUD_TYPES: 'aws=t3.small,aws=t3.large',
      SCANFARM_CLOUD_PROVIDER: 'local',
    }
    expect(problemsOf({ env })).toEqual([
      'cloud.types has several entries for aws: keep one',
      'cloud.credentials must have aws=KEY_ID:SECRET',
      'cloud.credentials must have azure=TENANT:CLIENT:SECRET',
      'cloud.credentials must name the key file of gcp: gcp=@PATH',
      'cloud.projects must have azure=SUBSCRIPTION/RESOURCE_GROUP',
      'cloud.networks must name the subnet of azure: azure=NETWORK/SUBNET',
      'cloud.provider is local, which is for development: add local=/var/run/docker.sock to cloud.endpoints too',
    ])
    expect(problemsOf({ env: { SCANFARM_CLOUD_CREDENTIALS: 'hetzer=t' } })).toEqual([
      'cloud.credentials (SCANFARM_CLOUD_CREDENTIALS) must not have hetzer: no provider with credentials has this name; did you mean hetzner? (from SCANFARM_CLOUD_CREDENTIALS)',
    ])
  })

  test('prices name provider, type and dollars, and amounts may have decimals', () => {
    const configPath = file(
      'cloud:\n  prices: ["aws:t3.medium=0.0416", "hetzner:cx22=1"]\n  limits.max_cost: 2.5\n',
    )
    const { cloud } = readConfig(SETTINGS, { env: {}, configPath })
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

  test('a token can be read from a file and is never shown', () => {
    const path = join(folder, 'token')
    writeFileSync(path, 'dop_v1_secret\n')
    const env = { SCANFARM_CLOUD_CREDENTIALS: `digitalocean=@${path},linode=of-linode` }
    const loaded = loadConfig(SETTINGS, { env })
    expect(loaded.config.cloud.credentials.map(({ value }) => value?.reveal())).toEqual([
      'dop_v1_secret',
      'of-linode',
    ])
    expect(JSON.stringify(showConfig(SETTINGS, loaded))).not.toMatch(/dop_v1|of-linode/)
  })
})

describe('secrets', () => {
  test('a secret is printed as *** everywhere, and only reveal() returns its value', () => {
    const config = readConfig(SETTINGS, { env: { DATABASE_URL: 'postgres://u:hunter2@h/d' } })
    const { url } = config.database
    expect(url?.reveal()).toBe('postgres://u:hunter2@h/d')
    for (const shown of [String(url), JSON.stringify(config), inspect(config, { depth: 9 }), `${url}`])
      expect(shown).not.toMatch('hunter2')
  })

  test('the *_FILE form reads the secret from a file without its last newline', () => {
    const path = join(folder, 'secret')
    writeFileSync(path, 's3cret\n')
    expect(readConfig(SETTINGS, { env: { SCANFARM_TOKEN_FILE: path } }).client.token?.reveal()).toBe('s3cret')
    expect(
      readConfig(SETTINGS, { env: {}, configPath: file('redis.url_file: secret\n') }).redis.url?.reveal(),
    ).toBe('s3cret')
  })

  test('a secret in both forms, and a file that cannot be read, are problems whose texts do not contain the value', () => {
    const env = { REDIS_URL: 'redis://:pw@h', REDIS_URL_FILE: '/x', SCANFARM_TOKEN_FILE: '/nowhere' }
    expect(problemsOf({ env })).toEqual([
      'redis.url (REDIS_URL) is given by REDIS_URL and by REDIS_URL_FILE: keep one of them',
      expect.stringMatching(/^client\.token \(SCANFARM_TOKEN\) names a file that cannot be read/),
    ])
  })

  test('the settings in force are shown with secrets masked', () => {
    const shown = showConfig(SETTINGS, loadConfig(SETTINGS, { env: { REDIS_URL: 'redis://:pw@h' } }))
    expect(shown).toContainEqual({ key: 'redis.url', value: '***', origin: 'REDIS_URL' })
  })
})

test('the table of settings names every key with its variables', () => {
  const table = settingsMarkdown(SETTINGS)
  expect(table).toMatch('| `queue.kind` | `SCANFARM_QUEUE` `SCANFARM_QUEUE_KIND` |')
  expect(table).toMatch('`DATABASE_URL` (`DATABASE_URL_FILE`)')
})

test('URLs in settings are shown without their secret parts', () => {
  const loaded = loadConfig(SETTINGS, {
    env: {},
    argvOverrides: {
      'notify.webhooks': [
        'https://hooks.example/services/T0/B0/hook-secret?token=query-secret',
        'https://bare.example',
      ],
      'tools.mirror': 'https://user-secret:pass-secret@tools.example/v1',
      'runner.path': 'https://token-secret@tools.example:9000/path?key=query-secret#fragment-secret',
      'runner.docker_host': 'tcp://docker.example:2376',
    },
  })
  const shown = showConfig(SETTINGS, loaded)
  expect(JSON.stringify(shown)).not.toMatch(/(?:hook|query|user|pass|token|fragment)-secret/)
  const values = Object.fromEntries(shown.map(({ key, value }) => [key, value]))
  expect(values).toMatchObject({
    'notify.webhooks': ['https://hooks.example/***?***', 'https://bare.example'],
    'tools.mirror': 'https://***@tools.example/v1',
    'runner.path': 'https://***@tools.example:9000/path?***#***',
    'runner.docker_host': 'tcp://docker.example:2376',
  })
  expect(loaded.config.notify.webhooks[0]).toContain('hook-secret')
})
