import { CloudError, type Machine, type MachineLabels, type MachineRequest } from '../provider.ts'

/** Keys of labels and tags. Every provider accepts lower case and hyphens. */
export const LABEL_KEYS = {
  farm: 'scanfarm-farm',
  infra: 'scanfarm-infra',
  expires: 'scanfarm-expires',
} as const satisfies Record<keyof MachineLabels, string>

export const labelsToTags = ({ farm, infra, expires }: MachineLabels): Record<string, string> => ({
  [LABEL_KEYS.farm]: farm,
  [LABEL_KEYS.infra]: infra,
  [LABEL_KEYS.expires]: String(expires),
})

/** Leaves out labels that an operator has removed or made invalid. */
export function labelsOfTags(tags: Readonly<Record<string, string | undefined>>): Partial<MachineLabels> {
  const farm = tags[LABEL_KEYS.farm]
  const infra = tags[LABEL_KEYS.infra]
  const expires = tags[LABEL_KEYS.expires]
  return {
    ...(farm && { farm }),
    ...(infra && { infra }),
    ...(expires && /^\d{1,12}$/.test(expires) && { expires: Number(expires) }),
  }
}

/** A valid tag of both DigitalOcean and Linode, whose tags have no values. */
const TAG_WORD = /^[a-z0-9:_-]{3,50}$/

export const farmTagWord = (farm: string): string => checkedTagWord(`${LABEL_KEYS.farm}:${farm}`)

/** Labels as tags without values: `scanfarm-farm:0123456789ab`. */
export const labelsToTagWords = (labels: MachineLabels): string[] =>
  Object.entries(labelsToTags(labels)).map(([key, value]) => checkedTagWord(`${key}:${value}`))

export const labelsOfTagWords = (words: readonly string[]): Partial<MachineLabels> =>
  labelsOfTags(
    Object.fromEntries(
      words.map((word) => {
        const colon = word.indexOf(':')
        return colon < 0 ? [word, ''] : [word.slice(0, colon), word.slice(colon + 1)]
      }),
    ),
  )

function checkedTagWord(word: string): string {
  if (TAG_WORD.test(word)) return word
  throw new CloudError(
    'refused',
    `"${word}" is not a valid tag: expected 3 to 50 lower-case letters, digits, ":", "_" or "-"`,
  )
}

/** The parts of an id that begins with the place of the machine: `form` is `region/instance`, or `zone/name`. */
export function parseId(provider: string, id: string, form: string): [place: string, name: string] {
  const [place, name] = id.split('/')
  if (place && name) return [place, name]
  throw new CloudError('refused', `"${id}" is not the id of a machine of ${provider}: expected ${form}`)
}

/** A machine that the provider has accepted but may not show yet. */
export const startingMachine = (id: string, { name, labels }: MachineRequest): Machine => ({
  id,
  name,
  state: 'starting',
  address: undefined,
  port: 22,
  labels,
  message: '',
})

/** The machine with the name of the request, if it was made for the same infrastructure. */
export const madeFor = (request: MachineRequest, machine: Machine | undefined): Machine | undefined =>
  machine?.labels.farm === request.labels.farm && machine.labels.infra === request.labels.infra
    ? machine
    : undefined
