import { queryOptions } from '@tanstack/react-query'
import { answer, api, type Schemas } from './client.ts'

/** Not a live key: what concerns the host is in the lists of the page. */
export const hostQuery = (host: string) =>
  queryOptions({
    queryKey: ['host', host],
    queryFn: async () => (await answer(api.GET('/hosts/{host}', { params: { path: { host } } }))).data,
  })

type Place = Pick<Schemas['Vulnerability'], 'asset_type' | 'asset_value'>

/** The name or address in a URL, host:port or [address]:port; '' for places without one. */
export const hostOf = ({ asset_type: type, asset_value: value }: Place): string => {
  if (['file', 'package', 'network'].includes(type)) return ''
  const authority = value
    .replace(/^[a-z][a-z\d+.-]*:\/\//i, '')
    .replace(/[/?#].*$/s, '')
    .replace(/^.*@/s, '')
  const [, bracketed] = /^\[([^\]]*)/.exec(authority) ?? []
  const [, named] = /^([^:]*):[^:]*$/.exec(authority) ?? []
  return (bracketed ?? named ?? authority).toLowerCase()
}

export const hostPath = (host: string): string => `/hosts/${encodeURIComponent(host)}`
