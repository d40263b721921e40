import { AppError, closed, HostFacts, wrapped } from '@scanfarm/contracts'
import { HOST_RECORDS } from '@scanfarm/store'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { List, nameList } from '../query.ts'

export const getHost = route(
  {
    endpoint: 'GET /hosts/{host}',
    summary: 'Read what scans know of one host',
    description: `Takes a name or an address. Reads the newest ${HOST_RECORDS} assets and findings; the lists themselves are GET /assets?host= and GET /vulnerabilities?host=.`,
    role: 'viewer',
    params: Type.Object({ host: Type.String({ maxLength: 255 }) }),
    query: closed({ workspace: List('Exact names, separated by commas') }),
    responses: {
      200: wrapped(
        Type.Object({
          host: Type.String({ description: 'In lower case' }),
          ...HostFacts.properties,
        }),
      ),
    },
  },
  async ({ store }, { params, query }) => {
    const host = params.host.toLowerCase()
    const found = await store.hosts.find(host, nameList(query.workspace))
    if (found === undefined)
      throw new AppError('not_found', `no asset and no finding is at host ${JSON.stringify(params.host)}`)
    return { data: { ...found, host } }
  },
)
