import { Type } from 'typebox'
import { route } from '../http/route.ts'

export const listTables = route(
  {
    method: 'get',
    path: '/database/tables',
    tag: 'Farm',
    summary: 'List the tables of runs and findings with their number of records',
    role: 'viewer',
    responses: {
      200: Type.Object({
        data: Type.Array(
          Type.Object({
            name: Type.String(),
            row_count: Type.Integer(),
            estimated: Type.Boolean({ description: 'More than 10,000 are not counted' }),
          }),
        ),
        valid_tables: Type.Array(Type.String()),
      }),
    },
  },
  async ({ store }) => {
    const tables = await store.tables()
    return {
      data: tables.map(({ name, rows, estimated }) => ({ name, row_count: rows, estimated })),
      valid_tables: tables.map(({ name }) => name),
    }
  },
)
