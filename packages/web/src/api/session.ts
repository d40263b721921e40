import { useQueryClient } from '@tanstack/react-query'
import { closeStreamFor } from '../live/live.ts'
import { answer, api, type BodyOf } from './client.ts'
import { answerQuery } from './list.ts'

export type Credentials = BodyOf<'/session', 'post'>

/** Who is logged in. */
export const sessionQuery = { ...answerQuery(['session'], () => api.GET('/session')), staleTime: Infinity }

const logOut = () => answer(api.DELETE('/session'))

/** Ends the login of this browser. */
export const useLogOut = () => {
  const queries = useQueryClient()
  return async () => {
    await closeStreamFor(logOut)
    queries.clear()
    window.location.assign('/login')
  }
}
