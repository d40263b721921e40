import { apiRoutes } from '@scanfarm/server'
import { DIFFERENCES, OSMEDEUS_ROUTES } from './osmedeus-routes.ts'

interface Ours {
  readonly role: string
  readonly answer: 'yes' | '501' | '404'
  /** Why it always refuses. */
  readonly why: string
}

const shapeOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')
const cell = (text: string): string => text.replaceAll('|', '\\|')

/** Every path that this server answers, including aliases of a route. */
const ourRoutes = (): ReadonlyMap<string, Ours> => {
  const found = new Map<string, Ours>()
  for (const { spec } of apiRoutes())
    for (const path of [spec.path, ...(spec.aliases ?? [])])
      for (const root of ['/api', '/osm/api', ...(spec.bare === true ? [''] : [])])
        found.set(`${spec.method.toUpperCase()} ${root}${shapeOf(path)}`, {
          role: spec.role === 'public' ? 'none' : spec.role,
          answer: answerOf(spec),
          why: spec.description ?? '',
        })
  return found
}

type Spec = ReturnType<typeof apiRoutes>[number]['spec']

/** A route without a success response always refuses. */
const answerOf = ({ responses, errors = [] }: Spec): Ours['answer'] => {
  if (Object.keys(responses).length > 0) return 'yes'
  return errors.includes('not_implemented') ? '501' : '404'
}

/** The routes of Osmedeus with the answers of this server, as Markdown. */
export const compatibilityTable = (): string => {
  const ours = ourRoutes()
  const rows = OSMEDEUS_ROUTES.map(({ method, path }) => {
    const name = `${method} ${path}`
    const route = ours.get(name)
    if (route === undefined) return { name, answer: 'absent', role: '', note: DIFFERENCES[name] ?? '' }
    const { role, answer, why } = route
    return { name, answer, role, note: answer === 'yes' ? (DIFFERENCES[name] ?? '') : why }
  })
  const count = (answer: string): number => rows.filter((row) => row.answer === answer).length
  return [
    `${rows.length} routes: ${count('yes')} answered, ${count('501')} refused with 501 and the reason, ${count('404')} with nothing to find (404), ${count('absent')} absent.`,
    '',
    '| theirs | here | least role | what is different |',
    '| --- | --- | --- | --- |',
    ...rows.map(({ name, answer, role, note }) => `| \`${name}\` | ${answer} | ${role} | ${cell(note)} |`),
  ].join('\n')
}
