import type SMTPConnection from 'nodemailer/lib/smtp-connection'

/** A mail server that is given mails. */
interface MailServer {
  host: string
  port: number
  /** `starttls` refuses a server that cannot. */
  encryption: 'tls' | 'starttls' | 'none'
  login: { user: string; pass: string } | undefined
}

/** A mail to one person. */
export interface Mail {
  /** The same for each attempt, so that mailboxes recognise one that arrives twice. */
  id: string
  to: string
  subject: string
  text: string
  html: string
}

/** A mail was not accepted; the message is for the operator. */
export class MailError extends Error {
  override name = 'MailError'
  /** Whether another attempt would be refused too. */
  readonly isFinal: boolean

  constructor(
    message: string,
    { isFinal = false, cause }: { isFinal?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.isFinal = isFinal
  }
}

/** Hands mails to a mail server. */
export interface Mailer {
  /** @throws MailError if the server has not accepted the mail */
  send(mail: Mail, signal: AbortSignal): Promise<void>
  /** Connects and signs in, and sends nothing. @throws MailError */
  check(signal: AbortSignal): Promise<void>
}

export interface MailerOptions {
  server: MailServer
  from: { name: string; address: string }
  /** Milliseconds for which a silent server is waited for. */
  silenceMs?: number
  /** Certificates of authorities that are trusted, in PEM; those of Node by default. */
  ca?: string
}

/** Milliseconds. */
const defaultSilenceMs = 15_000
/** Characters of the words of a server that errors repeat. */
const maxSaidLength = 300

/** What no mailbox has without quotes: a list of addresses, or another line of a header. */
const strange = /[\s\p{Cc}\p{Cf}"(),:;<>[\\\]]/u

export function createMailer({
  server,
  from,
  silenceMs = defaultSilenceMs,
  ca,
}: MailerOptions): Mailer {
  const name = `The mail server ${server.host}:${server.port}`

  /** Works with a connection that is signed in, and ends it in any case. */
  async function withConnection(
    signal: AbortSignal,
    work: (connection: SMTPConnection) => Promise<void>,
  ): Promise<void> {
    signal.throwIfAborted()
    // Loaded by the first mail: a server without mail never needs it.
    const { default: Connection } = await import('nodemailer/lib/smtp-connection')
    const connection = new Connection({
      host: server.host,
      port: server.port,
      secure: server.encryption === 'tls',
      requireTLS: server.encryption === 'starttls',
      ignoreTLS: server.encryption === 'none',
      connectionTimeout: silenceMs,
      greetingTimeout: silenceMs,
      socketTimeout: silenceMs,
      dnsTimeout: silenceMs,
      tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    })
    let abort = () => {}
    // Faults of a connection come as events, also between two commands.
    const broken = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason)
      connection.on('error', reject)
      connection.on('end', () => reject(new Error('it closed the connection')))
      signal.addEventListener('abort', abort)
    })
    broken.catch(() => {})
    const { login } = server
    try {
      await Promise.race([broken, called((done) => connection.connect(done))])
      if (login !== undefined) {
        await Promise.race([broken, called((done) => connection.login(login, done))])
      }
      await Promise.race([broken, work(connection)])
      connection.quit()
    } catch (error) {
      connection.close()
      signal.throwIfAborted()
      throw explain(name, error)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  return {
    async send(mail, signal) {
      if (strange.test(mail.to)) {
        throw new MailError(
          `The address ${JSON.stringify(mail.to)} is not one that mail can be sent to.`,
          {
            isFinal: true,
          },
        )
      }
      const message = await compose(mail, from)
      await withConnection(signal, (connection) =>
        called((done) =>
          connection.send(
            { from: from.address, to: [mail.to], size: message.length },
            message,
            done,
          ),
        ),
      )
    },
    check: (signal) => withConnection(signal, async () => {}),
  }
}

async function compose(mail: Mail, from: MailerOptions['from']): Promise<Buffer> {
  const { default: Composer } = await import('nodemailer/lib/mail-composer')
  const { host } = new URL(`mail://${from.address.slice(from.address.lastIndexOf('@') + 1)}`)
  const composer = new Composer({
    // The composer writes into what it gets.
    from: { ...from },
    // An object is not read as a list of addresses.
    to: { name: '', address: mail.to },
    subject: mail.subject.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' '),
    messageId: `<${mail.id}@${host}>`,
    text: mail.text,
    html: mail.html,
    headers: { 'auto-submitted': 'auto-generated', 'x-auto-response-suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return await composer.compile().build()
}

function called(work: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    work((error) => (error ? reject(error) : resolve()))
  })
}

function explain(name: string, error: unknown): MailError {
  const cause = error instanceof Error ? error : new Error(String(error))
  const { code, command, responseCode, response } = cause as Error & Record<string, unknown>
  const said = printable(String(response ?? cause.message))
  const problem = (text: string, isFinal = false) =>
    new MailError(`${name} ${text}`, { isFinal, cause })
  const isLasting = typeof responseCode === 'number' && responseCode >= 500
  if (code === 'EAUTH' || code === 'ENOAUTH') {
    return problem(`refused the user name or password of BOTSTEAD_SMTP_URL: ${said}`)
  }
  if (/certificate|altnames|self.signed|unable to (verify|get)/i.test(cause.message)) {
    return problem(`did not prove its identity by its certificate: ${said}`)
  }
  if (code === 'ETLS') return problem(`offers no TLS (STARTTLS): ${said}`)
  if (command === 'RCPT TO') return problem(`refused the address of the person: ${said}`, isLasting)
  if (command === 'MAIL FROM') return problem(`refused the sender of BOTSTEAD_MAIL_FROM: ${said}`)
  if (typeof responseCode === 'number')
    return problem(`refused the mail: ${said}`, isLasting && command === 'DATA')
  if (code === 'ETIMEDOUT') return problem(`took too long to respond: ${said}`)
  return problem(`cannot be used: ${said}`)
}

/** The words of a server as one line of the log. A filter may repeat a link of the mail: its secret is left out. */
function printable(text: string): string {
  const line = text
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .replaceAll(/bp_[a-z]+_[\w-]+/gi, '[secret]')
    .trim()
  return line.length > maxSaidLength ? `${line.slice(0, maxSaidLength - 1)}…` : line
}
