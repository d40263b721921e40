import { insideDouble, insideSingle, singleQuoted } from '../shell/quote.ts'
import type { Piece } from '../template/value.ts'

type Quote = '' | "'" | '"'

const quoteAfter = (text: string, before: Quote): Quote => {
  let quote = before
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '\\' && quote !== "'") at++
    else if (char === quote) quote = ''
    else if (quote === '' && (char === "'" || char === '"')) quote = char
  }
  return quote
}

/** Joins pieces to a text for `shellWords`, in which the pieces that `isData` selects are not split. */
export const textOfWords = (pieces: readonly Piece[], isData: (piece: Piece) => boolean): string => {
  let quote: Quote = ''
  return pieces
    .map((piece) => {
      if (!isData(piece)) {
        quote = quoteAfter(piece.text, quote)
        return piece.text
      }
      if (quote === "'") return insideSingle(piece.text)
      if (quote === '"') return insideDouble(piece.text)
      return /^[A-Za-z0-9_@%+:,./=-]+$/.test(piece.text) ? piece.text : singleQuoted(piece.text)
    })
    .join('')
}
