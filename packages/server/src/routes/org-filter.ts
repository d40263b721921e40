import type { Store } from '@scanfarm/store'
import { Type } from 'typebox'
import { refuse } from '../http/field-refusal.ts'

/** Query parameter of the lists that an organisation narrows. */
export const orgQuery = {
  org: Type.Optional(
    Type.String({ maxLength: 256, description: 'uuid or name of the organisation that has the workspace' }),
  ),
}

/** Its uuid. Clients that filter by none send an empty text. */
export const orgOf = async (
  { orgs }: Pick<Store, 'orgs'>,
  ref: string | undefined,
): Promise<string | undefined> => {
  if (ref === undefined || ref.trim() === '') return undefined
  const org = await orgs.find(ref.trim())
  if (org === undefined)
    refuse([{ path: '/org', message: `there is no organisation ${JSON.stringify(ref)}; see GET /orgs` }])
  return org?.uuid
}
