export interface ProvisioningSettings {
  /** A machine that is not ready this long after its create call is destroyed. */
  readonly bootMinutes: number
  /** Shell commands that every new machine runs as root. */
  readonly setup: readonly string[]
  /** Folder of the runs on machines. Missing: runs create it on first use, which needs sudo there. */
  readonly workFolder?: string
  /** Between two passes over an infrastructure whose machines are ready. */
  readonly reconcileSeconds: number
  /** Between two passes over an infrastructure whose machines are being created or destroyed. */
  readonly busyReconcileSeconds: number
  /** Between two searches for leftover machines, in the whole farm. */
  readonly reaperSeconds: number
  /** Concurrent create calls for each infrastructure. */
  readonly parallelCreates: number
  /** Longest time until a provider's list contains a new machine. */
  readonly listLagSeconds: number
  /** Of one check of one machine. */
  readonly sshTimeoutMs: number
  /** Between two searches for an infrastructure that is due. `wake` shortens it. */
  readonly pollMs: number
  /** Infrastructures that this process reconciles concurrently. */
  readonly parallelReconciles: number
  /** Lease of an infrastructure. It expires when its process dies. */
  readonly leaseMs: number
  /** PATH on machines, the same as for commands of runs. */
  readonly path: string
  /** File in which machines report that they are set up. Missing: the one in their user data. */
  readonly markerFile?: string
}

export const PROVISIONING_DEFAULTS: ProvisioningSettings = {
  bootMinutes: 10,
  setup: [],
  reconcileSeconds: 15,
  busyReconcileSeconds: 3,
  reaperSeconds: 60,
  parallelCreates: 5,
  listLagSeconds: 30,
  sshTimeoutMs: 10_000,
  pollMs: 1_000,
  parallelReconciles: 4,
  leaseMs: 60_000,
  path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
}
