import type { CreateRequest } from './conformance.ts'
import type { Answer, Asked, Cloud, AnsweredFault } from './fake-api.ts'

// No package contains Azure's API description. The models of the client libraries enforce the names and types of requests,
// at compile time and in their serializers. The rules in Azure's documentation are implemented here.

export interface AzureCloud extends Cloud {
  there(): string[]
  createRequest(name: string): CreateRequest
  plant(count: number, farm: string): void
  sentFor(name: string): Sent | undefined
  /** Existing cards and addresses. */
  parts(): string[]
  /** Removes a machine but not its card and address. */
  loseMachine(name: string): void
  /** The machine was accepted but does not come up. */
  failMachine(name: string, message: string): void
}

type Tags = Readonly<Record<string, string>>
interface AddressConfiguration {
  readonly name: string
  readonly tags?: Tags
  readonly sku?: { readonly name?: string }
  readonly properties?: { readonly deleteOption?: string; readonly publicIPAllocationMethod?: string }
}
interface CardConfiguration {
  readonly name: string
  readonly tags?: Tags
  readonly properties?: {
    readonly primary?: boolean
    readonly deleteOption?: string
    readonly ipConfigurations?: readonly {
      readonly name: string
      readonly properties?: {
        readonly subnet?: { readonly id?: string }
        readonly publicIPAddressConfiguration?: AddressConfiguration
      }
    }[]
  }
}
export interface Sent {
  readonly location: string
  readonly tags?: Tags
  readonly properties: {
    readonly hardwareProfile: { readonly vmSize: string }
    readonly storageProfile: {
      readonly imageReference?: object
      readonly osDisk?: { readonly createOption: string; readonly deleteOption?: string }
    }
    readonly osProfile: {
      readonly computerName?: string
      readonly adminUsername?: string
      readonly customData?: string
      readonly linuxConfiguration?: {
        readonly disablePasswordAuthentication?: boolean
        readonly ssh?: {
          readonly publicKeys?: readonly { readonly path?: string; readonly keyData?: string }[]
        }
      }
    }
    readonly networkProfile: {
      readonly networkApiVersion?: string
      readonly networkInterfaceConfigurations?: readonly CardConfiguration[]
    }
    readonly priority?: string
    readonly evictionPolicy?: string
    readonly billingProfile?: { readonly maxPrice?: number }
  }
}

interface Kept {
  readonly name: string
  readonly sent: Sent
  state: 'Creating' | 'Succeeded' | 'Deleting' | 'Failed'
  error?: string
}
interface Part {
  readonly kind: 'networkInterfaces' | 'publicIPAddresses'
  readonly name: string
  readonly tags: Tags
  readonly number: number
  /** Deleted together with its machine. */
  readonly machine: string
  readonly card?: string
  readonly address?: string
}

export const TOKEN = 'eyJ.the-token'
export const SUBSCRIPTION = '11111111-2222-3333-4444-555555555555'
export const GROUP = 'farm'
export const WORDS = {
  quota:
    'Operation could not be completed as it results in exceeding approved Total Regional Cores quota. Current Limit: 10',
  capacity:
    "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: Standard_B2s'",
}
const PAGE_SIZE = 10
const ROOT = `/subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}/providers`
const PATH = new RegExp(`^${ROOT}/Microsoft\\.(Compute|Network)/(\\w+)(?:/([^/]+))?$`)

