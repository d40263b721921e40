/** A path with those parts of the search that are given: `hrefWith('/runs', { status: 'failed' })`. */
export const hrefWith = (path: string, search: object): string => {
  const given = Object.entries(search).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [[name, value] as [string, string]] : [],
  )
  const query = new URLSearchParams(given).toString()
  return query === '' ? path : `${path}?${query}`
}
