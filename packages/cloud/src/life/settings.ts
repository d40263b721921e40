/** What the operator may say about the life of machines. */
export interface LifeSettings {
  /** A machine that is not ready by then, counted from the call that made it, is given up. */
  readonly bootMinutes: number
  /** Shell commands that every new machine runs as root. */
  readonly setup: readonly string[]
  /** Where this server's runs have their folders on machines; missing: made on first use, which needs sudo there. */
  readonly workFolder?: string
  /** Between two looks at an infrastructure whose machines work. */
  readonly lookSeconds: number
  /** Between two looks at one whose machines come or go. */
  readonly busyLookSeconds: number
  /** Between two searches for what is left over, in the whole farm. */
  readonly reaperSeconds: number
  /** Calls that make machines at once, for each infrastructure. */
  readonly parallelCreates: number
  /** A provider may take so long until its lists show a machine that it has made. */
  readonly showSeconds: number
  /** For one check of one machine. */
  readonly sshTimeoutMs: number
  /** Between two questions whether some infrastructure needs a look; what changes is told besides. */
  readonly pollMs: number
  /** Infrastructures that this process looks at simultaneously. */
  readonly looksAtOnce: number
  /** A process that is silent for so long has lost the infrastructure that it was looking at. */
  readonly holdMs: number
  /** Where programs are looked for on machines; as commands of runs do it. */
  readonly path: string
  /** Where machines tell that they are set up; missing: as their user data says. */
  readonly markerFile?: string
}

export const LIFE_DEFAULTS: LifeSettings = {
  bootMinutes: 10,
  setup: [],
  lookSeconds: 15,
  busyLookSeconds: 3,
  reaperSeconds: 60,
  parallelCreates: 5,
  showSeconds: 30,
  sshTimeoutMs: 10_000,
  pollMs: 1_000,
  looksAtOnce: 4,
  holdMs: 60_000,
  path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
}
