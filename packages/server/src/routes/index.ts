import type { Route } from '../http/route.ts'
import { TAGS } from '../http/subjects.ts'
import * as all from './all.ts'
import { documentation } from './farm/documentation.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** By subject and path: a segment without a parameter comes before one with, so that it is matched first. */
const place = ({ spec: { tag, path, method } }: Route): string =>
  `${String(TAGS.indexOf(tag)).padStart(2)} ${path} ${METHODS.indexOf(method)}`

const isRoute = (value: unknown): value is Route =>
  typeof value === 'object' && value !== null && 'spec' in value && 'prepare' in value

/** All endpoints, in the order of the OpenAPI document. */
export const apiRoutes = (): Route[] => {
  const routes = Object.values(all)
    .filter(isRoute)
    .sort((a, b) => (place(a) < place(b) ? -1 : 1))
  return [...routes, ...documentation(routes)]
}
