import type { MachineLabels } from '../provider.ts'

/**
 * What a machine's labels are called at a provider with labels or tags of key and value. Lower case and hyphens: the one
 * spelling that every such provider takes.
 */
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

/** What somebody removed or changed by hand is left out. */
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
