import type { CloudProviderName } from '@scanfarm/contracts'

/** Set by the create call itself, so that every machine can be found by them. */
export interface MachineLabels {
  /** Id of the farm. Farms may share an account: machines of other farms are never touched. */
  readonly farm: string
  readonly infra: string
  /** Unix time in seconds after which any server of the farm may destroy the machine. */
  readonly expires: number
}

export interface MachineRequest {
  /**
   * Unique in the farm: at most 60 lower-case letters, digits and hyphens. Where the provider allows it, a second call with
   * the same name creates no second machine.
   */
  readonly name: string
  readonly labels: MachineLabels
  readonly region: string
  readonly type: string
  readonly spot: boolean
  /** cloud-init user data: a `#cloud-config` document, not encoded. */
  readonly userData: string
  /** User with the key below, for providers that create a user themselves. */
  readonly sshUser: string
  /** `ssh-ed25519 AAAA…` */
  readonly publicKey: string
}

export type MachineState = 'starting' | 'running' | 'stopping' | 'gone'

export interface Machine {
  /** Sufficient for `describe` and `destroy`: contains the region where the provider needs it. */
  readonly id: string
  readonly name: string
  /** `stopping` and `gone` include interrupted spot machines. */
  readonly state: MachineState
  /** Public address, or the private one with `private_address`; undefined while there is none. */
  readonly address: string | undefined
  /** Of sshd. */
  readonly port: number
  readonly labels: Partial<MachineLabels>
  /** The provider's message about the state, or "". */
  readonly message: string
}

export interface MachineKind {
  readonly region: string
  readonly type: string
  readonly spot: boolean
}

/**
 * A cloud. Every method rejects with a `CloudError` or with the signal's reason. Calls have time limits. All methods but
 * `create` retry after 429 and 5xx and respect `Retry-After` up to a limit.
 */
export interface CloudProvider extends AsyncDisposable {
  readonly name: CloudProviderName
  /** Defaults of region and type. `sshUser` exists in the image or is created by cloud-init. */
  readonly defaults: { readonly region: string; readonly type: string; readonly sshUser: string }
  /** Rejects with `credentials` unless the provider accepts the credentials. Creates nothing. */
  check(signal: AbortSignal): Promise<void>
  /** Creates one machine. After `unavailable` the outcome is unknown: search its name in `list`. */
  create(request: MachineRequest, signal: AbortSignal): Promise<Machine>
  /** Undefined when the provider has no such machine, or does not show it yet. */
  describe(id: string, signal: AbortSignal): Promise<Machine | undefined>
  /** Destroys the machine and everything that was created with it; succeeds if it is gone. Returns when the provider has accepted. */
  destroy(id: string, signal: AbortSignal): Promise<void>
  /** All machines with the farm's label in all regions in use, in any state but `gone`. */
  list(farm: string, signal: AbortSignal): Promise<Machine[]>
  /** US dollars an hour; undefined: not known. */
  price(kind: MachineKind, signal: AbortSignal): Promise<number | undefined>
}

export type CloudProblem =
  /** The provider does not accept the credentials. */
  | 'credentials'
  /** An exceeded quota, an unknown type or image: the same call will be refused again. */
  | 'refused'
  /** No machine of this kind is available in the region now. */
  | 'capacity'
  /** Unreachable, overloaded or failing. The outcome of a create call is unknown. */
  | 'unavailable'

/** `message` contains the provider's own message. */
export class CloudError extends Error {
  override readonly name = 'CloudError'
  readonly problem: CloudProblem
  /** Delay that the provider asks for. */
  readonly retryAfterMs: number | undefined

  constructor(
    problem: CloudProblem,
    message: string,
    options: { retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.problem = problem
    this.retryAfterMs = options.retryAfterMs
  }
}
