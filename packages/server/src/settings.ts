import { artifactSettings } from '@scanfarm/artifacts/settings'
import { cloudSettings } from '@scanfarm/cloud/settings'
import {
  flag,
  integer,
  list,
  paths,
  platformSettings,
  secret,
  webAddress,
  type ConfigOf,
} from '@scanfarm/platform'
import { queueSettings } from '@scanfarm/queue/settings'
import { runnerSettings } from '@scanfarm/runners/settings'
import { storeSettings } from '@scanfarm/store/settings'
import { workerSettings } from '@scanfarm/worker/settings'

const serverSettings = {
  http: {
    ...workerSettings.http,
    port: integer('Port of the API. 0: any free port.', { default: 8002, min: 0, max: 65_535 }),
    trustProxy: list('Addresses or CIDR blocks of proxies whose `X-Forwarded-*` headers are trusted.', {
      default: [],
    }),
    filesKey: secret(
      'Key of links to artifacts that need no token: `/ws/<key>/<workspace>/<path>`. At least 20 characters. Not set: these links are disabled.',
    ),
    publicUrl: webAddress(
      'Address under which people reach the console, like `https://farm.example.com`, for links in messages. Not set: no links.',
      { default: '' },
    ),
    corsOrigins: list('Origins from which browsers may call the API. `*`: any origin.', { default: [] }),
  },
  server: {
    master: flag('Accept distributed runs and hand them to workers (`--master`).', {
      default: false,
      env: ['SCANFARM_MASTER'],
    }),
  },
  targetFile: {
    folders: paths('Folders on the server from which `target_file` may be read, in addition to uploads.', {
      default: [],
    }),
  },
  scope: {
    required: flag('Refuse targets of runs without a scope, by their request or their workspace.', {
      default: false,
    }),
  },
  auth: {
    initialToken: secret(
      'Administrator token that is created on the first start. Not set: a random token, which is written to `admin-token` in the data folder.',
    ),
    sessionHours: integer('Lifetime of a login.', { default: 24, min: 1, max: 24 * 365 }),
  },
  scheduler: {
    enabled: flag('Execute cron triggers, and accept events and start workflows on them.', { default: true }),
  },
  mail: {
    url: secret(
      'Mail server for subscriptions with the format `mail`, and their sender: `smtp://NAME:PASSWORD@HOST:587?from=scanfarm@example.com`.',
    ),
  },
  webhooks: {
    allowPrivate: flag('Allow webhooks to private addresses, like those of the local network.', {
      default: false,
    }),
  },
  retention: {
    runDays: integer(
      'Days after which ended runs are deleted, with their steps, logs and artifacts. Findings and assets are kept. 0: never.',
      { default: 0, min: 0, max: 36_500 },
    ),
    ...workerSettings.retention,
    uploadDays: integer('Days after which uploaded target files are deleted. 0: never.', {
      default: 0,
      min: 0,
      max: 36_500,
    }),
    eventDays: integer('Days after which event-log entries are deleted. 0: never.', {
      default: 30,
      min: 0,
      max: 36_500,
    }),
  },
}

const { dataDir, log } = platformSettings
const { workflows, folders, tools, llm, notify, local, worker, runs, resume } = workerSettings
const { http, server, targetFile, auth, ...rest } = serverSettings

/** Every setting of a server, in the order of the documentation. */
export const SETTINGS = {
  dataDir,
  http,
  server,
  ...storeSettings,
  ...queueSettings,
  workflows,
  folders,
  tools,
  targetFile,
  ...artifactSettings,
  llm,
  notify,
  local,
  worker,
  runs,
  resume,
  ...runnerSettings,
  auth,
  ...cloudSettings,
  ...rest,
  log,
}

export type Config = ConfigOf<typeof SETTINGS>
