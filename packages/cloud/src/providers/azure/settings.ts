export interface AzureSettings {
  /** With `client` and `secret`; without all three, the library's usual chain (environment, managed identity). */
  readonly tenant: string | undefined
  readonly client: string | undefined
  readonly secret: string | undefined
  readonly subscription: string | undefined
  /** All machines are made in it; it may hold other things besides. */
  readonly resourceGroup: string | undefined
  readonly region: string | undefined
  readonly type: string | undefined
  /** `publisher:offer:sku:version`, or the id of an image; without it the newest Ubuntu 24.04. */
  readonly image: string | undefined
  /** `network/subnet` in the resource group, or an id. Its security group must let ssh in. */
  readonly subnet: string | undefined
  readonly endpoint: string | undefined
  /** Where tokens are to be had. */
  readonly authority: string | undefined
  readonly privateAddress: boolean
  readonly prices: Readonly<Record<string, number>>
}

export const DEFAULT_REGION = 'westeurope'
export const DEFAULT_TYPE = 'Standard_B2s'
/** Made by the machine's agent. Azure takes no `root` and no `admin`. */
export const SSH_USER = 'scanfarm'