export function azureCloud(): AzureCloud {
  const machines = new Map<string, Kept>()
  const parts = new Map<string, Part>()
  let numbers = 0

  const partsOf = (machine: string) => [...parts].filter(([, part]) => part.machine === machine)
  const makeParts = (name: string, sent: Sent): void => {
    for (const config of sent.properties.networkProfile.networkInterfaceConfigurations ?? []) {
      const number = ++numbers
      const wanted = config.properties?.ipConfigurations?.[0]?.properties?.publicIPAddressConfiguration
      // Azure appends a suffix to the names.
      const card = `${config.name}-nic-${number}`
      const address = wanted && `${wanted.name}-ip-${number}`
      parts.set(`networkInterfaces/${card}`, {
        kind: 'networkInterfaces',
        name: card,
        tags: config.tags ?? {},
        number,
        machine: name,
        ...(address && { address }),
      })
      if (address)
        parts.set(`publicIPAddresses/${address}`, {
          kind: 'publicIPAddresses',
          name: address,
          tags: wanted.tags ?? {},
          number,
          machine: name,
          card,
        })
    }
  }

  const machineBody = ({ name, sent, state, error }: Kept, withView: boolean) => ({
    id: `${ROOT}/Microsoft.Compute/virtualMachines/${name}`,
    name,
    location: sent.location,
    tags: sent.tags,
    properties: {
      provisioningState: state,
      hardwareProfile: sent.properties.hardwareProfile,
      networkProfile: {
        networkInterfaces: partsOf(name)
          .filter(([, { kind }]) => kind === 'networkInterfaces')
          // Azure sometimes returns ids in upper case.
          .map(([, part]) => ({
            id: idOf(part).toUpperCase(),
            properties: { primary: true, deleteOption: 'Delete' },
          })),
      },
      ...(withView && {
        instanceView: {
          statuses: [
            ...(error ? [{ code: 'ProvisioningState/failed', level: 'Error', message: error }] : []),
            ...(state === 'Succeeded' ? [{ code: 'PowerState/running', level: 'Info' }] : []),
          ],
        },
      }),
    },
  })

  const make = (name: string, asked: Asked): Answer => {
    if (asked.headers['if-none-match'] === '*' && machines.has(name))
      return refusal(412, 'PreconditionFailed', `The resource ${name} is there already`)
    // The library guarantees the shape; the content is checked below.
    const sent = asked.body as Sent
    const broken = brokenRule(sent)
    if (broken) return refusal(400, 'InvalidParameter', broken)
    const kept: Kept = { name, sent, state: 'Creating' }
    machines.set(name, kept)
    makeParts(name, sent)
    return { status: 201, body: machineBody(kept, false), headers: operation(asked) }
  }

  const bodyOf = (kept: Kept, withView: boolean) => {
    const body = machineBody(kept, withView)
    if (kept.state === 'Creating') kept.state = 'Succeeded'
    if (kept.state === 'Deleting') {
      machines.delete(kept.name)
      for (const [key] of partsOf(kept.name)) parts.delete(key)
    }
    return body
  }

  const deletePart = (key: string, asked: Asked): Answer => {
    const part = parts.get(key)
    if (!part) return { status: 204 }
    if (machines.has(part.machine)) return refusal(400, 'NicInUse', `${key} is used by ${part.machine}`)
    if (part.card && parts.has(`networkInterfaces/${part.card}`))
      return refusal(400, 'PublicIPAddressCannotBeDeleted', `${key} is in use by ${part.card}`)
    parts.delete(key)
    return { status: 202, headers: operation(asked) }
  }

  const listed = (kind: string, asked: Asked): Answer => {
    const all =
      kind === 'virtualMachines'
        ? [...machines.values()]
        : [...parts.values()].filter((part) => part.kind === kind)
    const from = Number(asked.query.get('$skiptoken') ?? 0)
    const page = all.slice(from, from + PAGE_SIZE)
    const nextLink = `https://${asked.headers.host}${asked.path}?api-version=${asked.query.get('api-version')}&$skiptoken=${from + PAGE_SIZE}`
    const value = page.map((one) => ('sent' in one ? bodyOf(one, false) : partBody(one, parts)))
    return { status: 200, body: { value, ...(from + PAGE_SIZE < all.length && { nextLink }) } }
  }

  const done = (asked: Asked): Answer => {
    if (asked.path === '/operations/1') return { status: 200, body: { status: 'Succeeded' } }
    const [, , kind = '', name] = PATH.exec(asked.path) ?? []
    if (kind === '') return refusal(404, 'ResourceGroupNotFound', `There is no ${asked.path}`)
    if (name === undefined) return listed(kind, asked)
    if (kind !== 'virtualMachines') return deletePart(`${kind}/${name}`, asked)
    if (asked.method === 'PUT') return make(name, asked)
    const kept = machines.get(name)
    if (asked.method === 'DELETE') {
      if (!kept) return { status: 204 }
      kept.state = 'Deleting'
      return { status: 202, headers: operation(asked) }
    }
    if (!kept) return refusal(404, 'ResourceNotFound', `The Resource '${name}' was not found.`)
    return { status: 200, body: bodyOf(kept, asked.query.get('$expand') === 'instanceView') }
  }

  return {
    sortOf: ({ method }) => (method === 'PUT' ? 'create' : method === 'DELETE' ? 'destroy' : 'read'),
    answer: (asked) =>
      asked.headers.authorization === `Bearer ${TOKEN}`
        ? done(asked)
        : refusal(401, 'InvalidAuthenticationToken', 'The access token is invalid.'),
    failure: failureOf,
    violations(asked) {
      if (asked.path === '/operations/1') return []
      return [
        ...(PATH.test(asked.path) ? [] : [`there is no ${asked.path}`]),
        ...(/^\d{4}-\d\d-\d\d$/.test(asked.query.get('api-version') ?? '') ? [] : ['no version is named']),
      ]
    },
    there: () => [...machines.values()].filter(({ state }) => state !== 'Deleting').map(({ name }) => name),
    createRequest: (name) => ({
      userData: Buffer.from(
        machines.get(name)?.sent.properties.osProfile.customData ?? '',
        'base64',
      ).toString(),
    }),
    plant(count, farm) {
      for (let n = 0; n < count; n++) {
        const name = `planted-${farm}-${n}`
        const tags = { 'scanfarm-farm': farm, 'scanfarm-name': name }
        const sent = { location: 'westeurope', tags, properties: EMPTY }
        machines.set(name, { name, sent, state: 'Succeeded' })
      }
    },
    sentFor: (name) => machines.get(name)?.sent,
    parts: () => [...parts.keys()],
    loseMachine: (name) => void machines.delete(name),
    failMachine(name, error) {
      const kept = machines.get(name)
      if (kept) Object.assign(kept, { state: 'Failed', error })
    },
  }
}

