import { FUNCTIONS } from './registry.ts'

/** Words of JavaScript that reach functions without their names. */
const REACHING = /\b(?:globalThis|this|eval|Function|constructor)\b/
const WORD = /[A-Za-z_$][\w$]*/g

/** Whether expressions name only functions that compute, or work with files and records; also in texts, to be sure. */
export const sendsNothing = (code: string): boolean =>
  !REACHING.test(code) &&
  Array.from(code.matchAll(WORD), ([word]) => FUNCTIONS.get(word)).every((known) => known?.sends !== true)
