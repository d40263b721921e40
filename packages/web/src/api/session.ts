import { queryOptions, useQueryClient } from '@tanstack/react-query'
import type { paths } from '@scanfarm/client'
import { answer, api } from './client.ts'

export type Credentials = paths['/session']['post']['requestBody']['content']['application/json']

/** Who is logged in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => answer(api.GET('/session')),
  staleTime: Infinity,
})

export const logIn = (credentials: Credentials) => answer(api.POST('/session', { body: credentials }))
const logOut = () => answer(api.DELETE('/session'))

/** Ends the login of this browser. */
export const useLogOut = () => {
  const queries = useQueryClient()
  return async () => {
    await logOut()
    queries.clear()
    window.location.assign('/login')
  }
}