const EMPTY: Sent['properties'] = {
  hardwareProfile: { vmSize: '' },
  storageProfile: {},
  osProfile: {},
  networkProfile: {},
}

const idOf = ({ kind, name }: Part): string => `${ROOT}/Microsoft.Network/${kind}/${name}`

function partBody(part: Part, parts: ReadonlyMap<string, Part>) {
  const { name, tags, number, address, card } = part
  const bare = { id: idOf(part), name, tags, location: 'westeurope' }
  if (part.kind === 'publicIPAddresses') {
    const used = card && parts.has(`networkInterfaces/${card}`)
    const config = { id: `${ROOT}/Microsoft.Network/networkInterfaces/${card}/ipConfigurations/main` }
    return {
      ...bare,
      properties: { ipAddress: `203.0.113.${number}`, ...(used && { ipConfiguration: config }) },
    }
  }
  const id = `${ROOT}/Microsoft.Network/publicIPAddresses/${address}`
  const properties = { privateIPAddress: `10.1.0.${number}`, ...(address && { publicIPAddress: { id } }) }
  return { ...bare, properties: { ipConfigurations: [{ name: 'main', properties }] } }
}

const operation = (asked: Asked) => ({
  'azure-asyncoperation': `https://${asked.headers.host}/operations/1?api-version=2022-11-01`,
})

/** Rules of Azure's documentation. */
function brokenRule({ location, properties }: Sent): string | undefined {
  const { osProfile, networkProfile, storageProfile, hardwareProfile, priority, evictionPolicy } = properties
  const [card] = networkProfile.networkInterfaceConfigurations ?? []
  const linux = osProfile.linuxConfiguration
  const rules: readonly (readonly [boolean, string])[] = [
    [/^[a-z0-9]+$/.test(location), 'location'],
    [
      /^Standard_\w+$/.test(hardwareProfile.vmSize),
      `The value ${hardwareProfile.vmSize} provided for the VM size is not valid.`,
    ],
    [storageProfile.osDisk?.createOption === 'FromImage', 'osDisk.createOption'],
    [storageProfile.osDisk?.deleteOption === 'Delete', 'osDisk.deleteOption'],
    [storageProfile.imageReference !== undefined, 'imageReference'],
    [/^[a-z][a-z0-9-]{0,63}$/.test(osProfile.computerName ?? ''), 'computerName'],
    [!['admin', 'root', 'user', ''].includes(osProfile.adminUsername ?? ''), 'adminUsername'],
    [/^[A-Za-z0-9+/]*=*$/.test(osProfile.customData ?? ''), 'customData'],
    [linux?.disablePasswordAuthentication === true, 'adminPassword'],
    [
      linux?.ssh?.publicKeys?.[0]?.path === `/home/${osProfile.adminUsername}/.ssh/authorized_keys`,
      'linuxConfiguration.ssh.publicKeys.path',
    ],
    [['2020-11-01', '2022-11-01'].includes(networkProfile.networkApiVersion ?? ''), 'networkApiVersion'],
    [card?.properties?.primary === true, 'networkInterfaceConfiguration.primary'],
    [(card?.properties?.ipConfigurations?.[0]?.properties?.subnet?.id ?? '').includes('/subnets/'), 'subnet'],
    [priority === 'Spot' || evictionPolicy === undefined, 'evictionPolicy'],
  ]
  return rules.find(([good]) => !good)?.[1]
}

function failureOf(fault: AnsweredFault): Answer {
  switch (fault.kind) {
    case 'throttled':
      return {
        ...refusal(429, 'TooManyRequests', 'The request is being throttled.'),
        headers: { 'retry-after': String(fault.afterS) },
      }
    case 'broken':
      return {
        status: 500,
        body: { error: { code: 'InternalServerError', message: 'Encountered internal server error.' } },
      }
    case 'quota':
      return refusal(409, 'OperationNotAllowed', WORDS.quota)
    case 'capacity':
      return refusal(409, 'SkuNotAvailable', WORDS.capacity)
    case 'denied':
      return refusal(403, 'AuthorizationFailed', 'The client does not have authorization to perform action')
  }
}

const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message } },
})
