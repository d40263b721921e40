// npm run test:chart: renders the Helm chart with each set of values.yaml and validates the manifests against the schemas of
// Kubernetes, KEDA and the Prometheus operator. Needs helm and kubeconform, or Go.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { KUBERNETES, programPath, run, schemaFolder } from './tools.ts'

interface Sets {
  readonly good: Readonly<Record<string, Good>>
  readonly bad: Readonly<Record<string, { readonly values: object; readonly error: string }>>
}
interface Good {
  readonly values: object
  readonly kinds?: readonly string[]
  readonly texts?: readonly string[]
}

const chart = join(import.meta.dirname, '../../infra/helm/scanfarm')
const cache = join(import.meta.dirname, '../../.cache/chart')
const sets = parse(readFileSync(join(import.meta.dirname, 'values.yaml'), 'utf8')) as Sets
const helm = programPath('helm', cache)
const kubeconform = programPath('kubeconform', cache)
const schemas = `${schemaFolder(cache)}/{{.Group}}_{{.ResourceAPIVersion}}_{{.ResourceKind}}.json`

const helmWith = (values: object, ...args: string[]): string =>
  run(helm, [...args, '--kube-version', KUBERNETES, '--values', '-'], { input: JSON.stringify(values) })
const render = (values: object): string => helmWith(values, 'template', 'farm', chart, '--namespace', 'scans')

const problemsOf = ({ values, kinds = [], texts = [] }: Good): string[] => {
  helmWith(values, 'lint', chart, '--strict', '--quiet')
  const text = render(values)
  run(kubeconform, ['-strict', '-schema-location', schemas, '-'], { input: text })
  const rendered = parseAllDocuments(text).map((one) => (one.toJS() as { kind?: string } | null)?.kind)
  return [
    ...kinds.filter((kind) => !rendered.includes(kind)).map((kind) => `no ${kind} is rendered`),
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
for (const [name, set] of Object.entries(sets.good)) {
  let problems: string[] = []
  const error = errorOf(() => (problems = problemsOf(set)))
  report(name, error === '' ? problems : [error])
}
for (const [name, { values, error }] of Object.entries(sets.bad)) {
  const found = errorOf(() => render(values))
  const isRight = found.includes(error)
  report(`${name} is refused`, isRight ? [] : [`expected an error with "${error}", got: ${found || 'none'}`])
}
console.log(failed === 0 ? 'the chart is valid' : `${failed} sets of values failed`)
process.exitCode = failed === 0 ? 0 : 1
