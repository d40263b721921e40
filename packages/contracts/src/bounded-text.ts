/** The text of a body. Rejects when it is longer than `mostBytes`. */
export const boundedText = async (
  body: AsyncIterable<Uint8Array> | null,
  mostBytes: number,
): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.byteLength
    if (bytes > mostBytes) throw new Error(`the answer is larger than ${mostBytes} bytes`)
    text += decoder.decode(part, { stream: true })
  }
  return text + decoder.decode()
}
