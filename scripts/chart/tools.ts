import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** Of the Kubernetes of the schemas, which is also the one that Helm renders for. */
export const KUBERNETES = 'v1.34.2'

const PROGRAMS = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
}
const CUSTOM_RESOURCES = [
  ['github.com/kedacore/keda/v2@v2.18.1', 'config/crd/bases'],
  ['github.com/prometheus-operator/prometheus-operator@v0.85.0', 'example/prometheus-operator-crd'],
] as const

/** The standard output of a command; an error with its whole output if it fails. */
export const run = (
  command: string,
  args: readonly string[],
  options: { input?: string; env?: NodeJS.ProcessEnv; cwd?: string } = {},
): string => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    ...options,
  })
  if (error !== undefined) throw new Error(`${command}: ${error.message}`)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  return stdout
}

const hasProgram = (name: string): boolean =>
  spawnSync(name, ['version'], { stdio: 'ignore' }).error === undefined

const demandGo = (what: string): void => {
  if (!hasProgram('go'))
    throw new Error(`${what} comes from the Go module proxy: install Go 1.24 or newer (https://go.dev/dl)`)
}

/** The path of a program: the one on PATH, or the pinned version, which is built in `cache`. */
export const programPath = (name: keyof typeof PROGRAMS, cache: string): string => {
  const built = join(cache, 'bin', name)
  if (existsSync(built)) return built
  if (spawnSync(name, ['-h'], { stdio: 'ignore' }).error === undefined) return name
  demandGo(`${name} is not on PATH and`)
  console.error(`building ${PROGRAMS[name]}`)
  run('go', ['install', PROGRAMS[name]], {
    env: { ...process.env, GOBIN: join(cache, 'bin'), GOFLAGS: '-buildvcs=false' },
  })
  return built
}

const moduleFolder = (name: string, cwd: string): string => {
  console.error(`downloading the schemas of ${name}`)
  return (JSON.parse(run('go', ['mod', 'download', '-json', name], { cwd })) as { Dir: string }).Dir
}

interface Schema {
  [key: string]: unknown
  properties?: Record<string, Schema>
}

/** Refuses unknown fields, which a JSON schema allows and the server drops. */
const strict = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(strict)
  if (typeof schema !== 'object' || schema === null) return schema
  const { format, ...rest } = schema as Schema
  if (format === 'int-or-string' || rest['x-kubernetes-int-or-string'] === true)
    return { type: ['string', 'integer'] }
  const result = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, strict(value)]))
  const isOpen = 'additionalProperties' in rest || rest['x-kubernetes-preserve-unknown-fields'] === true
  // Values of `properties` are schemas; a field may have the name `properties` too.
  return typeof rest.properties === 'object' && rest.type === 'object' && !isOpen
    ? { ...result, additionalProperties: false }
    : result
}

interface Definition extends Schema {
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
}
interface CustomResource {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly {
      readonly name: string
      readonly schema: { readonly openAPIV3Schema: Schema }
    }[]
  }
}

const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** A folder with a schema for each kind, GROUP_VERSION_KIND.json (v1_v1_pod.json for the core group), from the modules that define them. */
export const schemaFolder = (cache: string): string => {
  const folder = join(cache, `schemas-${KUBERNETES}`)
  if (existsSync(folder)) return folder
  demandGo('Schemas of Kubernetes')
  const fresh = `${folder}.${process.pid}`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { recursive: true })
  const write = (name: string, schema: unknown): void =>
    writeFileSync(join(fresh, name), JSON.stringify(schema))
  const kubernetes = moduleFolder(`k8s.io/kubernetes@${KUBERNETES}`, fresh)
  const { definitions } = JSON.parse(
    readFileSync(join(kubernetes, 'api/openapi-spec/swagger.json'), 'utf8').replaceAll(
      '"#/definitions/',
      '"definitions.json#/definitions/',
    ),
  ) as { definitions: Record<string, Definition> }
  const strictDefinitions = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, strict(schema)]),
  )
  write('definitions.json', {
    definitions: { ...strictDefinitions, [QUANTITY]: { type: ['string', 'number'] } },
  })
  for (const [name, { 'x-kubernetes-group-version-kind': kinds = [] }] of Object.entries(definitions))
    for (const { group, version, kind } of kinds)
      write(`${group || version}_${version}_${kind.toLowerCase()}.json`, {
        $ref: `definitions.json#/definitions/${name}`,
      })
  for (const [module, path] of CUSTOM_RESOURCES) {
    const crds = join(moduleFolder(module, fresh), path)
    for (const file of readdirSync(crds)) {
      const { spec } = parse(readFileSync(join(crds, file), 'utf8')) as CustomResource
      for (const { name, schema } of spec.versions) {
        const { properties, ...rest } = strict(schema.openAPIV3Schema) as Schema
        const metadata = { $ref: `definitions.json#/definitions/${META}` }
        write(`${spec.group}_${name}_${spec.names.kind.toLowerCase()}.json`, {
          ...rest,
          properties: { ...properties, metadata },
        })
      }
    }
  }
  renameSync(fresh, folder)
  return folder
}
