import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { apiRoutes, openApi } from '@scanfarm/server'
import openapiTS, { astToString } from 'openapi-typescript'

/** Callers of `packages/client` send a list of words as it is in the URL: as one text. */
const withTexts = (document: object): string =>
  JSON.stringify(document, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && 'explode' in value
      ? { ...value, schema: { type: 'string' } }
      : value,
  )

const FILE = join(import.meta.dirname, '../../packages/client/src/schema.ts')

/** Writes the types of `packages/client`, from the OpenAPI document. Git ignores the file. */
export const writeClientSchema = async (): Promise<void> => {
  const ast = await openapiTS(withTexts(openApi(apiRoutes())), { defaultNonNullable: false })
  const text = `// Generated from the OpenAPI document by \`npm run generate\`.\n${astToString(ast)}`
  // An unchanged file keeps its time, by which type checks know it.
  if (!existsSync(FILE) || (await readFile(FILE, 'utf8')) !== text) await writeFile(FILE, text)
}

if (import.meta.main) await writeClientSchema()
