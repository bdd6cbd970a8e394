import { expect, it, vi } from 'vitest'
import { describeEachEngine, type TestEngine } from '../../../../test/engines.js'
import { startTestServer, type TestServer } from '../../../../test/harness.js'
import { type MailServerForTests, startMailServer } from '../../../../test/mail-server.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount } from '../../../../test/tenant.js'
import { createLog } from '../../../platform/telemetry/log.js'

const password = 'seven green teapots'

interface Place extends AsyncDisposable {
  server: TestServer
  mails: MailServerForTests
  /** Lines of the log about mails, from warnings on. */
  lines: { level: string; msg: string; kind?: string; reason?: string; err?: { message: string } }[]
  setAnswer(status: number | undefined): void
}

/** A server with a mail server, which answers recipients with a status if one is set. */
async function createPlace(engine: TestEngine): Promise<Place> {
  let answer: number | undefined
  const mails = await startMailServer({
    onRcptTo: (_address, _session, done) =>
      answer === undefined
        ? done()
        : done(Object.assign(new Error('not now'), { responseCode: answer })),
  })
  const lines: Place['lines'] = []
  const log = await createLog({
    level: 'warn',
    destination: {
      write: (line) => {
        if (line.includes('"mails.send"')) lines.push(JSON.parse(line))
      },
    },
  })
  const environment = {
    BOTSTEAD_SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    BOTSTEAD_MAIL_FROM: 'Botstead <bots@example.com>',
    BOTSTEAD_TRUSTED_PROXIES: '127.0.0.1',
  }
  const server = await startTestServer(engine, environment, log)
  return {
    server,
    mails,
    lines,
    setAnswer: (status) => {
      answer = status
    },
    async [Symbol.asyncDispose]() {
      await server.close()
      await mails[Symbol.asyncDispose]()
    },
  }
}

const linkIn = (text: string | undefined, page: string) =>
  new RegExp(`http://\\S+/dashboard/${page}#(\\S+)`).exec(text ?? '')?.[1] ?? ''

/** Rows of mails that wait to be sent, and of all jobs about mails. */
const waiting = (server: TestServer) =>
  inDatabase(server, async ({ db }) => ({
    mails: await db.selectFrom('outgoing_mails').selectAll().execute(),
    jobs: await db
      .selectFrom('jobs')
      .select(['kind', 'state', 'payload', 'attempts'])
      .where('kind', 'in', ['mails.send', 'sign-in.forgotten'])
      .execute(),
  }))

const nothing = { mails: [], jobs: [] }

/** Waits until a row says so, with the time that passes between attempts. */
const until = (work: () => Promise<void>) => vi.waitFor(work, { timeout: 20_000 })

describeEachEngine('mail', (engine) => {
  it('brings an invitation, whose link works, and leaves no copy of it', async () => {
    await using place = await createPlace(engine)
    const { server, mails } = place
    const client = server.client()
    await client.updateAccount({ displayName: 'Ann <ann@evil.example>\r\nBcc: eve@example.com' })
    await client.updateWorkspace({
      id: server.workspaceId,
      name: 'Sales <b>& Co</b> evil.example/x',
    })
    const made = await client.createWorkspaceMember({
      email: 'Bea@Example.com',
      role: 'viewer',
      sendEmail: true,
    })
    expect(made).toMatchObject({ isMailed: true, invitationUrl: expect.any(String) })
    await until(async () => expect(mails.mails).toHaveLength(1))
    await until(async () => expect(await waiting(server)).toEqual(nothing))
    const [mail] = mails.mails
    expect(mail).toMatchObject({ from: 'bots@example.com', to: ['bea@example.com'] })
    expect(mail?.headers.filter((line) => /^(bcc|cc):/i.test(line))).toEqual([])
    expect(mail?.headers).toContain('From: Botstead <bots@example.com>')
    // Neither markup nor an address that a mail program would make a link of.
    expect(mail?.html).toContain('Sales &lt;b&gt;&amp; Co&lt;/b&gt; evil example x')
    expect(mail?.html).not.toContain('<b>')
    expect(mail?.text).not.toContain('evil.example')
    expect(mail?.html.match(/<a href="([^"]*)"/g)).toEqual([`<a href="${made.invitationUrl}"`])
    expect(mail?.text).toContain(made.invitationUrl)
    const page = server.client({ token: undefined, headers: { origin: server.url } })
    const code = linkIn(mail?.text, 'join')
    await page.signUpWithInvitation({ code, displayName: 'Bea', password })
    expect(place.lines).toEqual([])
  })

  it('is sent again with a new address, and after the first attempts failed', async () => {
    await using place = await createPlace(engine)
    const { server, mails } = place
    const client = server.client()
    place.setAnswer(450)
    const { id, isMailed } = await client.createWorkspaceMember({
      email: 'bea@example.com',
      role: 'viewer',
    })
    expect(isMailed).toBe(false)
    expect(await waiting(server)).toEqual(nothing)
    const made = await client.renewWorkspaceInvitation({ id, sendEmail: true })
    expect(made.isMailed).toBe(true)
    await until(async () => {
      expect(place.lines.length).toBeGreaterThan(0)
    })
    const { mails: rows, jobs } = await waiting(server)
    const code = made.invitationUrl.split('#')[1] ?? 'none'
    for (const secret of [code, 'bea@example.com']) {
      expect(JSON.stringify([rows, jobs])).not.toContain(secret)
    }
    expect(place.lines[0]).toMatchObject({
      level: 'warn',
      kind: 'mails.send',
      msg: 'job failed, will be tried again',
      reason: expect.stringMatching(
        /^The mail server 127.0.0.1:\d+ refused the address of the person: .*450 not now/,
      ),
    })
    expect(JSON.stringify(place.lines)).not.toContain(code)
    place.setAnswer(undefined)
    // More than the pause after a few attempts.
    await server.pass(600_000)
    await until(async () => expect(mails.mails).toHaveLength(1))
    expect(mails.mails[0]?.text).toContain(made.invitationUrl)
    await until(async () => expect(await waiting(server)).toEqual(nothing))
  })

  it('is given up where the person has no mailbox, and its link is not kept', async () => {
    await using place = await createPlace(engine)
    const { server } = place
    place.setAnswer(550)
    const input = { email: 'nobody@example.com', role: 'viewer', sendEmail: true } as const
    await server.client().createWorkspaceMember(input)
    await until(async () => {
      expect(await waiting(server)).toMatchObject({
        mails: [],
        jobs: [{ state: 'dead', attempts: 1 }],
      })
    })
    await until(async () => {
      expect(place.lines).toMatchObject([{ level: 'error', msg: 'job failed for good' }])
    })
  })

  it('stops after three to a mailbox, until time has passed', async () => {
    await using place = await createPlace(engine)
    const { server } = place
    const client = server.client()
    const { id } = await client.createWorkspaceMember({ email: 'bea@example.com', role: 'viewer' })
    const send = () => client.renewWorkspaceInvitation({ id, sendEmail: true })
    for (let sent = 0; sent < 3; sent++) await send()
    await expect(send()).rejects.toMatchObject({
      type: 'RateLimited',
      message: expect.stringMatching(/^Too many mails were asked for. Retry after \d+ s.$/),
    })
    // Without mail, a new address is there at once.
    await client.renewWorkspaceInvitation({ id })
  })
})

