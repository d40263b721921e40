import { AppError } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { CloudChoice, SubmittedInfra } from '../store.ts'
import { canBeStored } from '../text.ts'
import { infraColumns, newInfraId } from './requests.ts'

/** The argument `p_cloud` of SQL functions; `infraId` is the one that a new infrastructure gets. */
export const cloudChoice = (choice: CloudChoice, infraId: string) =>
  'reuse' in choice
    ? { reuse: choice.reuse }
    : { infra: infraColumns(infraId, choice.infra), budget: choice.budget }

/** What an answer says of the infrastructure, before anything is made. */
export async function submittedInfra(db: Kysely<unknown>, choice: CloudChoice): Promise<SubmittedInfra> {
  if ('infra' in choice) {
    const { provider, instances } = choice.infra
    return { infraId: newInfraId(), provider, instances }
  }
  const { rows } = canBeStored(choice.reuse)
    ? await sql<SubmittedInfra>`
        select infra_id as "infraId", provider, instances from cloud_infras where infra_id = ${choice.reuse}
      `.execute(db)
    : { rows: [] }
  const [infra] = rows
  if (!infra) throw new AppError('not_found', `there is no infrastructure ${choice.reuse}`)
  return infra
}
