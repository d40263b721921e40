/** The style of a piece of a line. Colours 0–15 are of the theme, others are `rgb(…)`. */
export interface Style {
  readonly color?: number | string
  readonly ground?: number | string
  readonly bold?: boolean
  readonly dim?: boolean
  readonly italic?: boolean
  readonly underline?: boolean
  readonly inverse?: boolean
}

export interface Piece {
  readonly text: string
  readonly style: Style
}

const PLAIN: Style = {}
/** Escape sequences of terminals (CSI, OSC, others of two characters), and control characters except the tab. */
// oxlint-disable-next-line no-control-regex -- terminals are controlled by them
const ESCAPE =
  /\x1b(?:\[([\d;:]*)[\x20-\x2f]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])|[\x00-\x08\x0b-\x1f\x7f]/g

/** The text of a line without colours, as it is searched and copied. */
export const plainOf = (line: string): string => lastWrite(line).replace(ESCAPE, '')

/** A carriage return writes the line again from its beginning: only the last text is left. */
const lastWrite = (line: string): string => {
  if (!line.includes('\r')) return line
  const end = line.replace(/\r+$/, '')
  return end.slice(end.lastIndexOf('\r') + 1)
}

const STEPS = [0, 95, 135, 175, 215, 255]

/** A colour of the palette of 256. */
const paletteColor = (index: number): number | string => {
  if (index < 16) return index
  if (index > 231) return `rgb(${[8, 8, 8].map((least) => least + (index - 232) * 10).join(' ')})`
  const place = index - 16
  const parts = [Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6]
  return `rgb(${parts.map((part) => STEPS[part] ?? 0).join(' ')})`
}

/** The colour after a code 38 or 48, and how many codes it has. */
const colorAfter = (
  codes: readonly number[],
): readonly [color: number | string | undefined, used: number] => {
  const byte = (at: number): number => Math.min(255, codes[at] ?? 0)
  if (codes[0] === 5) return [paletteColor(byte(1)), 2]
  if (codes[0] === 2) return [`rgb(${byte(1)} ${byte(2)} ${byte(3)})`, 4]
  return [undefined, 0]
}

const SIMPLE: Readonly<Record<number, Style>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  39: { color: undefined },
  49: { ground: undefined },
}

const styleAfter = (before: Style, text: string): Style => {
  const codes = text.split(/[;:]/).map(Number)
  let style = before
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0
    if (code === 0) style = PLAIN
    else if (code === 38 || code === 48) {
      const [color, used] = colorAfter(codes.slice(at + 1))
      at += used
      if (color !== undefined) style = { ...style, [code === 38 ? 'color' : 'ground']: color }
    } else if (code >= 30 && code <= 37) style = { ...style, color: code - 30 }
    else if (code >= 90 && code <= 97) style = { ...style, color: code - 82 }
    else if (code >= 40 && code <= 47) style = { ...style, ground: code - 40 }
    else if (code >= 100 && code <= 107) style = { ...style, ground: code - 92 }
    else style = { ...style, ...SIMPLE[code] }
  }
  return style
}

/** The pieces of a line by their colours. Other escape sequences are left out. */
export const piecesOf = (line: string): readonly Piece[] => {
  const text = lastWrite(line)
  const pieces: Piece[] = []
  let style = PLAIN
  let at = 0
  for (const { 0: sequence, 1: codes, 2: final, index } of text.matchAll(ESCAPE)) {
    if (index > at) pieces.push({ text: text.slice(at, index), style })
    at = index + sequence.length
    if (final === 'm') style = styleAfter(style, codes ?? '')
  }
  if (at < text.length) pieces.push({ text: text.slice(at), style })
  return pieces
}
