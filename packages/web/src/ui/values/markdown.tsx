import type { ReactNode } from 'react'
import { PlainTable } from './plain-table.tsx'

type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'code' | 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

const isTable = (line: string): boolean => line.trimStart().startsWith('|')
const isItem = (line: string): boolean => /^\s*[-*] /.test(line)
const headingOf = (line: string) => /^(#{1,6}) +(.*)$/.exec(line)

/** Headings, tables, lists, blocks of code and paragraphs; everything else is text. */
const blocksOf = (text: string): Block[] => {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const blocks: Block[] = []
  let at = 0
  const take = (wanted: (line: string) => boolean): string[] => {
    const begin = at
    while (at < lines.length && wanted(lines[at] ?? '')) at += 1
    return lines.slice(begin, at)
  }
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const [, marks = '', heading = ''] = headingOf(line) ?? []
    if (marks !== '') {
      at += 1
      blocks.push({ kind: 'heading', level: marks.length, text: heading })
    } else if (line.startsWith('```')) {
      at += 1
      const code = take((each) => !each.startsWith('```'))
      at += 1
      blocks.push({ kind: 'code', text: code.join('\n') })
    } else if (isTable(line)) {
      const rows = take(isTable).filter((each) => !/^[\s|:-]+$/.test(each))
      blocks.push({ kind: 'table', rows: rows.map(cellsOf) })
    } else if (isItem(line)) {
      blocks.push({ kind: 'list', items: take(isItem).map((each) => each.replace(/^\s*[-*] /, '')) })
    } else if (line.trim() === '') at += 1
    else {
      const ends = (each: string) =>
        each.trim() === '' ||
        headingOf(each) !== null ||
        each.startsWith('```') ||
        isTable(each) ||
        isItem(each)
      blocks.push({ kind: 'text', text: take((each) => !ends(each)).join('\n') })
    }
  }
  return blocks
}

const shown = (block: Block): ReactNode => {
  switch (block.kind) {
    case 'heading':
      return block.level === 1 ? <h3>{block.text}</h3> : <h4>{block.text}</h4>
    case 'table':
      return <PlainTable head={block.rows[0] ?? []} rows={block.rows.slice(1)} />
    case 'code':
      return (
        <pre>
          <code>{block.text}</code>
        </pre>
      )
    case 'list':
      return (
        <ul>
          {block.items.map((item, at) => (
            <li key={at}>{item}</li>
          ))}
        </ul>
      )
    case 'text':
      return <p>{block.text}</p>
  }
}

/** A document of a tool. Its texts stay texts: it has no links, images or HTML. */
export const Markdown = ({ children, label }: { children: string; label: string }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard can scroll it
  <div className="markdown" tabIndex={0} role="region" aria-label={label}>
    {blocksOf(children).map((block, at) => (
      <div key={at}>{shown(block)}</div>
    ))}
  </div>
)
