import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ownCertificate, startMailServer } from '../../../test/mail-server.js'
import { freePort } from '../../../test/ports.js'
import { createMailer, type Mail, type MailerOptions } from './mailer.js'

const from = Object.freeze({ name: 'Bots, "of" Ann', address: 'bots@example.com' })
const mail: Mail = {
  id: '7f0c',
  to: 'bea@example.com',
  subject: 'Grüße',
  text: 'A link: http://localhost/#bp_inv_1\n',
  html: '<p>A link</p>',
}
const never = new AbortController().signal

/** A mailer that waits longer than a busy machine stands still, unless the test is about that. */
function mailerFor(
  port: number,
  more: Partial<MailerOptions['server']> & Pick<MailerOptions, 'ca' | 'silenceMs'> = {},
) {
  const { ca, silenceMs = 120_000, ...server } = more
  return createMailer({
    server: { host: 'localhost', port, encryption: 'none', login: undefined, ...server },
    from,
    silenceMs,
    ...(ca !== undefined && { ca }),
  })
}

const refused = (message: RegExp, isFinal = false) => ({
  name: 'MailError',
  message: expect.stringMatching(message),
  isFinal,
})

describe('a mailer', () => {
  it('hands a mail over in plain text and HTML, from the sender to one person', async () => {
    await using server = await startMailServer()
    await mailerFor(server.port).send(mail, never)
    expect(server.mails).toHaveLength(1)
    const [got] = server.mails
    expect(got).toMatchObject({ from: from.address, to: [mail.to], isEncrypted: false })
    expect(got?.headers).toContain('Message-ID: <7f0c@example.com>')
    expect(got?.headers).toContain('Auto-Submitted: auto-generated')
    expect(got?.text).toContain(mail.text.trim())
    expect(got?.html).toContain(mail.html)
  })

  it.each(['tls', 'starttls'] as const)(
    'encrypts by %s for a certificate that is trusted',
    async (encryption) => {
      await using server = await startMailServer(
        encryption === 'tls' ? { secure: true } : { disabledCommands: [] },
      )
      await mailerFor(server.port, { encryption, ca: ownCertificate }).send(mail, never)
      expect(server.mails).toMatchObject([{ isEncrypted: true }])
      const stranger = mailerFor(server.port, { encryption })
      await expect(stranger.send(mail, never)).rejects.toMatchObject(
        refused(/^The mail server localhost:\d+ did not prove its identity by its certificate: /),
      )
      expect(server.mails).toHaveLength(1)
    },
  )

  it('sends nothing to a server that cannot encrypt, unless that is wanted', async () => {
    let logins = 0
    await using server = await startMailServer({
      onAuth: (_auth, _session, done) => {
        logins++
        done(null, { user: 'x' })
      },
    })
    const login = { user: 'ann', pass: 'secret' }
    await expect(
      mailerFor(server.port, { encryption: 'starttls', login }).send(mail, never),
    ).rejects.toMatchObject(refused(/offers no TLS/))
    expect([server.mails, logins]).toEqual([[], 0])
  })

  it('signs in, and says in plain words that a password is wrong', async () => {
    await using server = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === 'ann@x' && password === 'se:cret'
          ? done(null, { user: username })
          : done(new Error('no')),
    })
    await mailerFor(server.port, { login: { user: 'ann@x', pass: 'se:cret' } }).send(mail, never)
    expect(server.mails).toHaveLength(1)
    const wrong = mailerFor(server.port, { login: { user: 'ann@x', pass: 'other' } })
    await expect(wrong.check(never)).rejects.toMatchObject(
      refused(/refused the user name or password of BOTSTEAD_SMTP_URL: 535/),
    )
  })

  it('tells lasting refusals of the person from others, and repeats what was said in one line', async () => {
    let status = 550
    await using server = await startMailServer({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('no such\tmailbox'), { responseCode: status })),
    })
    const mailer = mailerFor(server.port)
    await expect(mailer.send(mail, never)).rejects.toMatchObject(
      refused(/refused the address of the person: .*550 no such mailbox/, true),
    )
    status = 450
    await expect(mailer.send(mail, never)).rejects.toMatchObject(
      refused(/refused the address of the person: .*450 no such mailbox/),
    )
  })

  it.each([
    ['a, b@example.com'],
    ['a@example.com\r\nBcc: c@example.com'],
    ['"a b"@example.com'],
    ['<a@example.com>'],
  ])('does not send to %j', async (to) => {
    await using server = await startMailServer()
    await expect(mailerFor(server.port).send({ ...mail, to }, never)).rejects.toMatchObject(
      refused(/is not one that mail can be sent to/, true),
    )
    expect(server.mails).toEqual([])
  })

  it('makes one line of a subject', async () => {
    await using server = await startMailServer()
    const subject = 'Join\r\nBcc: eve@example.com\r\n\r\n<b>x</b>'
    await mailerFor(server.port).send({ ...mail, subject }, never)
    const [got] = server.mails
    expect(got?.to).toEqual([mail.to])
    expect(got?.headers.filter((line) => /^bcc/i.test(line))).toEqual([])
    expect(got?.headers).toContain('Subject: Join Bcc: eve@example.com <b>x</b>')
  })

  it('gives up on a server that is silent, closes or is not there', async () => {
    const silent = createServer(() => {})
    const closing = createServer((socket) => socket.end('220 here\r\n'))
    for (const server of [silent, closing]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    }
    const portOf = (server: typeof silent) => Number(Object(server.address()).port)
    const port = portOf(silent)
    const hasty = mailerFor(port, { silenceMs: 500 })
    await expect(hasty.send(mail, never)).rejects.toMatchObject(
      refused(/^The mail server localhost:\d+ took too long to respond: /),
    )
    await expect(mailerFor(portOf(closing)).send(mail, never)).rejects.toMatchObject(
      refused(/^The mail server localhost:\d+ cannot be used: /),
    )
    closing.close()
    const ending = new AbortController()
    const waiting = mailerFor(port).send(mail, ending.signal)
    ending.abort(new Error('the server stops'))
    await expect(waiting).rejects.toThrow('the server stops')
    silent.close()
    await expect(mailerFor(await freePort()).send(mail, never)).rejects.toMatchObject(
      refused(/cannot be used: .*ECONNREFUSED/),
    )
  })
})
