const HEAD = /\{%\s*(?:if|for|set)\b/g

/** The offset of the first template tag of a text, or -1. */
export const tagOffset = (text: string): number => {
  let brace = -1
  for (const { index, 0: head } of text.matchAll(HEAD)) {
    const from = index + head.length
    if (brace < from) brace = text.indexOf('}', from)
    if (brace === -1) return -1
    if (brace > from && text[brace - 1] === '%') return index
  }
  return -1
}
