import { CloudError, type MachineLabels } from '../provider.ts'
import { LABEL_KEYS, labelsOfTags, labelsToTags } from './label-keys.ts'

/** What DigitalOcean and Linode both take as a tag. */
const TAG = /^[a-z0-9:_-]{3,50}$/

export const farmTag = (farm: string): string => fitting(`${LABEL_KEYS.farm}:${farm}`)

/** Labels where tags are plain words: `scanfarm-farm:0123456789ab`. */
export const tagWords = (labels: MachineLabels): string[] =>
  Object.entries(labelsToTags(labels)).map(([key, value]) => fitting(`${key}:${value}`))

export const labelsOfWords = (words: readonly string[]): Partial<MachineLabels> =>
  labelsOfTags(Object.fromEntries(words.map((word) => splitAt(word, word.indexOf(':')))))

const splitAt = (word: string, at: number): [string, string] =>
  at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]

function fitting(word: string): string {
  if (TAG.test(word)) return word
  throw new CloudError('refused', `"${word}" is no tag: 3 to 50 lower-case letters, digits, : _ -`)
}
