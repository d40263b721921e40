/** HTML in which all texts are escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | readonly Html[]

const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Also replaces what HTML does not allow as a character, and marks that change the direction of what follows. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => ESCAPED[character] ?? '')

const textOf = (part: Part): string => {
  if (part instanceof Html) return part.text
  return typeof part === 'object' ? part.map(({ text }) => text).join('') : escaped(String(part))
}

/** A template whose values are escaped, except for HTML. Values may only stand in texts and in quoted attributes. */
export const markup = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(texts.map((text, at) => text + textOf(parts[at] ?? '')).join(''))

export const NO_HTML = new Html('')