describeEachEngine('the mail for who forgot their password', (engine) => {
  const ask = (server: TestServer, email: string, headers: Record<string, string> = {}) =>
    server.fetch('/v1/admin/sign-in/reset/request', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ email }),
    })

  it('has a link that sets one, and nobody else gets a mail or another answer', async () => {
    await using place = await createPlace(engine)
    const { server, mails } = place
    const bea = await addAccount(server)
    const { account } = await server.client(bea).getAccount()
    const page = server.client({ token: undefined, headers: { origin: server.url } })
    expect(await page.getSignInWays({})).toMatchObject({ mail: true })
    const evil = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
    const answers = []
    for (const email of ['nobody@example.com', account.email.toUpperCase()]) {
      const response = await ask(server, email, evil)
      answers.push([response.status, await response.text()])
    }
    expect(answers).toEqual([
      [200, '{}'],
      [200, '{}'],
    ])
    await until(async () => expect(mails.mails).toHaveLength(1))
    await until(async () => expect(await waiting(server)).toEqual(nothing))
    const [mail] = mails.mails
    expect(mail?.to).toEqual([account.email])
    expect(mail?.raw).not.toContain('evil.example')
    const code = linkIn(mail?.text, 'reset')
    expect(await page.getPasswordReset({ code })).toMatchObject({ email: account.email })
    // The first mailed link proves the address: tokens of before may be those of somebody else.
    await page.resetPassword({ code, password })
    await expect(server.client(bea).getAccount()).rejects.toMatchObject({ type: 'Unauthorized' })
    await expect(page.resetPassword({ code, password })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
  })

  it('keeps the tokens of the operator, and of those whose address was proven', async () => {
    await using place = await createPlace(engine)
    const { server, mails } = place
    const page = server.client({ token: undefined, headers: { origin: server.url } })
    await server.client().changeAccountEmail({ email: 'ann@example.com' })
    const reset = async (email: string) => {
      const before = mails.mails.length
      await ask(server, email)
      await until(async () => expect(mails.mails).toHaveLength(before + 1))
      await page.resetPassword({ code: linkIn(mails.mails.at(-1)?.text, 'reset'), password })
    }
    await reset('ann@example.com')
    expect((await server.client().getAccount()).account.emailVerified).toBe(true)
    // Of an address that was given up, a link that is on its way must not work.
    await ask(server, 'ann@example.com')
    await until(async () => expect(mails.mails).toHaveLength(2))
    await server
      .client()
      .changeAccountEmail({ email: 'new@example.com', currentPassword: password })
    expect((await server.client().getAccount()).account.emailVerified).toBe(false)
    const code = linkIn(mails.mails.at(-1)?.text, 'reset')
    await expect(page.resetPassword({ code, password })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
  })

  it('waits after three of an address, and ten of a network address, known or not', async () => {
    await using place = await createPlace(engine)
    const { server } = place
    const { account } = await server.client(await addAccount(server)).getAccount()
    for (const [at, email] of [account.email, 'nobody@example.com'].entries()) {
      const statuses = []
      for (let count = 0; count < 4; count++) {
        const from = { 'x-forwarded-for': `203.0.113.${10 * at + count}` }
        statuses.push((await ask(server, email, from)).status)
      }
      expect(statuses).toEqual([200, 200, 200, 429])
    }
    const statuses = new Set<number>()
    for (let count = 0; count < 11; count++) {
      const from = { 'x-forwarded-for': '198.51.100.1' }
      statuses.add((await ask(server, `somebody${count}@example.com`, from)).status)
    }
    expect([...statuses]).toEqual([200, 429])
  })

  it('is not offered without a mail server', async () => {
    const server = await startTestServer(engine)
    try {
      expect(await server.client().getSignInWays({})).toMatchObject({ mail: false })
      expect((await ask(server, 'admin@localhost')).status).toBe(404)
      const made = await server.client().createWorkspaceMember({
        email: 'bea@example.com',
        role: 'viewer',
        sendEmail: true,
      })
      expect(made.isMailed).toBe(false)
    } finally {
      await server.close()
    }
  })
})
