import { EXECUTE_LIMITS } from './input.ts'
import { EXPRESSION_LIMITS } from './expression/messages.ts'
import { FUNCTION_GROUPS } from '@scanfarm/functions'
import { READ_LIMITS, type FieldType, type ObjectSpec, workflowSpec } from '@scanfarm/language'

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`)

const typeName = (type: FieldType): string => {
  switch (type.kind) {
    case 'text':
      return type.oneOf === undefined ? 'text' : type.oneOf.map((word) => `\`${word}\``).join(', ')
    case 'flag':
      return 'true or false'
    case 'number':
      return 'number'
    case 'json':
      return 'any value'
    case 'list':
      return type.of.kind === 'text'
        ? type.comma === true
          ? 'words separated by commas, or a list'
          : 'list of texts'
        : `list of ${typeName(type.of)}`
    case 'map':
      return `map of ${typeName(type.of)}`
    case 'object':
      return type.spec().name
  }
}

/** All objects of the language, each once, depth first. */
const objects = (root: ObjectSpec): ObjectSpec[] => {
  const found = new Map<string, ObjectSpec>()
  const visit = (spec: ObjectSpec): void => {
    const key = `${spec.name}:${Object.keys(spec.fields).join(',')}`
    if (found.has(key)) return
    found.set(key, spec)
    for (const { type } of Object.values(spec.fields)) follow(type)
  }
  const follow = (type: FieldType): void => {
    if (type.kind === 'object') visit(type.spec())
    else if (type.kind === 'list' || type.kind === 'map') follow(type.of)
  }
  visit(root)
  return [...found.values()]
}

const fieldTable = ({ name, fields }: ObjectSpec): string =>
  [
    `#### ${name}`,
    '',
    '| Key | Value | Meaning |',
    '| --- | --- | --- |',
    ...Object.entries(fields)
      .filter(([, { doc }]) => doc !== 'Not supported.')
      .map(
        ([key, { type, doc, required }]) =>
          `| \`${key}\`${required === true ? ' (required)' : ''} | ${cell(typeName(type))} | ${cell(doc)} |`,
      ),
  ].join('\n')

const functionTables = (): string =>
  FUNCTION_GROUPS.map(({ title, functions }) =>
    [
      `#### ${title}`,
      '',
      '| Function | Result | Meaning |',
      '| --- | --- | --- |',
      ...functions.map(({ name, signature, returns, doc, aliases }) => {
        const also =
          aliases.length === 0 ? '' : ` Also: ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`
        return `| \`${name}(${cell(signature)})\` | ${returns} | ${cell(doc)}${also} |`
      }),
    ].join('\n'),
  ).join('\n\n')

const limitTable = (): string =>
  [
    '| Limit | Value |',
    '| --- | --- |',
    ...Object.entries({ ...READ_LIMITS, ...EXPRESSION_LIMITS, ...EXECUTE_LIMITS }).map(
      ([name, value]) => `| ${name} | ${value} |`,
    ),
  ].join('\n')

/** The generated sections of docs/workflows.md, by the name of their marker. */
export const referenceSections = (): Readonly<Record<string, string>> => ({
  keys: objects(workflowSpec).map(fieldTable).join('\n\n'),
  functions: functionTables(),
  limits: limitTable(),
})

/** Returns the page with its generated sections updated; all other text is unchanged. */
export const withReference = (page: string): string =>
  Object.entries(referenceSections()).reduce(
    (text, [name, section]) =>
      text.replace(
        new RegExp(`(<!-- generated: ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`),
        (_, start: string, end: string) => `${start}\n${section}\n\n${end}`,
      ),
    page,
  )
