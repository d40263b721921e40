import { availableParallelism, hostname } from 'node:os'
import { join } from 'node:path'
import { CLOUD_SETTINGS } from './cloud-settings.ts'
import { defaultDataDir } from './environment.ts'
import type { Lookup } from './setting.ts'
import {
  choice,
  flag,
  integer,
  list,
  optionalPath,
  optionalText,
  path,
  paths,
  secret,
  text,
} from './setting.ts'
import { refusedForCommands, refusedForWorkflows, variables } from './variables.ts'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const HOUR_MS = 3_600_000

const inDataDir = (name: string) => ({
  default: (lookup: Lookup) => join(String(lookup('data_dir')), name),
  defaultText: `\`<data_dir>/${name}\``,
})
const inBase = (name: string) => ({
  default: (lookup: Lookup) => join(String(lookup('folders.base')), name),
  defaultText: `\`<folders.base>/${name}\``,
})
const cpus = { default: () => availableParallelism(), defaultText: 'number of CPUs' }

/**
 * Every setting there is, and the only place that knows their names. A property `leaseMs` in the group `worker` is the
 * key `worker.lease_ms` of the settings file and `SCANFARM_WORKER_LEASE_MS` of the environment.
 */
export const SETTINGS = {
  dataDir: path(
    'Folder for everything that this machine keeps: embedded services, uploads, artifacts, first token.',
    {
      default: () => defaultDataDir(),
      defaultText: '`$XDG_DATA_HOME/scanfarm`, `/var/lib/scanfarm` (root) or `~/.scanfarm`',
    },
  ),
  http: {
    host: text('Address on which the API listens; `0.0.0.0` for all.', { default: '127.0.0.1' }),
    port: integer('Port of the API; 0 takes a free one.', { default: 8002, min: 0, max: 65_535 }),
    jsonBytes: integer('Largest JSON body, in bytes; most routes take less.', {
      default: 16 * MIB,
      min: KIB,
      max: GIB,
    }),
    bodyIdleMs: integer('A request whose body does not move for this long is answered 408.', {
      default: 15_000,
      min: 100,
      max: HOUR_MS,
    }),
    maxConnections: integer('Most connections of a server at the same time.', {
      default: 2_000,
      min: 10,
      max: 1_000_000,
    }),
    maxConnectionsPerAddress: integer(
      'Most connections of one address, where that is not a proxy of `http.trust_proxy`.',
      { default: 500, min: 1, max: 1_000_000 },
    ),
    trustProxy: list('Addresses or CIDR blocks of proxies whose `X-Forwarded-*` headers are believed.', {
      default: [],
    }),
    filesKey: secret(
      'Key of links to artifacts that need no token: `/ws/<key>/<workspace>/<path>`; at least 20 characters; none: there are no such links.',
    ),
    corsOrigins: list('Origins that browsers may call the API from; `*` for any.', { default: [] }),
  },
  server: {
    master: flag('Accept distributed runs and feed them to workers (`--master`).', {
      default: false,
      env: ['SCANFARM_MASTER'],
    }),
    drainMs: integer(
      'How long a stopping server waits for requests and local runs before runs are handed back.',
      {
        default: 25_000,
        min: 0,
        max: HOUR_MS,
      },
    ),
  },
  database: {
    url: secret('Postgres to use; none: one of our own in the data folder.', { env: ['DATABASE_URL'] }),
    poolServer: integer('Connections of a server.', { default: 10, min: 2, max: 500 }),
    poolWorker: integer('Connections of a worker.', { default: 2, min: 1, max: 100 }),
    statementMs: integer(
      'Longest statement; the server ends it then. Repairs, pruning and the like may take ten times as long.',
      { default: 30_000, min: 1_000, max: HOUR_MS },
    ),
  },
  redis: {
    url: secret('Redis for the run queue; none: see `queue.kind`.', { env: ['REDIS_URL'] }),
    keep: flag(
      'Whether a Redis of our own keeps the queue over a restart; otherwise it is filled again from the database.',
      {
        default: true,
      },
    ),
  },
  queue: {
    kind: choice(
      'Where the run queue lives. `auto`: the Redis of `redis.url`; else one of our own where the database is ours too and redis-server or valkey-server is on PATH; else Postgres.',
      { of: ['auto', 'redis', 'postgres'], default: 'auto', env: ['SCANFARM_QUEUE'] },
    ),
  },
  workflows: {
    folders: paths('Folders with workflows besides the shipped and the uploaded ones; earlier ones win.', {
      default: (lookup) => [join(String(lookup('data_dir')), 'workflows')],
      defaultText: '`<data_dir>/workflows`',
    }),
    variables: variables(
      'Variables of every run, for texts of workflows: `NAME: value`, or `NAME: {file: PATH}` (`NAME=@PATH` in a list) for secrets. Params of a caller and what a workflow itself sets win. Values from files, and those whose names say that they are secrets, are masked in what is recorded.',
      { refuse: refusedForWorkflows, mask: 'named' },
    ),
    strictParams: flag(
      'A param without a `type` is one word everywhere. Otherwise it is split at blanks where its words are arguments of a command that does not run them. Each program that executes runs has this setting for its own runs.',
      { default: false },
    ),
    upload: flag('Let administrators upload workflows. Whoever may do so can run code on workers.', {
      default: true,
    }),
  },
  folders: {
    base: path(
      'Folder above the folders for tools (`{{BaseFolder}}`). Programs that execute runs make the ones below where they are missing; commands and functions of workflows may read them.',
      inDataDir('base'),
    ),
    binaries: path(
      'Programs of your own (`{{Binaries}}`), which commands on this machine find before those of `runner.path`.',
      inBase('external-binaries'),
    ),
    data: path('Word lists and the like (`{{Data}}`, `{{ExternalData}}`).', inBase('external-data')),
    configs: path('Settings and templates of tools (`{{ExternalConfigs}}`).', inBase('external-configs')),
    agentConfigs: path(
      'Settings of agents (`{{ExternalAgentConfigs}}`, `{{ExternalAgents}}`).',
      inBase('external-agent-configs'),
    ),
    scripts: path('Scripts of your own (`{{ExternalScripts}}`).', inBase('external-scripts')),
    templates: path(
      'Templates of reports (`{{ExternalMarkdowns}}`, `{{MarkdownTemplates}}`).',
      inBase('markdown-report-templates'),
    ),
    snapshots: path(
      'What `{{SnapshotsFolder}}` names. Commands and functions of workflows have no right to it unless `runner.paths` gives it: snapshots of all workspaces are there.',
      inBase('snapshot'),
    ),
    workflows: path('What `{{Workflows}}` names.', {
      default: (lookup) => (lookup('workflows.folders') as readonly string[])[0] ?? '',
      defaultText: 'first of `workflows.folders`',
    }),
  },
  uploads: {
    maxBytes: integer('Largest uploaded file, in bytes.', { default: 256 * MIB, min: KIB, max: 1024 * GIB }),
  },
  targetFile: {
    folders: paths('Folders on the server that `target_file` may name, besides uploads.', { default: [] }),
  },
  jobs: {
    maxTargets: integer('Most targets in one request.', { default: 10_000_000, min: 1, max: 100_000_000 }),
  },
  artifacts: {
    kind: choice('Where artifacts, logs and uploads are kept.', { of: ['folder', 's3'], default: 'folder' }),
    folder: path('Folder of the artifact store; shared by all machines of a farm.', inDataDir('artifacts')),
    maxBytes: integer('Largest artifact that is kept, in bytes.', {
      default: GIB,
      min: KIB,
      max: 1024 * GIB,
    }),
    s3: {
      endpoint: optionalText('URL of an S3-compatible service; none: AWS.'),
      bucket: optionalText('Bucket; needed for `artifacts.kind: s3`.'),
      region: text('Region of the bucket.', { default: 'us-east-1' }),
      prefix: text('Prefix of every key.', { default: '' }),
      accessKey: secret('Access key; none: the usual AWS credential chain.'),
      secretKey: secret('Secret key that belongs to the access key.'),
      forcePathStyle: flag('Put the bucket into the path instead of the host name (MinIO and the like).', {
        default: false,
      }),
    },
  },
  storage: {
    s3: {
      endpoint: optionalText('URL of an S3-compatible service for the `cdn_*` functions; none: AWS.'),
      bucket: optionalText('Bucket that the `cdn_*` functions work on; none: they are not available.'),
      region: text('Region of that bucket.', { default: 'us-east-1' }),
      prefix: text('Prefix of every key in it; workflows reach nothing outside.', { default: '' }),
      accessKey: secret('Access key; none: the usual AWS credential chain.'),
      secretKey: secret('Secret key that belongs to the access key.'),
      forcePathStyle: flag('Put the bucket into the path instead of the host name (MinIO and the like).', {
        default: false,
      }),
    },
  },
  llm: {
    baseUrl: optionalText(
      'URL, up to and with `/v1`, of the language model that steps ask; none: steps name one of their own.',
    ),
    apiKey: secret('Key for it.'),
    model: optionalText('Model to ask where a step names none; needed with `llm.base_url`.'),
  },
  notify: {
    telegramToken: secret('Token of the bot that sends notifications of workflows.'),
    telegramChat: optionalText('Chat id for messages that name no channel.'),
    telegramChannels: list('Further chats, as `name=chat id`.', { default: [] }),
    webhooks: list('URLs that notifications of workflows are posted to.', { default: [], secretPath: true }),
  },
  local: {
    slots: integer('Local runs that a server executes at once; 0: none.', { ...cpus, min: 0, max: 1024 }),
  },
  worker: {
    slots: integer('Runs that a worker executes at once.', { ...cpus, min: 1, max: 1024 }),
    name: text('Name of the worker, as shown in lists.', {
      default: () => hostname(),
      defaultText: 'host name',
    }),
    labels: list('Labels `name=value` that workflows may require.', {
      default: [],
      item: /^[A-Za-z0-9._-]{1,64}=[A-Za-z0-9._-]{1,64}$/,
      itemText: 'labels of the form name=value',
    }),
    leaseMs: integer('A worker silent for this long has lost its runs.', {
      default: 20_000,
      min: 3_000,
      max: HOUR_MS,
    }),
    drainMs: integer('How long a stopping worker lets its runs go on before it hands them back.', {
      default: 25_000,
      min: 0,
      max: 24 * HOUR_MS,
    }),
    folder: path('Folder for the work folders of runs.', inDataDir('work')),
    healthPort: integer('Port of `/health`, `/health/ready` and `/metrics` of a worker; 0: none.', {
      default: 0,
      min: 0,
      max: 65_535,
    }),
  },
  runs: {
    maxAttempts: integer('Workers that a run may lose before it is quarantined: it fails.', {
      default: 3,
      min: 1,
      max: 100,
    }),
    quarantineAfter: integer(
      'The same for a run that is the likely cause: of all that ran on the worker it had lost the most.',
      { default: 2, min: 2, max: 100 },
    ),
    cancelGraceMs: integer(
      'Time between TERM and KILL. A master ends a cancelled run without its worker 4 seconds after it: set it alike on masters and workers.',
      { default: 1_000, min: 0, max: 60_000 },
    ),
    expressionMs: integer('Longest evaluation of one expression.', {
      default: 10_000,
      min: 10,
      max: 600_000,
    }),
    maxMinutes: integer('Longest run, for runs without a timeout of their own; 0: no limit.', {
      default: 0,
      min: 0,
      max: 525_600,
    }),
    stepLogBytes: integer('Most output of a step that is kept as its log; the rest is counted and dropped.', {
      default: 64 * MIB,
      min: 16 * KIB,
      max: 100 * GIB,
    }),
  },
  runner: {
    path: text('`PATH` of commands, and where `tool:` capabilities are looked for.', {
      default: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    }),
    env: variables(
      'Variables for the environment of commands, wherever they run: `NAME` passes on that of this program (`*` as wildcard), `NAME=value` gives a value, `NAME=@PATH` the text of a file. Values are masked in what is recorded, but for short ones, paths, and addresses without a login.',
      { refuse: refusedForCommands, mask: 'all' },
    ),
    home: optionalPath(
      'Folder for homes of commands on this machine that stay when a run is over; none: each attempt has an empty one, which is removed with it.',
    ),
    homeMode: choice(
      'Who shares a home. `workspace`: each workspace has its own home below `runner.home`, created from `<runner.home>/skel`. `shared`: all commands share `runner.home` and can only read it. `shared-rw`: all commands can also write there, so that a workspace can attack every other one.',
      { of: ['workspace', 'shared', 'shared-rw'], default: 'workspace' },
    ),
    user: optionalText(
      'User (name or uid) that all commands run as when this program runs as root; none: a user for each workspace, out of `runner.uids`.',
    ),
    uids: text(
      'Uids, and gids of the same numbers, that commands run as when this program runs as root, as `FIRST-LAST`; workspaces with runs at the same time never share one. Nothing else may use them.',
      { default: '40000-44095' },
    ),
    isolation: choice(
      'What keeps commands on this machine apart from this program and from other runs. `auto`: what is there, with a warning when that is nothing; `require`: refuse to start without it; `uids` (as root) and `bubblewrap` (otherwise): refuse to start without that; `none`: nothing.',
      { of: ['auto', 'require', 'uids', 'bubblewrap', 'none'], default: 'auto' },
    ),
    processes: integer(
      'Most processes and threads of the runs of one workspace at once, where they have a user of their own.',
      { default: 4096, min: 16, max: 4_000_000 },
    ),
    paths: paths(
      'Files and folders, with all inside them, that functions and steps of workflows may read besides the folders of the run; `:rw` behind to write there too. The user of commands needs the right as well.',
      { default: [] },
    ),
    dockerImages: list('Docker images that runs may use, with `*` as wildcard; empty: none.', {
      default: ['*'],
    }),
    dockerVolumes: list(
      'What docker runs may mount besides their own folders: folders with all inside them, names of volumes; `*` as wildcard, `:ro` behind for reading only; empty: nothing.',
      { default: ['*'] },
    ),
    dockerNetworks: list(
      'Docker networks that workflows and callers of runs may name besides `none`, with `*` as wildcard: `host` is the network of the engine’s machine, with what listens on its loopback address; empty: nothing but `none`.',
      { default: ['*'] },
    ),
    dockerSocket: path('Socket of the docker engine.', { default: '/var/run/docker.sock' }),
    dockerHost: text(
      'Docker engine elsewhere, as `tcp://host:port`; with TLS once `runner.docker_ca` is given.',
      {
        default: (lookup) => `unix://${String(lookup('runner.docker_socket'))}`,
        defaultText: '`unix://<runner.docker_socket>`',
      },
    ),
    dockerCa: secret('PEM of the authority that signed the certificate of the docker engine.'),
    dockerCert: secret('PEM of the certificate that we show to the docker engine.'),
    dockerKey: secret('PEM of the key that belongs to it.'),
    dockerAuth: secret('Credentials for image registries: what `docker login` writes to its config.json.'),
    sshHosts: list('Hosts that the ssh runner may reach, with `*` as wildcard; empty: none.', {
      default: ['*'],
    }),
    sshKeyFile: optionalText('Private key of the ssh runner where a workflow names none.', {
      secretFile: true,
    }),
    sshKnownHosts: optionalText('File of known hosts; none: `~/.ssh/known_hosts`.'),
  },
  auth: {
    initialToken: secret(
      'Administrator token made on the first start; none: a random one, written to `admin-token` in the data folder.',
    ),
    sessionHours: integer('Life of a login.', { default: 24, min: 1, max: 24 * 365 }),
    loginAttempts: integer(
      'Failed logins of one user from one address that cost nothing; after them each next one has to wait, twice as long each time.',
      {
        default: 5,
        min: 1,
        max: 1_000,
      },
    ),
    loginWaitMs: integer('The longest that they have to wait.', { default: 60_000, min: 100, max: HOUR_MS }),
  },
  cloud: CLOUD_SETTINGS,
  scheduler: {
    enabled: flag('Fire cron triggers.', { default: true }),
  },
  eventReceiver: {
    enabled: flag('Take events and start workflows by them.', {
      default: (lookup) => lookup('scheduler.enabled') === true,
      defaultText: '`scheduler.enabled`',
    }),
    dataBytes: integer('Most bytes of JSON in the data of an event that the API or a webhook takes.', {
      default: 64 * KIB,
      min: KIB,
      max: MIB,
    }),
  },
  webhooks: {
    allowPrivate: flag('Let webhooks be sent to private addresses too, such as those of the own network.', {
      default: false,
    }),
  },
  retention: {
    runDays: integer(
      'Days that ended runs are kept, with steps, logs and artifacts; findings and assets stay. 0: for ever.',
      { default: 0, min: 0, max: 36_500 },
    ),
    workspaces: flag(
      'Remove folders of workspaces from machines that execute runs: when `retention.run_days` has removed the last run of the workspace, or after `retention.workspace_days`.',
      { default: true },
    ),
    workspaceDays: integer(
      'Days that the folder of a workspace stays on a machine after its last use there; longer when the workspace has a younger run anywhere. 0: until its last run is removed.',
      { default: 0, min: 0, max: 36_500 },
    ),
    uploadDays: integer('Days that uploaded target files are kept; 0: for ever.', {
      default: 0,
      min: 0,
      max: 36_500,
    }),
    eventDays: integer('Days that event-log entries are kept; 0: for ever.', {
      default: 30,
      min: 0,
      max: 36_500,
    }),
  },
  log: {
    level: choice('Least level that is logged.', { of: ['debug', 'info', 'warn', 'error'], default: 'info' }),
    format: choice('`auto`: coloured lines on a terminal, JSON otherwise.', {
      of: ['auto', 'json', 'pretty'],
      default: 'auto',
    }),
  },
  client: {
    url: text('Server that the client commands talk to.', {
      default: 'http://127.0.0.1:8002',
      env: ['SCANFARM_URL'],
    }),
    token: secret('Token of the client commands.', { env: ['SCANFARM_TOKEN'] }),
  },
} as const
