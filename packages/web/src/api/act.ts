import { useMutation, useQueryClient } from '@tanstack/react-query'

/** Reads again the queries whose keys begin with one of the names. */
export const useRefresh = () => {
  const queries = useQueryClient()
  return async (...names: readonly string[]): Promise<void> => {
    await Promise.all(names.map((name) => queries.invalidateQueries({ queryKey: [name] })))
  }
}

interface After<A> {
  /** What is read again in the end: queries by the first part of their keys. */
  readonly refresh?: readonly string[]
  readonly done?: (answer: A) => void
  /** Without it the form shows the error. */
  readonly failed?: (error: Error) => void
}

/** A call that changes something. */
export const useAct = <A, V = void>(
  call: (values: V) => Promise<A>,
  { refresh = [], done, failed }: After<A> = {},
) => {
  const again = useRefresh()
  return useMutation({
    mutationFn: call,
    onSuccess: (answer) => {
      done?.(answer)
      return again(...refresh)
    },
    onError: (error) => {
      failed?.(error)
      void again(...refresh)
    },
  })
}
