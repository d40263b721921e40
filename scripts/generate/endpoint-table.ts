import { apiRoutes } from '@scanfarm/server'

/** The endpoints by subject, with the least role and what each does. */
export const endpointTable = (): string => {
  const specs = apiRoutes().map(({ spec }) => spec)
  const tags = [...new Set(specs.map(({ tag }) => tag))]
  return tags
    .map((tag) =>
      sectionOf(
        tag,
        specs.filter((spec) => spec.tag === tag),
      ),
    )
    .join('\n\n')
}

type Spec = ReturnType<typeof apiRoutes>[number]['spec']

const sectionOf = (tag: string, specs: readonly Spec[]): string =>
  [
    `## ${tag}`,
    '',
    '| endpoint | least role | what it does |',
    '| --- | --- | --- |',
    ...specs.map(
      ({ method, path, role, summary }) =>
        `| \`${method.toUpperCase()} ${path}\` | ${role === 'public' ? 'none' : role} | ${summary.replaceAll('|', '\\|')} |`,
    ),
  ].join('\n')
