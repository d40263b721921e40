import { AppError } from '@scanfarm/contracts'
import { Type } from 'typebox'

export const RunPath = Type.Object({ id: Type.String({ description: 'Number or run_uuid of the run' }) })

export const noRun = (id: string): AppError =>
  new AppError('not_found', `there is no run ${JSON.stringify(id)}`)
