import type { RunPlace } from './allowed.ts'
import { parseObject } from './jsonl.ts'
import { Distinct, linesOf } from './lines.ts'
import { queryPairs, urlParts, type UrlParts } from './url-parts.ts'

/** Pictures, fonts, styles, sound and films. Scripts are none of them. */
const STATIC =
  /\.(png|apng|bmp|gif|ico|cur|jpe?g|jfif|pjp|pjpeg|svg|tiff?|webp|xbm|3gp|aac|flac|mpe?g|mp[34]|m4[avp]|og[agv]|mov|wav|webm|eot|woff2?|[ot]tf|css)(\?|#|$)/i

const DATE = /\d{2,4}[-/]\d{1,2}[-/]\d{1,2}/
const ARTICLE =
  /\/(articles|about|blog|events?|shop|posts?|products?|docs|support|pages|media|careers|jobs|videos?|resources?|news)\//
const NUMBERED = /\/\d+(\.[a-z]+)?$/

/** Articles and numbered pages: many addresses of the same kind. */
const isNoise = (url: string): boolean => DATE.test(url) || ARTICLE.test(url) || NUMBERED.test(url)

const MAX_SEGMENT = 100
const MAX_DASHES = 3

/** Host, path and the names of the parameters; nothing for a path that was made of a title or a key. */
const shapeOf = ({ host, path, query = '' }: UrlParts): string | undefined => {
  const parts = path.split('/')
  const isLong = (part: string) =>
    Buffer.byteLength(part) > MAX_SEGMENT || part.split('-').length - 1 > MAX_DASHES
  if (parts.length > 1 && parts.some(isLong)) return undefined
  const names = new Set(queryPairs(query).map(([name]) => name))
  return JSON.stringify([host, path, ...[...names].sort()])
}

/** Lines with addresses worth a look, each kind once; of the noise of a host one line. */
export const interestingLines = async function* (
  source: string,
  field: string,
  place: RunPlace,
): AsyncGenerator<string> {
  const [shapes, noisy] = [new Distinct(), new Distinct()]
  for await (const text of linesOf(source, place)) {
    const line = text.trim()
    const value = field === '' ? line : parseObject(line)?.[field]
    if (typeof value !== 'string' || value === '' || STATIC.test(value)) continue
    const url = urlParts(value)
    const shape = url === undefined || url.host === '' ? undefined : shapeOf(url)
    if (url === undefined || shape === undefined || shapes.has(shape)) continue
    if (isNoise(value) ? noisy.add(url.host) : shapes.add(shape)) yield line
  }
}
