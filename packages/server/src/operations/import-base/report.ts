/** What an import did with one kind of thing. */
export interface PartReport {
  readonly part: string
  /** In the base folder. */
  found: number
  /** Brought in now; in a dry run: as many as would be at most. */
  added: number
  /** Here already. */
  known: number
  left_out: number
  /** Why things were left out, and what to do; bounded. */
  readonly notes: string[]
}

const MAX_NOTES = 50

export const newPart = (part: string): PartReport => ({
  part,
  found: 0,
  added: 0,
  known: 0,
  left_out: 0,
  notes: [],
})

export const note = ({ notes }: PartReport, text: string): void => {
  if (notes.length < MAX_NOTES) notes.push(text)
  else if (notes.length === MAX_NOTES) notes.push('… and more')
}

export const leaveOut = (report: PartReport, why: string): void => {
  report.left_out += 1
  note(report, why)
}

/** One setting of the base folder. */
export interface SettingReport {
  readonly key: string
  /** The key that does the same here; "": there is none. */
  readonly setting: string
  readonly note: string
}

export interface BaseReport {
  readonly folder: string
  readonly dry_run: boolean
  readonly parts: readonly PartReport[]
  readonly settings: readonly SettingReport[]
  /** The settings that carry over, as YAML for `scanfarm.yaml`, secrets included. */
  readonly settings_yaml: string
}
