import { memo } from 'react'
import { piecesOf, type Look, type Piece } from './ansi.ts'

/** Characters of a line that are shown. */
const MOST = 5_000

const classesOf = ({ color, ground, bold, dim, italic, underline, inverse }: Look): string =>
  [
    typeof color === 'number' ? `ansi-${color}` : '',
    typeof ground === 'number' ? `ansi-ground-${ground}` : '',
    bold ? 'ansi-bold' : '',
    dim ? 'ansi-dim' : '',
    italic ? 'ansi-italic' : '',
    underline ? 'ansi-underline' : '',
    inverse ? 'ansi-inverse' : '',
  ]
    .filter((each) => each !== '')
    .join(' ')

/** The pieces cut where hits of the search begin and end. */
const marked = (pieces: readonly Piece[], wanted: string): readonly (Piece & { readonly hit: boolean })[] => {
  if (wanted === '') return pieces.map((piece) => ({ ...piece, hit: false }))
  const whole = pieces
    .map(({ text }) => text)
    .join('')
    .toLowerCase()
  const cuts: number[] = []
  for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + wanted.length))
    cuts.push(at, at + wanted.length)
  const result: (Piece & { hit: boolean })[] = []
  let start = 0
  for (const { text, look } of pieces) {
    const end = start + text.length
    const edges = [start, ...cuts.filter((cut) => cut > start && cut < end), end]
    for (const [index, from] of edges.slice(0, -1).entries()) {
      const passed = cuts.filter((cut) => cut <= from).length
      result.push({
        text: text.slice(from - start, (edges[index + 1] ?? end) - start),
        look,
        hit: passed % 2 === 1,
      })
    }
    start = end
  }
  return result
}

/** The text of a line as elements: nothing of it is read as HTML. */
export const LogLine = memo(({ text, wanted }: { text: string; wanted: string }) => (
  <>
    {marked(piecesOf(text.slice(0, MOST)), wanted.toLowerCase()).map(({ text: part, look, hit }, index) => {
      const style = {
        ...(typeof look.color === 'string' && { color: look.color }),
        ...(typeof look.ground === 'string' && { background: look.ground }),
      }
      const props = { className: classesOf(look), style }
      return hit ? (
        <mark key={index} {...props}>
          {part}
        </mark>
      ) : (
        <span key={index} {...props}>
          {part}
        </span>
      )
    })}
    {text.length > MOST ? (
      <span className="muted">
        {' '}
        … {(text.length - MOST).toLocaleString()} more characters; download the log
      </span>
    ) : null}
  </>
))
LogLine.displayName = 'LogLine'
