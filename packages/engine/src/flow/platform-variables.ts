import { valueOr } from '@scanfarm/contracts'
import { existsSync, readFileSync } from 'node:fs'

const KUBERNETES = '/var/run/secrets/kubernetes.io'
/** Words in the names that a cloud provider gives its machines. */
const PROVIDERS: readonly (readonly [string, RegExp])[] = [
  ['aws', /amazon|ec2/i],
  ['gcp', /google/i],
  ['azure', /microsoft corporation/i],
  ['digitalocean', /digitalocean/i],
  ['hetzner', /hetzner/i],
  ['linode', /linode|akamai/i],
]

const textOf = (path: string): string => valueOr(() => readFileSync(path, 'utf8'), '')

const detect = () => {
  const machine = ['sys_vendor', 'product_name', 'board_vendor']
    .map((name) => textOf(`/sys/class/dmi/id/${name}`))
    .join(' ')
  return {
    PlatformInDocker: existsSync('/.dockerenv'),
    PlatformInKubernetes: existsSync(KUBERNETES),
    PlatformCloudProvider: PROVIDERS.find(([, pattern]) => pattern.test(machine))?.[0] ?? 'local',
  }
}

let detected: ReturnType<typeof detect> | undefined

/** The machine that executes the engine, from files that containers and machines of providers have. */
export const platformVariables = (): ReturnType<typeof detect> => (detected ??= detect())
