// npm run test:chart: renders the Helm chart with many sets of values, validates the manifests against the schemas of
// Kubernetes, KEDA and the Prometheus operator, and checks what a schema cannot express. Needs helm and kubeconform, or Go.
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { manifestProblems, type Manifest } from './rules.ts'
import { KUBERNETES, programPath, run, schemaFolder } from './tools.ts'

const root = join(import.meta.dirname, '../..')
const chart = join(root, 'infra/helm/scanfarm')
const cache = join(root, '.cache/chart')

const external = { database: { existingSecret: 'pg' }, redis: { existingSecret: 'redis' } }
const trial = { trial: { enabled: true } }

/** Each set must render valid manifests, which contain these kinds and these texts. */
const GOOD: Record<
  string,
  { readonly values: object; readonly kinds?: readonly string[]; readonly texts?: readonly string[] }
> = {
  'external Postgres and Redis': { values: external },
  'queue in Postgres': {
    values: { database: { existingSecret: 'pg' } },
    texts: ['{ name: SCANFARM_QUEUE, value: postgres }'],
  },
  'login of workers': {
    values: { ...external, database: { existingSecret: 'pg', workerSecret: 'pg-worker', workerKey: 'dsn' } },
  },
  trial: { values: trial, kinds: ['StatefulSet'] },
  'trial with network policies': {
    values: {
      ...trial,
      networkPolicy: {
        enabled: true,
        masterFrom: [{ namespaceSelector: {} }],
        workerMetricsFrom: [{ podSelector: {} }],
        workerEgress: [{ ports: [{ port: 5432 }] }],
      },
    },
    kinds: ['NetworkPolicy'],
  },
  autoscaling: {
    values: {
      ...external,
      autoscaling: { enabled: true, minReplicas: 0, existingSecret: 'viewer' },
      worker: { slots: 4 },
    },
    kinds: ['ScaledObject', 'TriggerAuthentication'],
    texts: ['formula: waiting + running'],
  },
  monitors: {
    values: { ...external, serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
    kinds: ['ServiceMonitor', 'PodMonitor'],
  },
  ingress: {
    values: {
      ...external,
      ingress: {
        enabled: true,
        className: 'nginx',
        host: 'farm.example.com',
        tlsSecret: 'tls',
        annotations: { a: 'b' },
      },
      master: { trustProxy: ['10.0.0.0/8', '::1'] },
    },
    kinds: ['Ingress'],
    texts: ['10.0.0.0/8,::1'],
  },
  s3: {
    values: {
      ...external,
      artifacts: {
        kind: 's3',
        s3: { bucket: 'b', endpoint: 'https://minio:9000', existingSecret: 's3' },
      },
    },
  },
  's3 with the identity of the pod': {
    values: {
      ...external,
      artifacts: { kind: 's3', s3: { bucket: 'b' } },
      serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/x' } },
    },
  },
  restricted: { values: { ...external, worker: { isolation: 'none' } } },
  'everything of a pod': {
    values: {
      ...external,
      imagePullSecrets: [{ name: 'registry' }],
      trustedCA: { configMap: 'ca' },
      settings: { retention: { run_days: 30 } },
      serviceAccount: { create: false, name: 'mine' },
      artifacts: { folder: { existingClaim: 'nfs' } },
      auth: { existingSecret: 'admin', key: 'value' },
      master: { replicas: 2, ...podValues() },
      worker: { hostUsers: false, labels: ['region=eu'], toolsClaim: 'tools', ...podValues() },
      service: { type: 'LoadBalancer', port: 80, annotations: { a: 'b' } },
    },
    texts: ['hostUsers: false', 'serviceAccountName: mine'],
  },
}

function podValues(): object {
  return {
    env: [
      { name: 'SHODAN_API_KEY', valueFrom: { secretKeyRef: { name: 'shodan', key: 'key' } } },
      { name: 'HTTPS_PROXY', value: 'http://proxy:3128' },
    ],
    volumes: [{ name: 'extra', emptyDir: {} }],
    volumeMounts: [{ name: 'extra', mountPath: '/extra' }],
    podAnnotations: { a: 'b' },
    podLabels: { team: 'security' },
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: {},
      },
    ],
    priorityClassName: 'high',
    podDisruptionBudget: { maxUnavailable: 2 },
    drainSeconds: 600,
  }
}

/** Each set must be refused with an error that contains the text. */
const BAD: Record<string, readonly [values: object, error: string]> = {
  'no database': [{}, 'set database.existingSecret'],
  'two databases': [{ ...external, ...trial }, 'remove database.existingSecret and redis.existingSecret'],
  'unknown value': [{ ...trial, workers: 3 }, "additional properties 'workers' not allowed"],
  'unknown isolation': [{ ...trial, worker: { isolation: 'bubblewrap' } }, '/worker/isolation'],
  'secret in a variable': [
    { ...trial, worker: { env: [{ name: 'SHODAN_API_KEY', value: 'x' }] } },
    '/worker/env/0',
  ],
  'secret in the settings': [{ ...trial, settings: { llm: { api_key: 'x' } } }, '/settings/llm/api_key'],
  'setting of the chart': [{ ...trial, settings: { worker: { slots: 9 } } }, '/settings/worker/slots'],
  'no bucket': [{ ...trial, artifacts: { kind: 's3' } }, 'artifacts.s3.bucket is required'],
  'no host': [{ ...trial, ingress: { enabled: true } }, 'ingress.host is required'],
}

const helm = programPath('helm', cache)
const kubeconform = programPath('kubeconform', cache)
const schemas = schemaFolder(cache)

const render = (values: object): string =>
  run(
    helm,
    ['template', 'farm', chart, '--namespace', 'scans', '--kube-version', KUBERNETES, '--values', '-'],
    { input: JSON.stringify(values) },
  )

const problemsOf = ({ values, kinds = [], texts = [] }: (typeof GOOD)[string]): string[] => {
  run(helm, ['lint', chart, '--strict', '--quiet', '--kube-version', KUBERNETES, '--values', '-'], {
    input: JSON.stringify(values),
  })
  const text = render(values)
  run(
    kubeconform,
    [
      '-strict',
      '-schema-location',
      `${schemas}/{{.Group}}_{{.ResourceAPIVersion}}_{{.ResourceKind}}.json`,
      '-',
    ],
    { input: text },
  )
  const manifests = parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
  return [
    ...manifestProblems(manifests),
    ...kinds
      .filter((kind) => !manifests.some((one) => one.kind === kind))
      .map((kind) => `no ${kind} is rendered`),
    ...texts.filter((part) => !text.includes(part)).map((part) => `the manifests do not contain ${part}`),
  ]
}

const errorOf = (action: () => unknown): string => {
  try {
    action()
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

let failed = 0
const report = (name: string, problems: readonly string[]): void => {
  console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${name}`)
  for (const problem of problems) console.log(`     ${problem.replaceAll('\n', '\n     ')}`)
  failed += problems.length === 0 ? 0 : 1
}
for (const [name, set] of Object.entries(GOOD)) {
  let problems: string[] = []
  const error = errorOf(() => (problems = problemsOf(set)))
  report(name, error === '' ? problems : [error])
}
for (const [name, [values, expected]] of Object.entries(BAD)) {
  const error = errorOf(() => render(values))
  report(
    `${name} is refused`,
    error.includes(expected) ? [] : [`expected an error with "${expected}", got: ${error || 'none'}`],
  )
}
console.log(failed === 0 ? 'the chart is valid' : `${failed} sets of values failed`)
process.exitCode = failed === 0 ? 0 : 1
