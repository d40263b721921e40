import { wrapped } from '@scanfarm/contracts'
import { FACET_RECORDS, FACET_VALUES, type Facets } from '@scanfarm/store'
import { Type } from 'typebox'

/** The values of one facet. */
const FacetValues = Type.Array(Type.Object({ value: Type.String(), count: Type.Integer({ minimum: 0 }) }), {
  description: `Most frequent first, at most ${FACET_VALUES}`,
})

export const FACETS_COUNTED = {
  counted: Type.Integer({ minimum: 0 }),
  complete: Type.Boolean({ description: `False: more than the newest ${FACET_RECORDS} records match` }),
}

/** The answer with these facets. */
export const facetsOf = <N extends string>(names: readonly N[]) =>
  wrapped(
    Type.Object({
      ...FACETS_COUNTED,
      ...(Object.fromEntries(names.map((name) => [name, FacetValues])) as Record<N, typeof FacetValues>),
    }),
  )

export const facetsBody = <N extends string>({ counted, facets }: Facets<N>) => ({
  counted,
  complete: counted < FACET_RECORDS,
  ...facets,
})
