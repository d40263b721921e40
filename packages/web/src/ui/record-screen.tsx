import { useQuery, type QueryKey, type UseQueryOptions } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { RecordPage } from './page.tsx'

/** The screen of one record. `name` is its title until the record is read; `param` the part of the path that names it. */
export const recordScreen = <T, K extends QueryKey>(
  name: string,
  query: (id: string) => UseQueryOptions<T, Error, T, K>,
  show: (record: T) => ReactNode,
  param = 'id',
) =>
  function Screen() {
    const { [param]: id = '' } = useParams({ strict: false }) as Readonly<Record<string, string>>
    return (
      <RecordPage name={name} query={useQuery(query(id))}>
        {show}
      </RecordPage>
    )
  }
