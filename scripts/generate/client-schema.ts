import { apiRoutes, openApi } from '@scanfarm/server'
import openapiTS, { astToString } from 'openapi-typescript'

/** The types of `packages/client`, from the OpenAPI document. */
export const clientSchema = async (): Promise<string> => {
  const ast = await openapiTS(JSON.stringify(openApi(apiRoutes())), { defaultNonNullable: false })
  return `// Generated from the OpenAPI document by \`npm run generate\`.\n${astToString(ast)}`
}
