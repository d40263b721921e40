import { inflateRawSync } from 'node:zlib'

const CENTRAL = 0x02014b50
const END = Buffer.from('PK\x05\x06', 'latin1')

/** The files of a zip by name, in the order of its central directory. */
export function unzipped(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(END)
  if (end === -1) throw new Error('this is no zip')
  const files = new Map<string, Buffer>()
  let at = zip.readUInt32LE(end + 16)
  while (zip.readUInt32LE(at) === CENTRAL) {
    const method = zip.readUInt16LE(at + 10)
    const size = zip.readUInt32LE(at + 20)
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ]
    const local = zip.readUInt32LE(at + 42)
    const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const content = zip.subarray(begin, begin + size)
    files.set(zip.toString('utf8', at + 46, at + 46 + name), method === 0 ? content : inflateRawSync(content))
    at += 46 + name + extra + comment
  }
  return files
}
