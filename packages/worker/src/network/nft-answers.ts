/** Of the JSON that nft writes, what this program reads. */
interface Answer {
  readonly nftables: readonly {
    readonly table?: { readonly name: string }
    readonly set?: { readonly elem?: readonly { readonly elem: RawElement }[] }
    readonly map?: { readonly elem?: readonly (readonly [Word, unknown])[] }
  }[]
}

type Word = string | number
interface RawElement {
  readonly val: Word | { readonly concat: readonly Word[] }
  readonly counter?: { readonly packets: number }
}

/** A counted element of a set, with the parts of its key. */
export interface Counted {
  readonly key: readonly Word[]
  readonly packets: number
}

const itemsOf = (answer: string): Answer['nftables'] => (JSON.parse(answer) as Answer).nftables

export const countsOf = (answer: string): Counted[] =>
  itemsOf(answer)
    .flatMap(({ set }) => set?.elem ?? [])
    .map(({ elem: { val, counter } }) => ({
      key: typeof val === 'object' ? val.concat : [val],
      packets: counter?.packets ?? 0,
    }))

/** The keys of a map. */
export const usersOf = (answer: string): number[] =>
  itemsOf(answer).flatMap(({ map }) => (map?.elem ?? []).map(([uid]) => Number(uid)))

export const tableNames = (answer: string): string[] => [
  ...new Set(itemsOf(answer).flatMap(({ table }) => table?.name ?? [])),
]
