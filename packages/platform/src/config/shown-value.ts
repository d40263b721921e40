import { Secret } from '../secret.ts'
import type { Setting } from './setting.ts'

const MASK = '***'
const URL_TEXT = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s/?#]*@)?([^\s/?#]*)([^\s?#]*)(\?[^\s#]*)?(#\S*)?/gi

/** Addresses without user info, query and fragment; with `hidePath` without their path too, where webhooks have their secret. */
const withoutSecrets = (text: string, hidePath: boolean): string =>
  text.replaceAll(URL_TEXT, (_, scheme: string, user = '', host = '', path = '', query = '', fragment = '') =>
    [
      scheme,
      user && `${MASK}@`,
      host,
      hidePath && path.length > 1 ? `/${MASK}` : path,
      query && `?${MASK}`,
      fragment && `#${MASK}`,
    ].join(''),
  )

/** The value of a setting as people may see it. */
export const shownValue = (
  setting: Pick<Setting<unknown>, 'secretPath' | 'shown'>,
  value: unknown,
): unknown => {
  if (setting.shown !== undefined) return setting.shown(value)
  if (value instanceof Secret) return String(value)
  if (typeof value === 'string') return withoutSecrets(value, setting.secretPath)
  return Array.isArray(value) ? value.map((item) => shownValue(setting, item)) : (value ?? null)
}
