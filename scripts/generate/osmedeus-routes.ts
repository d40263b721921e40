/** Routes of Osmedeus 5.1, below its API root and outside it. `{}` is a parameter. */

const BELOW_ROOT = `
POST login logout
GET webhook-runs/list; GET POST webhook-runs/{}/trigger
GET workflows workflows/tags workflows/{}; POST workflows/refresh workflow-upload upload-file
GET POST runs; GET DELETE runs/{}; POST runs/{}/duplicate runs/{}/start; GET runs/{}/steps runs/{}/artifacts jobs/{}
GET snapshot-download/{} snapshots; POST snapshots/export snapshots/import; DELETE snapshots/{}
GET workspaces workspace-names artifacts artifacts/{} step-results
GET assets assets/diff assets/diffs asset-stats stats
GET POST orgs; GET PUT DELETE orgs/{}; GET orgs/{}/stats
GET POST vulnerabilities; GET DELETE vulnerabilities/{}
GET vulnerabilities/diff vulnerabilities/diffs vulnerabilities/summary
GET registry-info; POST registry-install
GET POST schedules; GET PUT DELETE schedules/{}; POST schedules/{}/enable schedules/{}/disable schedules/{}/trigger
GET event-logs event-receiver/status event-receiver/workflows; POST events/emit
GET database/tables; POST database/tables/{}/clear
GET functions/list; POST functions/eval
GET settings/yaml settings/yaml/ settings/status; POST settings/reload
POST llm/v1/chat/completions llm/v1/embeddings agent/chat/completions
GET workers workers/{} tasks tasks/{}; POST tasks
GET cloud/providers cloud/instances cloud/instances/{} cloud/instances/{}/status
POST cloud/providers/{}/validate cloud/instances cloud/estimate; DELETE cloud/instances/{}`

const BESIDE_ROOT = 'GET health health/ready metrics server-info status api/info swagger/index.html'

export interface TheirRoute {
  readonly method: string
  readonly path: string
}

/** Methods before the paths that have all of them, separated by blanks; groups by semicolons and lines. */
const read = (text: string, root: string): TheirRoute[] =>
  text
    .trim()
    .split(/[;\n]/)
    .flatMap((group) => {
      const words = group.trim().split(/\s+/)
      const methods = words.filter((word) => /^[A-Z]+$/.test(word))
      const paths = words.filter((word) => !/^[A-Z]+$/.test(word))
      return paths.flatMap((path) => methods.map((method) => ({ method, path: `${root}/${path}` })))
    })

export const OSMEDEUS_ROUTES: readonly TheirRoute[] = [
  ...read(BESIDE_ROOT, ''),
  ...read(BELOW_ROOT, '/osm/api'),
]

/** Differences that a client of Osmedeus notices, by method and path. */
export const DIFFERENCES: Readonly<Record<string, string>> = {
  'GET /metrics': 'needs a token',
  'GET /health/ready': 'really asks database, artifact store and queue; 503 when one of them is away',
  'POST /osm/api/login': 'sets no cookie; wrong passwords are slowed down (429)',
  'POST /osm/api/logout': 'the token stops working; there it is valid until it expires',
  'GET /osm/api/orgs': 'an organisation is a named set of workspaces; `assigned` counts workspaces',
  'GET /osm/api/workflows': '`source` makes no difference; `file_path` is within its source',
  'GET /osm/api/workflows/{}': '`json=true` also lists the problems of the file',
  'POST /osm/api/workflow-upload': 'a file with errors is refused with the place of each',
  'POST /osm/api/runs':
    'both `flow` and `module`, or several of `target`, `targets`, `target_file`, are refused; so are targets that could become code, whatever `skip_validation` says',
  'GET /osm/api/runs': '`target` is an exact match; a run that waits is `pending`',
  'GET /osm/api/runs/{}': 'the number of a run works too',
  'DELETE /osm/api/runs/{}': 'of an ended run: 200 with its `status` and a `note`; nothing changes',
  'GET /osm/api/jobs/{}': 'counters beside `progress`; there from the first moment on',
  'GET /osm/api/webhook-runs/list': 'always empty: a trigger on `webhook.received` starts a workflow instead',
  'GET /osm/api/snapshot-download/{}':
    'made while it is sent: `runs.jsonl`, `assets.jsonl`, `vulnerabilities.jsonl`, `files/…`, `snapshot.json`',
  'GET /osm/api/workspaces':
    'counted from the records, `filesystem=true` too; `risk_score` by the worst severity, `local_path` is empty; `search` and `data_source` filter',
  'GET /osm/api/step-results':
    'the latest attempt of each of the newest 10,000 runs; `success` is `completed`',
  'GET /osm/api/artifacts': 'the latest attempt of each of the newest 10,000 runs',
  'GET /osm/api/artifacts/{}':
    'the newest artifact with that path, as an attachment; a folder is sent as a tar',
  'GET /osm/api/assets':
    '`tech`, `content_type`, `tls`, `location`, `min_content_length` and others filter; an unknown `org` is refused',
  'GET /osm/api/snapshots': 'always empty: a snapshot is made when it is downloaded',
  'GET /osm/api/assets/diff':
    'also the fields of `GET /api/assets/diff`; a changed record has no earlier values',
  'GET /osm/api/vulnerabilities/diff':
    'also the fields of `GET /api/vulnerabilities/diff`; a changed record has no earlier values',
  'GET /osm/api/assets/diffs': 'always empty: `/assets/diff` compares when it is asked',
  'GET /osm/api/vulnerabilities/diffs': 'always empty: `/vulnerabilities/diff` compares when it is asked',
  'DELETE /osm/api/orgs/{}':
    'records are never deleted with it (`purge=true` is refused); they belong to the default one then',
  'POST /osm/api/schedules':
    'enabled unless `enabled` is false; `workflow_kind` is corrected, with a warning; `trigger_type: manual` is a disabled one',
  'PUT /osm/api/schedules/{}': 'accepts a schedule as it was read',
  'GET /osm/api/event-logs': '`run_id` and `run_uuid` are the same filter',
  'POST /osm/api/events/emit': '`data` is required; names the runs it started',
  'GET /osm/api/registry-info': 'lists what workflows ask for and workers have; there is no registry',
  'POST /osm/api/functions/eval':
    'only functions that compute or read confined files; no shell on the server',
  'GET /osm/api/functions/list': 'the functions of this language',
  'GET /osm/api/settings/yaml': 'the settings in force, every secret masked',
  'GET /osm/api/settings/status': 'names settings that need a restart',
  'POST /osm/api/settings/reload': 'workflows are read again; changed settings need a restart and are named',
  'POST /osm/api/llm/v1/chat/completions': 'no streaming; the whole answer of the model beside their fields',
  'GET /osm/api/runs/{}/artifacts': 'without `optional`',
  'GET /osm/api/workers': 'without `--master` too; lists the local slots of servers',
  'GET /osm/api/tasks': 'also `pending` ones; `completed` is filled',
  'GET /osm/api/tasks/{}': 'pending ones too',
  'POST /osm/api/tasks': 'the checks of POST /runs; `task_id` is the `run_uuid`, not 8 hex characters',
  'POST /osm/api/cloud/instances': 'the `infra_id` of the answer is the real one',
  'DELETE /osm/api/cloud/instances/{}': '202: machines are deleted in the background',
  'GET /osm/api/database/tables': 'more than 10,000 rows are estimated',
}
