import { api, dataOf, type BodyOf } from './client.ts'
import { dataQuery } from './list.ts'

export type NewRule = BodyOf<'/finding-rules', 'post'>

export const rulesQuery = dataQuery(['finding-rules'], () => api.GET('/finding-rules'))

export const previewRule = (body: NewRule) => dataOf(api.POST('/finding-rules/preview', { body }))
