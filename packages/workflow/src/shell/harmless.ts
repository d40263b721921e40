/** Characters that mean nothing to any shell or interpreter that the product knows, however often they are read. */
const HARMLESS = /^(?:[A-Za-z0-9_.:/@%+,][A-Za-z0-9_.:/@%+,-]*)?$/

/** May such a value stand where an interpreter reads code? A `-` in front would make it an option. */
export const isHarmless = (text: string): boolean => HARMLESS.test(text)

export const HARMLESS_TEXT = 'letters, digits and _ . : / @ % + , - (not first)'
