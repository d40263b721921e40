/** The result of importing one kind of record. */
export interface PartReport {
  readonly part: string
  /** In the base folder. */
  found: number
  /** Imported now; in a dry run: the maximum that would be imported. */
  added: number
  /** Already imported. */
  known: number
  left_out: number
  /** Why records were left out, and what to do; limited. */
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
  /** The corresponding setting; "" if there is none. */
  readonly setting: string
  readonly note: string
}

export interface BaseReport {
  readonly folder: string
  readonly dry_run: boolean
  readonly parts: readonly PartReport[]
  readonly settings: readonly SettingReport[]
  /** The imported settings as YAML for `scanfarm.yaml`, including secrets. */
  readonly settings_yaml: string
}
