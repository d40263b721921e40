import { apiRoutes, openApi } from '@scanfarm/server'
import openapiTS, { astToString } from 'openapi-typescript'

/** Callers of `packages/client` send a list of words as it is in the URL: as one text. */
const withTexts = (document: object): string =>
  JSON.stringify(document, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && 'explode' in value
      ? { ...value, schema: { type: 'string' } }
      : value,
  )

/** The types of `packages/client`, from the OpenAPI document. */
export const clientSchema = async (): Promise<string> => {
  const ast = await openapiTS(withTexts(openApi(apiRoutes())), { defaultNonNullable: false })
  return `// Generated from the OpenAPI document by \`npm run generate\`.\n${astToString(ast)}`
}
