import { factTexts, readManifest } from '../../packages/tools/src/index.ts'

const APART = ['version tried', 'remark']

/** A table of what tools were seen to do, and remarks below it. */
export const toolFacts = (): string => {
  const tried = [...readManifest().values()].flatMap((tool) =>
    tool.facts === undefined ? [] : [{ name: `${tool.name} ${tool.facts.tried}`, texts: factTexts(tool) }],
  )
  const heads = tried[0]?.texts.map(([what]) => what).filter((what) => !APART.includes(what)) ?? []
  const rows = tried.map(({ name, texts }) => [name, ...heads.map((head) => new Map(texts).get(head))])
  const remarks = tried.flatMap(({ name, texts }) =>
    texts.filter(([what]) => what === 'remark').map(([, text]) => `- ${name}: ${text}.`),
  )
  return [
    ...[['tool', ...heads], ['tool', ...heads].map(() => '---'), ...rows].map(
      (row) => `| ${row.join(' | ')} |`,
    ),
    '',
    ...remarks,
  ].join('\n')
}
