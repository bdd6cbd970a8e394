import { ApiError } from '@botstead/contract'
import type { Browser } from '../../../domain/browser.js'
import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import { hashToken, newToken } from '../../../platform/ids.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { SignInDeps } from './deps.js'
import * as store from './store.js'

const requestJob = 'sign-in.forgotten'
/** Milliseconds for which a mailed link sets a password. */
const linkLifetime = 60 * 60 * 1000

/**
 * Asks for a mail with a link that sets the password. The request is the same for every address: whether there is an account
 * is found by a job, so that neither the response nor its time tells.
 */
export async function requestReset(
  { run, queue, sealer, mail }: SignInDeps,
  given: string,
  { address, isLocal }: Browser,
): Promise<void> {
  if (!mail.isOn) {
    throw new ApiError(
      'ResourceNotFound',
      'This server sends no mail: ask its operator for a link that sets a password.',
    )
  }
  const email = given.trim().toLowerCase()
  await run(async (tx) => {
    await mail.countTo(tx, 'reset', email, isLocal ? undefined : { key: address, free: 10 })
    await queue.enqueue(tx, {
      kind: requestJob,
      key: hashToken(email),
      // A list of the addresses that people typed is nobody's business.
      payload: { sealed: sealer.seal(email) },
    })
  })
}

/** Jobs that answer the requests of people who forgot their password. */
export function forgottenJobs(deps: SignInDeps): Record<string, JobHandler<{ sealed: string }>> {
  return {
    [requestJob]: {
      handler: async () => {},
      // With the end of the job, so that a repeated attempt makes no second link.
      onDone: (tx, { payload }) => mailLink(deps, tx, deps.sealer.open(payload.sealed)),
    },
  }
}

async function mailLink(
  { clock, addresses, accounts, mail }: SignInDeps,
  tx: Tx,
  email: string,
): Promise<void> {
  const account = await accounts.findByEmail(tx, email)
  if (account === undefined) return
  const code = newToken('bp_res_')
  const expiresAt = isoTime(clock.now() + linkLifetime)
  await store.insertReset(tx, {
    hash: hashToken(code),
    account_id: account.id,
    expires_at: expiresAt,
    mailed_to: email,
  })
  const place = new URL(addresses.base()).host
  await mail.enqueue(tx, {
    to: email,
    expiresAt,
    isUrgent: true,
    subject: `Set your password for Botstead at ${place}`,
    paragraphs: [
      `Somebody, probably you, asked for a link that sets the password of the account ${email} at ${place}.`,
    ],
    // The code stands behind the number sign, which browsers do not send: it is in no log of a proxy.
    link: { label: 'Set the password', url: `${addresses.base()}/dashboard/reset#${code}` },
    after: [
      'The link works once, within an hour. All browsers that are signed in are then signed out.',
      'If it was not you, do nothing: the password stays as it is.',
    ],
  })
}
