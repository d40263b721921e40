import { XMLParser } from 'fast-xml-parser'
import { unreadable } from './read-body.ts'

/** Attributes and elements become fields; all values stay texts. */
export const parseXml = (text: string): unknown => {
  // Scanners declare no entities; a file that does is malicious.
  if (text.includes('<!ENTITY')) throw unreadable('it declares XML entities')
  try {
    return new XMLParser({
      ignoreAttributes: false,
      attributeNamePrefix: '',
      parseAttributeValue: false,
      parseTagValue: false,
      // Line breaks in attributes are written as `&#xa;`.
      htmlEntities: true,
    }).parse(text, true)
  } catch (error) {
    throw unreadable('it is not valid XML, or is truncated', 'invalid_input', error)
  }
}
