/** Absolute folders on the worker's machine; `""` if there is none. */
export interface Folders {
  /** The run's output folder, which exists. `{{Output}}` */
  readonly output: string
  /** Temporary folder of this attempt; created on demand and removed by the caller. `{{TempDir}}` */
  readonly temp: string
  readonly base?: string
  readonly workspaces?: string
  /** Also prepended to PATH. */
  readonly binaries?: string
  readonly data?: string
  readonly configs?: string
  readonly agentConfigs?: string
  readonly scripts?: string
  readonly workflows?: string
  readonly templates?: string
  /** Only for its name: workflows have no access to it. */
  readonly snapshots?: string
}

/** Effects outside the run. They are injected, so that a run can be reproduced. */
export interface Ports {
  now(): Date
  /** Milliseconds of a monotonic clock. */
  monotonic(): number
  /** 0 ≤ x < 1 */
  random(): number
  uuid(): string
  /** Addresses of a host name; `[]` if there are none. Never rejects. */
  resolve(host: string): Promise<readonly string[]>
}
