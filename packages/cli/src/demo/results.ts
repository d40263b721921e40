import { SEVERITIES, type Severity } from '@scanfarm/contracts'
import type { Api } from '../client/api.ts'
import { dim, say, table, title } from './screen.ts'

export interface Finding {
  severity: Severity
  title: string
  asset: string
  evidence: string
}

export interface Result {
  target: string
  status: string
  error: string
  findings: Finding[]
  /** Names. */
  artifacts: readonly string[]
  /** Name of the machine of a cloud run; otherwise "". */
  machine: string
}

/** Reads every run through the API, prints the tables, and returns the results. */
export async function showResults(api: Api, runs: readonly { run_uuid: string }[]): Promise<Result[]> {
  const read = await Promise.all(runs.map(({ run_uuid }) => readRun(api, run_uuid)))
  title('Runs')
  const onMachines = read.some(({ run }) => run.cloud_instance)
  table(
    [
      'id',
      'target',
      ...(onMachines ? ['machine'] : []),
      'status',
      'steps',
      'seconds',
      'findings',
      'artifacts',
    ],
    read.map(({ run, findings, artifacts }) => [
      String(run.id),
      run.target,
      ...(onMachines ? [run.cloud_instance ?? ''] : []),
      run.status,
      `${run.completed_steps}/${run.total_steps}`,
      ((Date.parse(run.completed_at ?? '') - Date.parse(run.started_at ?? '')) / 1000).toFixed(1),
      String(findings.length),
      artifacts.map(({ name }) => name).join(' '),
    ]),
  )
  showFindings(read.flatMap(({ findings }) => findings))
  const example = read.find(({ artifacts }) => artifacts.length > 0)
  if (example)
    say(
      dim(
        `an artifact's bytes: GET /api/runs/${example.run.id}/artifacts/${example.artifacts[0]?.id}/content`,
      ),
    )
  return read.map(({ run, findings, artifacts }) => ({
    target: run.target,
    status: run.status,
    error: run.error_message,
    findings,
    artifacts: artifacts.map(({ name }) => name),
    machine: run.cloud_instance ?? '',
  }))
}

function showFindings(findings: readonly Finding[]): void {
  const rank = (finding: Finding): number => SEVERITIES.indexOf(finding.severity)
  title('Findings')
  table(
    ['severity', 'asset', 'title', 'evidence'],
    [...findings]
      .sort((a, b) => rank(a) - rank(b) || a.asset.localeCompare(b.asset))
      .map((finding) => [finding.severity, finding.asset, finding.title, finding.evidence]),
  )
}

async function readRun(api: Api, uuid: string) {
  const params = { path: { id: uuid } }
  const [{ data: run }, { data: artifacts }, { data: vulnerabilities }] = await Promise.all([
    api.call(({ GET }) => GET('/runs/{id}', { params })),
    api.call(({ GET }) => GET('/runs/{id}/artifacts', { params })),
    api.all('/vulnerabilities', { params: { query: { run_uuid: uuid } } }),
  ])
  const findings = vulnerabilities.map(({ severity, vuln_title, asset_value, vuln_poc }): Finding => ({
    severity,
    title: vuln_title,
    asset: asset_value,
    evidence: vuln_poc,
  }))
  return { run, artifacts, findings }
}
