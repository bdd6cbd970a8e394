import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail that a server accepted. */
interface ReceivedMail {
  from: string
  to: string[]
  /** As it came. */
  raw: string
  /** Header lines that were folded are joined. */
  headers: string[]
  /** The part in plain text, decoded. */
  text: string
  html: string
  isEncrypted: boolean
}

const fixture = (name: string) => join(import.meta.dirname, 'fixtures', 'tls', name)
/** A certificate of `localhost` that is its own authority, and that nobody trusts by itself. */
export const ownCertificateFile = fixture('localhost.pem')
export const ownCertificate = readFileSync(ownCertificateFile, 'utf8')

export interface MailServerForTests extends AsyncDisposable {
  port: number
  mails: ReceivedMail[]
}

/** A real mail server on a free port; `more` decides on what it refuses. */
export async function startMailServer(more: SMTPServerOptions = {}): Promise<MailServerForTests> {
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    key: readFileSync(fixture('localhost-key.pem'), 'utf8'),
    cert: ownCertificate,
    disableReverseLookup: true,
    closeTimeout: 100,
    onData(stream, session, done) {
      text(stream).then((raw) => {
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          isEncrypted: session.secure,
          ...read(raw),
        })
        done()
      }, done)
    },
    ...more,
  })
  // A client that refuses the certificate is a fault of the connection here.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function read(raw: string): Pick<ReceivedMail, 'raw' | 'headers' | 'text' | 'html'> {
  const [head = ''] = raw.split('\r\n\r\n', 1)
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1] ?? ''
  const [, plain = '', html = ''] = raw.split(`--${boundary}`)
  return {
    raw,
    headers: head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n'),
    text: decode(plain),
    html: decode(html),
  }
}

function decode(part: string): string {
  const end = part.indexOf('\r\n\r\n')
  const body = part.slice(end + 4)
  if (/base64/i.test(part.slice(0, end))) return Buffer.from(body, 'base64').toString()
  if (!/quoted-printable/i.test(part.slice(0, end))) return body
  const bytes = body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
