/** The word as a POSIX shell must read it to get it back unchanged. A NUL cannot be expressed. */
export const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Whether a shell can hold a variable of this name; others it may drop from the environment. */
export const isShellName = (name: string): boolean => IDENTIFIER.test(name)
