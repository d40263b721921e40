export interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly spec?: PodSpec & {
    readonly template?: { readonly metadata: Manifest['metadata']; readonly spec: PodSpec }
    readonly selector?: Selector
    readonly volumeClaimTemplates?: readonly Pick<Manifest, 'metadata'>[]
  }
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>
}

interface SecurityContext {
  readonly runAsUser?: number
  readonly runAsNonRoot?: boolean
  readonly allowPrivilegeEscalation?: boolean
  readonly readOnlyRootFilesystem?: boolean
  readonly seccompProfile?: { readonly type: string }
  readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] }
}

interface Container {
  readonly name: string
  readonly image: string
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly securityContext?: SecurityContext
  readonly resources?: { readonly requests?: object; readonly limits?: { readonly memory?: string } }
  readonly readinessProbe?: object
  readonly volumeMounts?: readonly { readonly name: string }[]
}

interface PodSpec {
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly volumes?: readonly { readonly name: string }[]
  readonly automountServiceAccountToken?: boolean
  readonly securityContext?: SecurityContext
  readonly terminationGracePeriodSeconds?: number
}

/** Of the Pod Security level baseline. */
const ISOLATION_CAPABILITIES = ['SETUID', 'SETGID', 'KILL', 'CHOWN']
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL|REDIS_URL)$/
const CREDENTIALS = /:\/\/[^/\s"]*:[^/\s"@]+@/

const containerProblems = (pod: PodSpec, claims: readonly string[], container: Container): string[] => {
  const { securityContext: security = {}, resources, env = [], volumeMounts = [] } = container
  const isRoot = pod.securityContext?.runAsUser === 0
  const added = security.capabilities?.add ?? []
  const volumes = new Set([...claims, ...(pod.volumes ?? []).map(({ name }) => name)])
  const rules: [boolean, string][] = [
    [security.allowPrivilegeEscalation === false, 'allows privilege escalation'],
    [security.readOnlyRootFilesystem === true, 'can write to its root file system'],
    [security.capabilities?.drop?.join() === 'ALL', 'keeps capabilities'],
    [isRoot || added.length === 0, `is not root but adds ${added.join()}`],
    [added.every((name) => ISOLATION_CAPABILITIES.includes(name)), `adds ${added.join()}`],
    [
      resources?.requests !== undefined && resources.limits?.memory !== undefined,
      'has no requests or no memory limit',
    ],
    [/:[\w.-]+$/.test(container.image), `has an image without a tag: ${container.image}`],
    ...env.map(({ name, value = '' }): [boolean, string] => [
      !(SECRET_NAME.test(name) && value !== '') && !CREDENTIALS.test(value),
      `has a secret in the variable ${name}`,
    ]),
    ...volumeMounts.map(({ name }): [boolean, string] => [
      volumes.has(name),
      `mounts ${name}, which is no volume of the pod`,
    ]),
  ]
  return rules.filter(([holds]) => !holds).map(([, problem]) => `container ${container.name} ${problem}`)
}

const podProblems = (manifest: Manifest, pod: PodSpec): string[] => {
  const {
    securityContext: security = {},
    containers = [],
    initContainers = [],
    terminationGracePeriodSeconds: grace = 30,
  } = pod
  const drains = containers.flatMap(({ env = [] }) => env).filter(({ name }) => name.endsWith('_DRAIN_MS'))
  const claims = manifest.spec?.volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? []
  const names = pod.volumes?.map(({ name }) => name) ?? []
  const rules: [boolean, string][] = [
    [pod.automountServiceAccountToken === false, 'mounts a token of the service account'],
    [security.seccompProfile?.type === 'RuntimeDefault', 'has no seccomp profile'],
    [
      security.runAsNonRoot === true ||
        (security.runAsUser === 0 && manifest.metadata.name.endsWith('-worker')),
      'may run as root',
    ],
    [new Set(names).size === names.length, 'has two volumes of the same name'],
    [
      manifest.kind === 'Pod' || containers.every(({ readinessProbe }) => readinessProbe !== undefined),
      'has no readiness probe',
    ],
    [
      drains.every(({ value = '' }) => grace * 1000 >= Number(value) + 45_000),
      'is killed before it has drained',
    ],
  ]
  return [
    ...rules.filter(([holds]) => !holds).map(([, problem]) => problem),
    ...[...initContainers, ...containers].flatMap((container) => containerProblems(pod, claims, container)),
  ]
}

const selects = ({ matchLabels = {} }: Selector, labels: Readonly<Record<string, string>> = {}): boolean =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value)

/** What is wrong with the manifests of one release. */
export const manifestProblems = (manifests: readonly Manifest[]): string[] => {
  const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`)
  const pods = manifests.filter(({ spec }) => spec?.template !== undefined)
  return [
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => `${name} is rendered twice`),
    ...manifests.flatMap((manifest) => {
      const { kind, metadata, spec } = manifest
      const pod = spec?.template?.spec ?? (kind === 'Pod' ? spec : undefined)
      const problems = pod === undefined ? [] : podProblems(manifest, pod)
      if (spec?.template !== undefined && !selects(spec.selector ?? {}, spec.template.metadata.labels))
        problems.push('does not select its pods')
      if (
        kind === 'PodDisruptionBudget' &&
        pods.filter(({ spec: one }) => selects(spec?.selector ?? {}, one?.template?.metadata.labels))
          .length !== 1
      )
        problems.push('does not select the pods of exactly one workload')
      return problems.map((problem) => `${kind}/${metadata.name} ${problem}`)
    }),
  ]
}
