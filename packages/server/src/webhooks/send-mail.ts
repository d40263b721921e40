import { errorText, type Secret } from '@scanfarm/platform'

/** The mail server of the settings. */
export interface MailSettings {
  /** `smtp://NAME:PASSWORD@HOST:PORT?from=ADDRESS` or `smtps://…`. */
  readonly url: Secret | undefined
}

/** For connection and greeting. */
const PATIENCE_MS = 10_000
/** For each other answer: a server that looks into a mail before it accepts it would get it again. */
const ANSWER_MS = 120_000
const DEFAULT_SENDER = 'scanfarm@localhost'

/** Addresses of a subscription by mail: `mailto:a@example.com,b@example.com`. Undefined if it has another form. */
export const mailAddresses = (url: string): string[] | undefined => {
  const [, list] = /^mailto:([^?#]+)$/i.exec(url) ?? []
  const addresses = list?.split(',').map((one) => one.trim())
  return addresses?.every((one) => /^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+$/.test(one)) === true
    ? addresses
    : undefined
}

export interface Message {
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  /** The same for every attempt; mail programs show a message with a known id once. */
  readonly id: string
  /** A page in HTML. */
  readonly attachment: { readonly filename: string; readonly content: string } | undefined
}

/** Sends one message. Resolves to the answer of the mail server, or the problem. */
export const sendMail = async (
  { to, subject, text, id, attachment }: Message,
  { url }: MailSettings,
): Promise<{ answer: string; problem: string }> => {
  if (url === undefined) return { answer: '', problem: 'no mail server is set: set mail.url' }
  try {
    const { createTransport } = await import('nodemailer')
    const server = new URL(url.reveal())
    const from = server.searchParams.get('from') ?? DEFAULT_SENDER
    server.searchParams.delete('from')
    const timeouts = {
      connectionTimeout: PATIENCE_MS,
      greetingTimeout: PATIENCE_MS,
      socketTimeout: ANSWER_MS,
    }
    const transport = createTransport({ url: server.href, ...timeouts })
    const messageId = `<${id.replaceAll(/[^\w.-]/g, '_')}@${/[^@>\s]+(?=>?\s*$)/.exec(from)?.[0] ?? 'scanfarm'}>`
    const attachments = attachment === undefined ? [] : [{ ...attachment, contentType: 'text/html' }]
    const { response } = await transport.sendMail({
      from,
      to: [...to],
      subject,
      text,
      messageId,
      attachments,
    })
    return { answer: response, problem: '' }
  } catch (error) {
    return { answer: '', problem: `the mail server: ${errorText(error)}` }
  }
}
