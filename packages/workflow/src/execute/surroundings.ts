/** Absolute folders on the executor's machine; `""` where there is none. */
export interface Folders {
  /** Where the run puts its files; exists. `{{Output}}` */
  readonly output: string
  /** Scratch space of this attempt; made when it is needed and left to the caller to remove. `{{TempDir}}` */
  readonly temp: string
  readonly base?: string
  readonly workspaces?: string
  /** Also put in front of PATH. */
  readonly binaries?: string
  readonly data?: string
  readonly configs?: string
  readonly agentConfigs?: string
  readonly scripts?: string
  readonly workflows?: string
  readonly templates?: string
  /** Only a name: workflows have no right to it by that. */
  readonly snapshots?: string
}

/** What the outside world looks like to a run; given from outside so that a run can be repeated exactly. */
export interface Ports {
  now(): Date
  /** Milliseconds of a clock that never jumps. */
  monotonic(): number
  /** 0 ≤ x < 1 */
  random(): number
  uuid(): string
  /** Addresses of a host name; `[]` when there are none. Never rejects. */
  resolve(host: string): Promise<readonly string[]>
}

export interface Owner {
  readonly uid: number
  readonly gid: number
}
