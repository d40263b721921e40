import type { FileScope } from '../paths/allowed.ts'
import { parseObject } from './jsonl.ts'
import { Distinct, linesOf } from '../files/lines.ts'
import { queryPairs, urlParts, type UrlParts } from './url-parts.ts'

/** Images, fonts, styles, audio and video, but not scripts. */
const STATIC =
  /\.(png|apng|bmp|gif|ico|cur|jpe?g|jfif|pjp|pjpeg|svg|tiff?|webp|xbm|3gp|aac|flac|mpe?g|mp[34]|m4[avp]|og[agv]|mov|wav|webm|eot|woff2?|[ot]tf|css)(\?|#|$)/i

const DATE = /\d{2,4}[-/]\d{1,2}[-/]\d{1,2}/
const ARTICLE =
  /\/(articles|about|blog|events?|shop|posts?|products?|docs|support|pages|media|careers|jobs|videos?|resources?|news)\//
const NUMBERED = /\/\d+(\.[a-z]+)?$/

/** Articles and numbered pages: many URLs of the same kind. */
const isNoise = (url: string): boolean => DATE.test(url) || ARTICLE.test(url) || NUMBERED.test(url)

const MAX_SEGMENT = 100
const MAX_DASHES = 3

/** Host, path and parameter names; undefined for a path that was derived from a title or key. */
const shapeOf = ({ host, path, query = '' }: UrlParts): string | undefined => {
  const parts = path.split('/')
  const isLong = (part: string) =>
    Buffer.byteLength(part) > MAX_SEGMENT || part.split('-').length - 1 > MAX_DASHES
  if (parts.length > 1 && parts.some(isLong)) return undefined
  const names = new Set(queryPairs(query).map(([name]) => name))
  return JSON.stringify([host, path, ...[...names].sort()])
}

/** Lines with interesting URLs, one per kind; of similar pages one per host. */
export const interestingLines = async function* (
  source: string,
  field: string,
  scope: FileScope,
): AsyncGenerator<string> {
  const [shapes, noisy] = [new Distinct(), new Distinct()]
  for await (const text of linesOf(source, scope)) {
    const line = text.trim()
    const value = field === '' ? line : parseObject(line)?.[field]
    if (typeof value !== 'string' || value === '' || STATIC.test(value)) continue
    const url = urlParts(value)
    const shape = url === undefined || url.host === '' ? undefined : shapeOf(url)
    if (url === undefined || shape === undefined || shapes.has(shape)) continue
    if (isNoise(value) ? noisy.add(url.host) : shapes.add(shape)) yield line
  }
}
