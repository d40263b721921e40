import type { Client } from './client.ts'
import { dim, say, table, title } from './screen.ts'

export interface Finding {
  severity: string
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

interface RunDetail {
  id: number
  target: string
  status: string
  error_message: string
  total_steps: number
  completed_steps: number
  started_at: string
  completed_at: string
  worker_id: string
  cloud_instance?: string
}

interface Artifact {
  id: string
  name: string
  content_type: string
  size_bytes: number
}

const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info']

/** Reads every run through the API, prints the tables, and returns the results. */
export async function showResults(client: Client, runs: readonly { run_uuid: string }[]): Promise<Result[]> {
  const read = await Promise.all(runs.map(({ run_uuid }) => readRun(client, run_uuid)))
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
      ((Date.parse(run.completed_at) - Date.parse(run.started_at)) / 1000).toFixed(1),
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

interface Vulnerability {
  severity: string
  vuln_title: string
  vuln_poc: string
  asset_value: string
}

const MAX_FINDINGS = 1_000

async function readRun(client: Client, uuid: string) {
  const [{ data: run }, { data: artifacts }, { data: vulnerabilities }] = await Promise.all([
    client.get<{ data: RunDetail }>(`/runs/${uuid}`),
    client.get<{ data: Artifact[] }>(`/runs/${uuid}/artifacts`),
    client.get<{ data: Vulnerability[] }>(`/vulnerabilities?run_uuid=${uuid}&limit=${MAX_FINDINGS}`),
  ])
  const findings = vulnerabilities.map(({ severity, vuln_title, asset_value, vuln_poc }): Finding => ({
    severity,
    title: vuln_title,
    asset: asset_value,
    evidence: vuln_poc,
  }))
  return { run, artifacts, findings }
}
