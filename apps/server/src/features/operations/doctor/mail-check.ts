import type { Config } from '../../../config/config.js'
import { createMailer, MailError } from '../../../platform/mail/mailer.js'
import { type Finding, failed, ok } from './finding.js'

/** Milliseconds for each step of a mail server that is silent; the check as a whole has more. */
const silenceMs = 5000

/** Connects to the mail server and signs in. No mail is sent. */
export async function checkMail({ mail }: Config, signal: AbortSignal): Promise<Finding[]> {
  if (mail === undefined) {
    return [ok('none: invitations and reset links are passed on by hand (BOTSTEAD_SMTP_URL)')]
  }
  const { server, from } = mail
  try {
    await createMailer({ server, from, silenceMs }).check(signal)
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    return [
      failed(
        `${error.message.replace(/\.?$/, '.')}`,
        'Correct BOTSTEAD_SMTP_URL, or the mail server: invitations and reset links wait.',
      ),
    ]
  }
  const encryption = { tls: 'TLS', starttls: 'STARTTLS', none: 'no encryption' }[server.encryption]
  return [ok(`${server.host}:${server.port} accepts mail of ${from.address}, with ${encryption}`)]
}
