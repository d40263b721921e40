const MAX_ID = 2 ** 31 - 1

/** The number in a path, or undefined for what cannot be the id of a row: that is simply not found. */
export const rowId = (text: string): number | undefined => {
  const id = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : undefined
  return id !== undefined && id <= MAX_ID ? id : undefined
}

/** The same for tables with ids of 64 bits, as far as a number is exact. */
export const longRowId = (text: string): number | undefined => {
  const id = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : undefined
  return id !== undefined && Number.isSafeInteger(id) ? id : undefined
}
