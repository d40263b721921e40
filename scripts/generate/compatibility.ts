import { readFileSync } from 'node:fs'
import { apiRoutes } from '@scanfarm/server'
import { parse } from 'yaml'

/** Routes of Osmedeus 5.1, and the differences that its clients notice, by method and path. `{}` is a parameter. */
const { besideRoot, belowRoot, differences } = parse(
  readFileSync(new URL('osmedeus.yaml', import.meta.url), 'utf8'),
) as {
  readonly besideRoot: string
  readonly belowRoot: string
  readonly differences: Readonly<Record<string, string>>
}

interface TheirRoute {
  readonly method: string
  readonly path: string
}

/** Methods before the paths that have all of them, separated by blanks; groups by semicolons and lines. */
const routesOf = (text: string, root: string): TheirRoute[] =>
  text
    .trim()
    .split(/[;\n]/)
    .flatMap((group) => {
      const words = group.trim().split(/\s+/)
      const methods = words.filter((word) => /^[A-Z]+$/.test(word))
      const paths = words.filter((word) => !/^[A-Z]+$/.test(word))
      return paths.flatMap((path) => methods.map((method) => ({ method, path: `${root}/${path}` })))
    })

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
  const rows = [...routesOf(besideRoot, ''), ...routesOf(belowRoot, '/osm/api')].map(({ method, path }) => {
    const name = `${method} ${path}`
    const route = ours.get(name)
    if (route === undefined) return { name, answer: 'absent', role: '', note: differences[name] ?? '' }
    const { role, answer, why } = route
    return { name, answer, role, note: answer === 'yes' ? (differences[name] ?? '') : why }
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
