import { FAMILIES, USERS, type Family } from './ruleset.ts'

export type UserRules = Readonly<Record<Family, readonly string[]>>
export const textOf = ({ inet, netdev }: UserRules): string => [...inet, ...netdev].join()
export const NO_RULES: UserRules = { inet: [], netdev: [] }

/**
 * Makes the rules of a user these, in a chain that stays. `isNew`: it has no chain. Otherwise no set is touched, whose
 * elements nft would read all.
 */
export const userRules = (table: string, uid: number, rules: UserRules, isNew: boolean): string[] =>
  FAMILIES.flatMap((family) => {
    const chain = `${family} ${table} u${uid}`
    return [
      ...(isNew
        ? [`add chain ${chain}`, `add element ${family} ${table} ${USERS} { ${uid} : jump u${uid} }`]
        : [`flush chain ${chain}`]),
      ...rules[family].map((rule) => `add rule ${chain} ${rule}`),
    ]
  })
