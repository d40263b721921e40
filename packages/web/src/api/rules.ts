import { queryOptions } from '@tanstack/react-query'
import type { paths } from '@scanfarm/client'
import { answer, api } from './client.ts'

export type NewRule = paths['/finding-rules']['post']['requestBody']['content']['application/json']

export const rulesQuery = queryOptions({
  queryKey: ['finding-rules'],
  queryFn: async () => (await answer(api.GET('/finding-rules'))).data,
})

export const previewRule = async (body: NewRule) =>
  (await answer(api.POST('/finding-rules/preview', { body }))).data
export const addRule = (body: NewRule) => answer(api.POST('/finding-rules', { body }))
export const removeRule = (id: number) =>
  answer(api.DELETE('/finding-rules/{rule}', { params: { path: { rule: String(id) } } }))
