/** One word of shell text, whatever it holds. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
