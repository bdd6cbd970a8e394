import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { allOperations } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { changes } from './changes.js'

const sources = join(import.meta.dirname, '..')

/** Operations that change nothing that a screen keeps, or whose screen reads again only a part of what they change. */
const withoutTable = [
  // The frame reads everything again.
  'createSession',
  'deleteAccount',
  'finishSingleSignOn',
  'resetPassword',
  'signInWithPasskey',
  'signInWithPassword',
  'signInWithSecondFactor',
  'signUpWithInvitation',
  // The playground is a client of the chat, and sees what it does as one does.
  'chatCreateConversation',
  'chatCreateMessage',
  'chatCreateUser',
  // The list of deliveries stays as it is while it is read.
  'pauseDeliveries',
  'resumeDeliveries',
  // They are POSTs so that their codes are in no address, and only read.
  'getInvitation',
  'getPasswordReset',
  // Their result is shown once, or is to be seen nowhere.
  'requestPasswordReset',
  'renewWorkspaceInvitation',
  'revokeUserKeys',
  'rotateBotSigningSecrets',
  'rotateIntegrationSigningSecrets',
  'startSecondFactor',
  // They lead to another page, and change nothing yet.
  'connectSingleSignOn',
  'startSingleSignOn',
  // They ask the browser, and change nothing yet.
  'startPasskey',
  'startPasskeySignIn',
]

/** The operations that the dashboard calls by a function, without those that only read. */
async function changedBy(name: string): Promise<string[]> {
  const paths = await readdir(sources, { recursive: true })
  const texts = await Promise.all(
    paths
      .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
      .map((path) => readFile(join(sources, path), 'utf8')),
  )
  const pattern = new RegExp(`\\b${name}\\((?:[^()']|\\([^()]*\\))*'(\\w+)'`, 'g')
  const ids = texts.flatMap((text) => [...text.matchAll(pattern)].map(([, id]) => id))
  const writing = new Set<string>(
    allOperations.filter(({ method }) => method !== 'GET').map(({ id }) => id),
  )
  return [...new Set(ids)].flatMap((id) => (id !== undefined && writing.has(id) ? [id] : []))
}

describe('the table of what operations change', () => {
  it('has every operation by which a screen changes something', async () => {
    const called = await changedBy('call')
    expect(called.length).toBeGreaterThan(10)
    const known = [...Object.keys(changes), ...withoutTable]
    expect(called.filter((id) => !known.includes(id))).toEqual([])
  })

  it('has no operation after which no screen reads again what changed', async () => {
    const used = new Set([...(await changedBy('change')), ...(await changedBy('refreshAfter'))])
    expect(Object.keys(changes).filter((id) => !used.has(id))).toEqual([])
  })
})
