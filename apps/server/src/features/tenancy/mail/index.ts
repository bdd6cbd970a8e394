import { randomUUID } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { hashToken } from '../../../platform/ids.js'
import { OutsideJobError, PermanentJobError } from '../../../platform/jobs/errors.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import {
  createMailer,
  type Mail,
  MailError,
  type MailerOptions,
} from '../../../platform/mail/mailer.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import type { Feature } from '../../feature.js'
import { type Counted, countAttempt } from '../passwords/index.js'
import { type Letter, render } from './letter.js'
import * as store from './store.js'

export { nameInMail } from './letter.js'

export interface MailDeps {
  db: Db
  clock: Clock
  queue: Queue
  sealer: Sealer
  /** The mail server and the sender; undefined where no mail is sent. */
  mail: Pick<MailerOptions, 'server' | 'from'> | undefined
}

/** A mail to be sent. */
interface NewMail extends Letter {
  to: string
  /** ISO 8601 time at which its link stops working: it is not sent any more. */
  expiresAt: string
  /** Whether a person waits for it at a page: it is sent before others, and has places of its own among those that wait. */
  isUrgent?: boolean
}

export type MailService = ReturnType<typeof createMailService>

const sendMailJob = 'mails.send'
/** Attempts, in about four hours. */
const maxAttempts = 30
/** Milliseconds for one attempt. */
const attemptMs = 60_000
/** Mails that wait at a time, those that are not urgent and all; what is asked for beyond is refused. */
const maxWaiting = { usual: 4000, urgent: 5000 }
const minute = 60_000

/** Mail of the server to people, which a job sends. */
export function createMail(deps: MailDeps): Feature & { service: MailService } {
  const sending = createSending(deps)
  return {
    name: 'mail',
    service: createMailService(deps),
    jobs: { [sendMailJob]: sending },
    sweeps: [(tx) => store.deleteExpiredMails(tx, isoTime(deps.clock.now()))],
  }
}

function createMailService(deps: MailDeps) {
  return { isOn: deps.mail !== undefined, ...bound(deps, { enqueue: enqueueMail, countTo }) }
}

/** Sends a mail after the transaction. @throws ApiError `LimitExceeded` if too many wait */
async function enqueueMail(
  { clock, queue, sealer }: MailDeps,
  tx: Tx,
  { to, expiresAt, isUrgent = false, ...letter }: NewMail,
): Promise<void> {
  const max = isUrgent ? maxWaiting.urgent : maxWaiting.usual
  if ((await store.countMails(tx)) >= max) {
    throw new ApiError(
      'LimitExceeded',
      `${max} mails wait to be sent already: the operator finds the reason in the log.`,
    )
  }
  const id = randomUUID()
  const mail: Mail = { id, to, ...render(letter) }
  await store.insertMail(tx, {
    id,
    sealed: sealer.seal(JSON.stringify(mail)),
    created_at: isoTime(clock.now()),
    expires_at: expiresAt,
  })
  await queue.enqueue(tx, {
    kind: sendMailJob,
    key: id,
    payload: { id },
    priority: isUrgent ? 'high' : 'normal',
    maxAttempts,
    deadlineMs: attemptMs,
  })
}

/**
 * Counts a mail to a mailbox, and those that somebody asked for, so that nobody can flood a mailbox.
 * @param purpose counted by itself
 * @param by the account or network address that asked, and how many it may ask for without a pause
 * @throws ApiError `RateLimited`
 */
async function countTo(
  { clock }: MailDeps,
  tx: Tx,
  purpose: 'reset' | 'invitation',
  mailbox: string,
  by?: { key: string; free: number },
): Promise<void> {
  const pace = {
    firstPause: minute,
    maxPause: 60 * minute,
    refusal: 'Too many mails were asked for.',
  }
  // The mailbox is a text of any length that somebody typed; most servers deliver to it whatever follows a plus sign.
  const plain = mailbox.toLowerCase().replace(/\+[^@]*@/, '@')
  const counted: Counted[] = [{ key: `mail:${purpose}:to:${hashToken(plain)}`, free: 3, ...pace }]
  if (by !== undefined) {
    counted.push({ key: `mail:${purpose}:by:${by.key}`, free: by.free, ...pace })
  }
  await countAttempt(tx, clock, counted)
}

function createSending({ db, clock, sealer, mail }: MailDeps): JobHandler<{ id: string }> {
  const mailer = mail && createMailer(mail)
  return {
    concurrency: 2,
    handler: async ({ payload: { id } }, { signal }) => {
      const row = await store.findMail(db, id)
      if (row === undefined || row.expires_at <= isoTime(clock.now())) {
        throw new PermanentJobError('The link in the mail does not work any more: it was not sent.')
      }
      if (mailer === undefined) {
        throw new OutsideJobError('BOTSTEAD_SMTP_URL is not set any more: the mail waits.')
      }
      try {
        await mailer.send(JSON.parse(sealer.open(row.sealed)), signal)
      } catch (error) {
        if (!(error instanceof MailError)) throw error
        throw error.isFinal
          ? new PermanentJobError(error.message)
          : new OutsideJobError(error.message)
      }
    },
    onDone: (tx, { payload: { id } }) => store.deleteMail(tx, id),
    // Its link must not be kept for longer than it may be sent.
    onDead: (tx, { payload: { id } }) => store.deleteMail(tx, id),
  }
}
