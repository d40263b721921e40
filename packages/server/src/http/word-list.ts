/** Keyword of the schema of a text that is a list of these words, separated by commas. */
export const WORDS = 'x-words'
