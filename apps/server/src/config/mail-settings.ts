import { type Kind, optional, type Values } from './setting-kinds.js'

/** The mail server of the operator. */
export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** Whether a connection begins with TLS, or turns to it (STARTTLS), or stays plain. */
  readonly encryption: 'tls' | 'starttls' | 'none'
  readonly login: { readonly user: string; readonly pass: string } | undefined
}

/** A mailbox with the name that is shown beside it. */
export interface Mailbox {
  readonly name: string
  readonly address: string
}

/** What mail is sent with. */
export interface MailConfig {
  readonly server: SmtpServer
  readonly from: Mailbox
}

const isLoopback = (host: string) => /^(localhost|127\.[\d.]+|::1)$/.test(host)

const smtpAddress: Kind<SmtpServer> = {
  accepts:
    'an address such as smtps://user:password@mail.example.com or smtp://mail.example.com:587, with ?tls=off for a server without TLS',
  parse(given) {
    const url = URL.canParse(given) ? new URL(given) : undefined
    if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
      return undefined
    const { tls = '', ...others } = Object.fromEntries(url.searchParams)
    const isPlain = url.pathname === '' || url.pathname === '/'
    if (!isPlain || url.hash !== '' || Object.keys(others).length > 0) return undefined
    if (!['', 'off', 'required'].includes(tls)) return undefined
    const isDirect = url.protocol === 'smtps:'
    if (isDirect && tls === 'off') return undefined
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const isOpen = tls === 'off' || (tls === '' && isLoopback(host))
    try {
      const user = decodeURIComponent(url.username)
      const login = user === '' ? undefined : { user, pass: decodeURIComponent(url.password) }
      return Object.freeze({
        host,
        port: url.port === '' ? (isDirect ? 465 : 587) : Number(url.port),
        encryption: isDirect ? 'tls' : isOpen ? 'none' : 'starttls',
        login,
      })
    } catch {
      return undefined
    }
  },
}

const mailbox: Kind<Mailbox> = {
  accepts: 'an address such as bots@example.com or Botstead <bots@example.com>',
  parse(given) {
    const [, name = '', inside] = /^([^<>]{0,100}?)\s*<([^<>]+)>$/.exec(given) ?? []
    const address = inside ?? given
    if (!/^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w.-]{1,255}$/.test(address)) return undefined
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they end a line of a header.
    if (/[\u0000-\u001f\u007f]/.test(name)) return undefined
    return Object.freeze({ name: name.replace(/^"(.*)"$/, '$1'), address })
  },
}

/** Mail that the server sends: invitations, and links that set a password. */
export const mailSettings = {
  smtp: optional('BOTSTEAD_SMTP_URL', smtpAddress, {
    default: 'none: the server sends no mail',
    meaning:
      'Mail server (SMTP) for invitations and reset links. smtps encrypts from the start (port 465), smtp by STARTTLS (port 587); a server that cannot is refused, unless it is on this machine or the address ends with ?tls=off.',
    secret: true,
  }),
  from: optional('BOTSTEAD_MAIL_FROM', mailbox, {
    default: 'none; must be set together with BOTSTEAD_SMTP_URL',
    meaning: 'Sender of these mails.',
  }),
}

/** @param problems gets a line for what is wrong */
export function readMail(
  { smtp, from }: Values<typeof mailSettings>,
  problems: string[],
): MailConfig | undefined {
  if ((smtp === undefined) !== (from === undefined)) {
    problems.push('BOTSTEAD_SMTP_URL and BOTSTEAD_MAIL_FROM must be set together, or neither.')
  }
  return smtp && from && Object.freeze({ server: smtp, from })
}
