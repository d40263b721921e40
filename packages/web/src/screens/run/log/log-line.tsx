import { memo, type CSSProperties } from 'react'
import { piecesOf, type Style, type Piece } from './ansi.ts'

/** Characters of a line that are shown. */
const MOST = 5_000

/** Of the colours 0–7; 8–15 are the same. */
const COLORS = ['muted', 'bad', 'good', 'warn', 'busy', 'chart-4', 'accent', 'text']
const GROUNDS = ['#30373d', '#b3261e', '#1a6b34', '#855300', '#0f5fa8', '#7a3b91', '#0b6e69', '#56625f']

const cssOf = ({ color, ground, bold, dim, italic, underline, inverse }: Style): CSSProperties => ({
  ...(typeof color === 'string' && { color }),
  ...(typeof color === 'number' && { color: `var(--${COLORS[color % 8]})` }),
  ...(dim && { color: 'var(--muted)' }),
  ...(inverse && { background: 'var(--text)', color: 'var(--surface)' }),
  ...(typeof ground === 'string' && { background: ground }),
  // A ground of the theme has its own text colour: the pair of the program may be unreadable in this theme.
  ...(typeof ground === 'number' && { background: GROUNDS[ground % 8], color: '#fff' }),
  ...(bold && { fontWeight: 700 }),
  ...(italic && { fontStyle: 'italic' }),
  ...(underline && { textDecoration: 'underline' }),
})

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
  for (const { text, style } of pieces) {
    const end = start + text.length
    const edges = [start, ...cuts.filter((cut) => cut > start && cut < end), end]
    for (const [index, from] of edges.slice(0, -1).entries()) {
      const passed = cuts.filter((cut) => cut <= from).length
      result.push({
        text: text.slice(from - start, (edges[index + 1] ?? end) - start),
        style,
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
    {marked(piecesOf(text.slice(0, MOST)), wanted.toLowerCase()).map(({ text: part, style, hit }, index) =>
      hit ? (
        <mark key={index}>{part}</mark>
      ) : (
        <span key={index} style={cssOf(style)}>
          {part}
        </span>
      ),
    )}
    {text.length > MOST ? (
      <span className="muted">
        {' '}
        … {(text.length - MOST).toLocaleString()} more characters; download the log
      </span>
    ) : null}
  </>
))
LogLine.displayName = 'LogLine'
