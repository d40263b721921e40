import { Type } from 'typebox'
import { route } from '../http/route.ts'
import { TOOL } from './workers.ts'

/** Workflows named in the description of a program. */
const MOST_NAMES = 5

export const registryInfo = route(
  {
    method: 'get',
    path: '/registry-info',
    tag: 'Farm',
    summary: 'List the programs that workflows ask for, and whether a worker has them',
    description:
      'There is no registry: programs come with the machine or image of a worker. `registry_mode` is what clients need to read `binaries`.',
    role: 'viewer',
    query: Type.Object(
      { registry_mode: Type.Optional(Type.String({ description: 'Makes no difference' })) },
      { additionalProperties: false },
    ),
    responses: {
      200: Type.Object({
        registry_mode: Type.Literal('direct-fetch'),
        registry_url: Type.Literal(''),
        nix_installed: Type.Literal(false),
        binaries: Type.Record(
          Type.String(),
          Type.Object({
            desc: Type.String({ description: 'The workflows that ask for it' }),
            installed: Type.Boolean({ description: 'A worker or server that is not lost has it' }),
            optional: Type.Literal(false),
            workers: Type.Integer({ description: 'How many have it, local slots of servers included' }),
          }),
        ),
      }),
    },
  },
  async ({ catalog, store }) => {
    const entries = await catalog.list()
    const pairs = entries.flatMap(({ name, workflow }) =>
      (workflow?.dependencies?.commands ?? []).map((program) => ({ program, name })),
    )
    const wanted = [...Map.groupBy(pairs, ({ program }) => program)].sort(([a], [b]) => a.localeCompare(b))
    const alive = (await store.workers.list()).data.filter((worker) => worker.status !== 'lost')
    const binaries = wanted.map(([program, askers]) => {
      const names = [...new Set(askers.map(({ name }) => name))]
      const rest = names.length - MOST_NAMES
      const workers = alive.filter(({ capabilities }) => capabilities.includes(TOOL + program)).length
      return [
        program,
        {
          desc: `Used by ${names.slice(0, MOST_NAMES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`,
          installed: workers > 0,
          optional: false as const,
          workers,
        },
      ] as const
    })
    return {
      registry_mode: 'direct-fetch' as const,
      registry_url: '' as const,
      nix_installed: false as const,
      binaries: Object.fromEntries(binaries),
    }
  },
)
