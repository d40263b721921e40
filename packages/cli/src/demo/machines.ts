/** What `--down` needs to know about machines that were kept. */
export interface MachinesState {
  readonly engine: { readonly address: string; readonly folder: string }
  /** Id of their farm, from their labels; "" until a machine was seen. */
  readonly farm: string
}

/** The machines of the demo's cloud. Disposing removes them all. */
export interface Machines extends AsyncDisposable {
  /** Address of this system for machines; other systems cannot reach it. */
  readonly host: string
  /** Settings of a server, as environment, whose default provider creates such machines. */
  readonly env: Readonly<Record<string, string>>
  readonly state: MachinesState
  /** Records the farm of an infrastructure: all its machines will be removed. */
  belongTo(infraId: string): Promise<void>
  /** Names of the machines that exist for this infrastructure, whatever their state. */
  of(infraId: string): Promise<string[]>
}

export interface DemoSetup {
  /** For the data and the logs. */
  readonly folder: string
  /** The words that start `scanfarm`. */
  readonly program: readonly string[]
  /** The words with which a user starts `scanfarm` and the demo. */
  readonly scanfarm: string
  readonly command: string
  /** Only in a checkout: the option `--cloud`. */
  readonly loadMachines?: () => Promise<{
    open(keep: boolean): Promise<Machines>
    again(state: MachinesState): AsyncDisposable
  }>
}
