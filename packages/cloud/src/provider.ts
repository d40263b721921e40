import type { CloudProviderName } from '@scanfarm/contracts'

/** Written by the very call that makes a machine, so that nothing is ever made that cannot be found again. */
export interface MachineLabels {
  /** Id of the farm: machines of other farms in the same account are never touched. */
  readonly farm: string
  readonly infra: string
  /** Unix time in seconds after which anybody may destroy it. */
  readonly expires: number
}

export interface MachineRequest {
  /** Unique in the farm: lower-case letters, digits and hyphens, at most 60. Asking twice for one name must not make two where the provider can tell. */
  readonly name: string
  readonly labels: MachineLabels
  readonly region: string
  readonly type: string
  readonly spot: boolean
  /** cloud-init user data: a `#cloud-config` document, not encoded. */
  readonly userData: string
  /** User with the key below; providers that insist on one of their own to create it get it here. */
  readonly sshUser: string
  /** `ssh-ed25519 AAAA…` */
  readonly publicKey: string
}

export type MachineState = 'starting' | 'running' | 'stopping' | 'gone'

export interface Machine {
  /** All that `describe` and `destroy` need, region included. */
  readonly id: string
  readonly name: string
  /** `stopping` and `gone` also for machines that the provider takes away (spot). */
  readonly state: MachineState
  /** Public address, or the private one where the settings say so; undefined while there is none. */
  readonly address: string | undefined
  /** Of sshd. */
  readonly port: number
  readonly labels: Partial<MachineLabels>
  /** The provider's words on the state, or "". */
  readonly message: string
}

export interface MachineKind {
  readonly region: string
  readonly type: string
  readonly spot: boolean
}

/**
 * A cloud. Every method rejects with a `CloudError`, or with the signal's reason. Calls have a time limit of their own;
 * what is safe to repeat (all but `create`) is repeated inside after 429 and 5xx, honouring `Retry-After` up to a bound.
 */
export interface CloudProvider extends AsyncDisposable {
  readonly name: CloudProviderName
  /** Used where neither caller nor settings say otherwise. `sshUser`: exists or is made by cloud-init. */
  readonly defaults: { readonly region: string; readonly type: string; readonly sshUser: string }
  /** Rejects with `credentials` unless the provider lets us in. Makes nothing. */
  check(signal: AbortSignal): Promise<void>
  /** One machine. After `unavailable` nobody knows whether it was made: look for its name in `list`. */
  create(request: MachineRequest, signal: AbortSignal): Promise<Machine>
  /** Undefined: the provider knows no such machine (any more, or not yet). */
  describe(id: string, signal: AbortSignal): Promise<Machine | undefined>
  /** With everything that was made for it. One that is gone already is fine. Returns when the provider has accepted. */
  destroy(id: string, signal: AbortSignal): Promise<void>
  /** All machines with the farm's label, of all regions in use, whatever their state but `gone`; all pages. */
  list(farm: string, signal: AbortSignal): Promise<Machine[]>
  /** US dollars an hour; undefined: not known. */
  price(kind: MachineKind, signal: AbortSignal): Promise<number | undefined>
}

export type CloudProblem =
  /** The provider does not let us in. */
  | 'credentials'
  /** A quota, a bad size or image: the same call will be refused again. */
  | 'refused'
  /** Nothing of that kind is free there now. */
  | 'capacity'
  /** Unreachable, overloaded, broken; the outcome of a create is not known. */
  | 'unavailable'

/** `message` has the provider's own words. */
export class CloudError extends Error {
  override readonly name = 'CloudError'
  readonly problem: CloudProblem
  /** Time after which the provider would like to be asked again. */
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
