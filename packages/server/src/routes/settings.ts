import { settingsInForce } from '@scanfarm/platform'
import { Type } from 'typebox'
import { route } from '../http/route.ts'

export const listSettings = route(
  {
    method: 'get',
    path: '/settings',
    tag: 'Farm',
    summary: 'List the settings in force on this server, secrets masked',
    role: 'admin',
    responses: {
      200: Type.Object({ data: Type.Array(Type.Object({ key: Type.String(), value: Type.Unknown() })) }),
    },
  },
  async ({ config }) => ({ data: settingsInForce(config) }),
)
