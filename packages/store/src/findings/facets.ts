/** Most records that facets count. */
export const FACET_RECORDS = 100_000
/** Most values of one facet. */
export const FACET_VALUES = 50

interface FacetCount {
  readonly value: string
  readonly count: number
}

/** How often each value of some fields occurs. */
export interface Facets<N extends string> {
  /** Records that were counted: the newest that match. */
  readonly counted: number
  readonly facets: Readonly<Record<N, FacetCount[]>>
}

export interface FacetRow<N extends string> extends FacetCount {
  readonly facet: N | 'counted'
}

export const facetsOf = <N extends string>(names: readonly N[], rows: readonly FacetRow<N>[]): Facets<N> => ({
  counted: rows.find(({ facet }) => facet === 'counted')?.count ?? 0,
  facets: Object.fromEntries(
    names.map((name): [N, FacetCount[]] => [
      name,
      rows.flatMap(({ facet, value, count }) => (facet === name ? [{ value, count }] : [])),
    ]),
  ) as Record<N, FacetCount[]>,
})
