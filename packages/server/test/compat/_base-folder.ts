import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export const RUN_UUID = '0b8f8f0e-3c0e-4c53-9a51-2f4c7f9a1c11'
const NOW = '2026-03-01 10:00:00.5+00:00'
const LATER = '2026-03-01 10:05:00+00:00'

export type Row = Readonly<Record<string, string | number | null>>

/** The columns that an import reads; other columns are left out. */
const COLUMNS: Readonly<Record<string, string>> = {
  runs: 'id integer primary key, run_uuid, workflow_name, workflow_kind, target, params, status, workspace, started_at, completed_at, error_message, created_at, updated_at, trigger_name, run_group_id, total_steps, completed_steps, run_priority',
  step_results:
    'id text primary key, run_id integer, step_name, step_type, status, command, output, error_message, exports, duration_ms, started_at, completed_at, created_at',
  artifacts:
    'id text primary key, run_id integer, workspace, name, artifact_path, artifact_type, description, created_at',
  assets:
    'id integer primary key, workspace, asset_value, url, scheme, status_code, content_type, title, host_ip, dns_records, open_ports, asset_type, technologies, remarks, raw_json_data, created_at, updated_at, last_seen_at',
  vulnerabilities:
    'id integer primary key, workspace, vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence, asset_type, asset_value, tags, detail_http_request, detail_http_response, raw_vuln_json, created_at, updated_at, last_seen_at',
  schedules: 'id text primary key, name',
}

export const insert = (db: DatabaseSync, table: string, row: Row): void => {
  const names = Object.keys(row)
  const marks = names.map(() => '?').join(', ')
  db.prepare(`insert into ${table} (${names.join(', ')}) values (${marks})`).run(...Object.values(row))
}

export const run = (id: number, row: Row): Row => ({
  id,
  run_uuid: RUN_UUID,
  workflow_name: 'probe',
  workflow_kind: 'module',
  target: 'example.com',
  params: '{"threads": 5, "mode": "fast"}',
  status: 'completed',
  workspace: 'example.com',
  started_at: NOW,
  completed_at: LATER,
  created_at: NOW,
  updated_at: LATER,
  run_group_id: 'abcd1234',
  total_steps: 1,
  completed_steps: 2,
  run_priority: 'high',
  ...row,
})

export const openBaseDatabase = (folder: string): DatabaseSync => {
  const db = new DatabaseSync(join(folder, 'database-osm.sqlite'))
  for (const [table, columns] of Object.entries(COLUMNS)) db.exec(`create table ${table} (${columns})`)
  return db
}

export const write = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

const PROBE = `kind: module
name: probe
steps:
  - name: one
    type: bash
    command: echo {{Target}}
`
const FLOW = `kind: flow
name: survey
modules:
  - name: probe
    path: modules/probe.yaml
`

/** A small base folder with one record of each kind. */
export const makeBaseFolder = (folder: string): void => {
  write(folder, {
    'osm-settings.yaml': [
      'base_folder: /somewhere/else',
      'environments:',
      '  workflows: "{{base_folder}}/workflows"',
      '  workspaces: /somewhere/workspaces',
      'server: {port: 9000, cors_allowed_origins: reflect-origin, enabled_auth_api: true, auth_api_key: key-of-the-farm-0123456789}',
      'global_vars: {SHODAN_API_KEY: {value: shodan-1}, EMPTY: {value: ""}, WORDS: {value: big, as_env: false}}',
      'llm_config: {llm_providers: [{base_url: "http://127.0.0.1:9/v1/chat/completions", auth_token: t, model: m}]}',
      '',
    ].join('\n'),
    'workflows/modules/probe.yaml': PROBE,
    'workflows/flows/survey.yaml': FLOW,
    'workflows/modules/broken.yaml': 'kind: module\nname: broken\nsteps: 5\n',
    'workspaces/example.com/report.md': '# Report\n',
    'workspaces/example.com/run-state.json': '{}',
    'workspaces/example.com/subdomain/list.txt': 'a.example.com\nb.example.com\n',
    'workspaces/no runs/found.txt': 'x\n',
  })
  const db = openBaseDatabase(folder)
  insert(db, 'runs', run(1, {}))
  insert(
    db,
    'runs',
    run(2, { run_uuid: 'short', status: 'failed', error_message: 'exit 1', completed_at: NOW }),
  )
  insert(db, 'runs', run(3, { run_uuid: 'still-going', status: 'running', completed_at: null }))
  insert(db, 'runs', run(4, { run_uuid: 'template', status: 'webhook' }))
  insert(db, 'step_results', {
    id: 's1', run_id: 1, step_name: 'one', step_type: 'bash', status: 'success', command: 'echo example.com',
    output: 'example.com', exports: '{"n": 1}', duration_ms: 12, started_at: NOW, completed_at: LATER, created_at: NOW,
  }) // prettier-ignore
  insert(db, 'artifacts', {
    id: 'a1', run_id: 1, workspace: 'example.com', name: 'final report', artifact_type: 'report', description: 'all of it',
    artifact_path: '/old/place/workspaces/example.com/report.md', created_at: NOW,
  }) // prettier-ignore
  insert(db, 'assets', {
    id: 1, workspace: 'example.com', asset_value: 'a.example.com', url: 'http://a.example.com', status_code: 200,
    asset_type: 'http', technologies: '["nginx"]', created_at: NOW, updated_at: NOW, last_seen_at: LATER,
  }) // prettier-ignore
  insert(db, 'vulnerabilities', {
    id: 1, workspace: 'example.com', vuln_info: 'CVE-2024-1', vuln_title: 'Old server', severity: 'HIGH', confidence: 'firm',
    asset_type: 'web', asset_value: 'a.example.com', tags: '["cve"]', raw_vuln_json: '{"a": 1}', created_at: NOW, updated_at: NOW,
  }) // prettier-ignore
  insert(db, 'vulnerabilities', {
    id: 2, workspace: 'example.com', vuln_title: '', severity: 'weird', asset_value: '', created_at: NOW,
  }) // prettier-ignore
  insert(db, 'schedules', { id: 'sch_1', name: 'nightly' })
  db.close()
}
