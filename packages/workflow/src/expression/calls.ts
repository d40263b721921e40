import { FUNCTIONS } from '../functions/registry.ts'

/** Functions and objects of JavaScript itself that a value is made with. */
const OF_SCRIPT =
  /(?<![\w.])(?:(?:Math|JSON|Object|Array|Number|String|Date)\.\w+|Number|String|Boolean|parseInt|parseFloat|isNaN|encodeURIComponent|decodeURIComponent)\(/

/** A call of a function that exists makes an export an expression; any other text is itself. */
export const looksLikeCall = (text: string): boolean =>
  OF_SCRIPT.test(text) ||
  [...text.matchAll(/(?<!\w)([A-Za-z_]\w*)\s*\(/g)].some(([, name = '']) => FUNCTIONS.has(name))

/** The function that a text, which is a call as a whole, would call if there were one of that name. */
export const unknownCall = (text: string): string | undefined => {
  const name = /^([A-Za-z_]\w*)\(.*\)(?:\s*;)?$/s.exec(text.trim())?.[1]
  return name === undefined || looksLikeCall(text) ? undefined : name
}
