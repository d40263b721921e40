import { queryOptions } from '@tanstack/react-query'
import { answer, api } from './client.ts'

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await answer(api.GET('/settings'))).data,
})

export const settingsStatusQuery = queryOptions({
  queryKey: ['settings', 'status'],
  queryFn: () => answer(api.GET('/settings/status')),
})

export const settingsYamlQuery = queryOptions({
  queryKey: ['settings', 'yaml'],
  queryFn: () => answer(api.GET('/settings/yaml', { parseAs: 'text' })),
})

export const serverInfoQuery = queryOptions({
  queryKey: ['server-info'],
  queryFn: () => answer(api.GET('/server-info')),
})

export const reloadSettings = () => answer(api.POST('/settings/reload'))
