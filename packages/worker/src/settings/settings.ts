import { availableParallelism, hostname } from 'node:os'
import { join } from 'node:path'
import { artifactSettings } from '@scanfarm/artifacts/settings'
import {
  flag,
  inDataDir,
  integer,
  list,
  path,
  paths,
  platformSettings,
  secret,
  text,
  variables,
  type ConfigOf,
} from '@scanfarm/platform'
import { queueSettings } from '@scanfarm/queue/settings'
import { runnerSettings } from '@scanfarm/runners/settings'
import { storeSettings } from '@scanfarm/store/settings'
import { toolSettings } from '@scanfarm/tools/settings'
import { LLM_FORM, readLlmUrl, readTelegramUrl, TELEGRAM_FORM } from './service-urls.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
const HOUR_MS = 3_600_000

const cpus = { default: () => availableParallelism(), defaultText: 'number of CPUs' }

const FACTS = ['Target', 'target', 'Output', 'RunUUID', 'DBRunID', 'Rate', 'TempDir']

/** Reserved names of variables; returns why a name is refused. */
const refusedForWorkflows = (name: string): string | undefined =>
  FACTS.includes(name) ? 'every run has its own' : undefined

/** The server adds its own settings to `http` and `retention`. */
export const workerSettings = {
  http: {
    host: text('Address on which the API listens. `0.0.0.0`: all addresses.', { default: '127.0.0.1' }),
    allowPrivate: flag(
      'Let `http` steps and functions follow redirects of public servers to private addresses, like those of the local network. Workflows can name private addresses themselves.',
      { default: false },
    ),
  },
  workflows: {
    folders: paths(
      'Folders with workflows, besides the shipped and the uploaded ones; earlier folders take precedence.',
      {
        default: (lookup) => [join(String(lookup('data_dir')), 'workflows')],
        defaultText: '`<data_dir>/workflows`',
      },
    ),
    variables: variables(
      'Variables of every run, for templates of workflows: `NAME: value`, or `NAME: {file: PATH}` (`NAME=@PATH` in a list) for secrets. Params of the caller and values that the workflow sets take precedence. Values from files, and values with the name of a secret, are masked in records.',
      { refuse: refusedForWorkflows, mask: 'named' },
    ),
    strictParams: flag(
      'Params without a `type` are always one word. Otherwise they are split at spaces where the words are arguments of a command that does not execute them. Each program that executes runs applies its own value to its runs.',
      { default: false },
    ),
    upload: flag(
      'Let administrators upload workflows. A user who may upload workflows can run code on workers.',
      { default: true },
    ),
  },
  folders: {
    base: path(
      'Parent of the folders for tools (`{{BaseFolder}}`), [with the names](../operations.md#tools-their-settings-and-secrets) of an Osmedeus base folder. Programs that execute runs create missing ones; commands and functions of workflows may read them.',
      inDataDir('base'),
    ),
  },
  ...toolSettings,
  llm: {
    url: secret(
      `URL of the language model for steps, as \`${LLM_FORM}\`: with its API key, if it has one, and the model for steps that name none. Not set: steps must name their own.`,
      { valid: readLlmUrl, must: `be like ${LLM_FORM}` },
    ),
  },
  notify: {
    telegram: secret(
      `Telegram bot and chat that get notifications of workflows, as \`${TELEGRAM_FORM}\`. CHAT is for messages without a channel, the others are for those with the channel NAME.`,
      {
        valid: readTelegramUrl,
        must: `be like ${TELEGRAM_FORM}`,
      },
    ),
    webhooks: list('URLs to which notifications of workflows are posted.', { default: [], secretPath: true }),
  },
  local: {
    slots: integer('Local runs that a server executes at the same time; 0: none.', {
      ...cpus,
      min: 0,
      max: 1024,
    }),
  },
  worker: {
    slots: integer('Runs that a worker executes at the same time.', { ...cpus, min: 1, max: 1024 }),
    name: text('Name of the worker, as shown in lists.', {
      default: () => hostname(),
      defaultText: 'host name',
    }),
    labels: list('Labels `name=value` that workflows may require.', {
      default: [],
      item: /^[A-Za-z0-9._-]{1,64}=[A-Za-z0-9._-]{1,64}$/,
      itemText: 'labels of the form name=value',
    }),
    leaseMs: integer('A worker without a heartbeat for this long loses its runs.', {
      default: 20_000,
      min: 3_000,
      max: HOUR_MS,
    }),
    drainMs: integer(
      'How long a stopping worker or server waits for its runs, and for requests, before it hands the runs back.',
      { default: 25_000, min: 0, max: 24 * HOUR_MS },
    ),
    folder: path('Folder that contains the work folders of runs.', inDataDir('work')),
    healthPort: integer('Port of `/health`, `/health/ready` and `/metrics` of a worker. 0: not served.', {
      default: 0,
      min: 0,
      max: 65_535,
    }),
  },
  runs: {
    maxAttempts: integer(
      'A run that has lost this many workers is quarantined: it fails. One less for the run that is the likely cause: among the runs of the worker, the one that had lost the most workers.',
      { default: 3, min: 1, max: 100 },
    ),
    cancelGraceMs: integer(
      'Time between TERM and KILL. A master ends a cancelled run without its worker 4 seconds later, so use the same value on masters and workers.',
      { default: 1_000, min: 0, max: 60_000 },
    ),
    stopAfterLease: flag(
      'A worker that cannot reach the database stops its runs before its lease ends, so that no two workers ever scan one target. Otherwise it continues, and an outage of the database costs no scan. Its runs then start again on another worker only if this worker alone is cut off.',
      { default: false },
    ),
    maxMinutes: integer('Longest duration of runs without their own timeout; 0: no limit.', {
      default: 0,
      min: 0,
      max: 525_600,
    }),
  },
  resume: {
    maxBytes: integer(
      'Most bytes that one run stores for an attempt after it; a run with more is not resumable from there. 0: nothing is stored.',
      { default: 256 * MIB, min: 0, max: 100 * GIB },
    ),
  },
  retention: {
    workspaceDays: integer(
      'Days that the folder of a workspace stays on a machine after its last use there; longer if the workspace has a newer run on any machine. 0: until its last run is removed.',
      { default: 0, min: 0, max: 36_500 },
    ),
  },
}

/** Every setting of a worker. */
export const SETTINGS = {
  dataDir: platformSettings.dataDir,
  ...storeSettings,
  ...queueSettings,
  ...artifactSettings,
  ...workerSettings,
  ...runnerSettings,
  log: platformSettings.log,
}

export type WorkerConfig = ConfigOf<typeof SETTINGS>

/** The settings about executing runs, which a worker and a server have in common. */
export type RunSettings = Omit<WorkerConfig, 'database' | 'redis' | 'log' | 'local' | 'tools'>
