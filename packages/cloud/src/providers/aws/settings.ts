export interface AwsSettings {
  /** With `secretKey`; without both, the SDK's usual chain (environment, profile, role of the machine). */
  readonly accessKey: string | undefined
  readonly secretKey: string | undefined
  readonly region: string | undefined
  /** Looked through for machines besides `region`. Machines are made nowhere else: they would never be found again. */
  readonly regions: readonly string[]
  readonly type: string | undefined
  /** An AMI, good in one region only; without it the newest Ubuntu 24.04 of Canonical in each region. */
  readonly image: string | undefined
  /** Without it: the default VPC. */
  readonly subnet: string | undefined
  readonly securityGroups: readonly string[]
  readonly endpoint: string | undefined
  /** Reach machines by their private address, and ask for no public one. */
  readonly privateAddress: boolean
  readonly prices: Readonly<Record<string, number>>
}

export const DEFAULT_REGION = 'us-east-1'
export const DEFAULT_TYPE = 't3.medium'
/** There in Ubuntu's images. */
export const SSH_USER = 'ubuntu'

export const regionsOf = (settings: AwsSettings): readonly string[] => [
  ...new Set([settings.region ?? DEFAULT_REGION, ...settings.regions]),
]
