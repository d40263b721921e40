export interface GcpSettings {
  /** A JSON file: the key of a service account, or how another identity is exchanged for one. Without it: the library's usual chain. */
  readonly credentialsFile: string | undefined
  /** Without it: that of the credentials. */
  readonly project: string | undefined
  readonly zone: string | undefined
  /** Where machines of a region are made when the caller names no zone of it. */
  readonly zones: readonly string[]
  readonly type: string | undefined
  /** `projects/…/global/images/…` or `…/family/…`; without it the newest Ubuntu 24.04. */
  readonly image: string | undefined
  /** Name of a network, or `regions/…/subnetworks/…`. */
  readonly network: string | undefined
  readonly endpoint: string | undefined
  readonly privateAddress: boolean
  readonly prices: Readonly<Record<string, number>>
}

export const DEFAULT_ZONE = 'us-central1-a'
export const DEFAULT_TYPE = 'e2-medium'
/** Made by the machine's agent, of the key in its metadata. */
export const SSH_USER = 'scanfarm'
