import { beforeEach, describe, expect, it } from 'vitest'
import { ManualTime } from '../../../test/manual-time.js'
import type { ChatInstallation } from '../bots/bots/index.js'
import { type ChatAddresses, createChatAddresses } from './addresses.js'

const absent = { type: 'ResourceNotFound' }

describe('chat addresses', () => {
  let time: ManualTime
  let reads: number
  let stored: ChatInstallation | undefined
  let addresses: ChatAddresses

  beforeEach(() => {
    time = new ManualTime()
    reads = 0
    stored = {
      workspaceId: 'workspace',
      botId: 'bot',
      webhookId: 'hook',
      alias: 'chat',
      enabled: true,
      configuration: {},
    }
    addresses = createChatAddresses({
      clock: time,
      findInstallation: async () => {
        reads += 1
        return stored
      },
    })
  })

  it('are read once and then cached for five seconds', async () => {
    const first = await addresses.get('hook')
    time.advance(4999)
    expect(addresses.get('hook')).toBe(first)
    expect(reads).toBe(1)
    time.advance(1)
    await addresses.get('hook')
    expect(reads).toBe(2)
  })

  it('are read once for concurrent requests', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => addresses.get('hook')))
    expect(new Set(all).size).toBe(1)
    expect(reads).toBe(1)
  })

  it('stay the same object until they change', async () => {
    const first = await addresses.get('hook')
    time.advance(5000)
    expect(await addresses.get('hook')).toBe(first)
    if (stored) stored.configuration = { encryptionKey: 'new' }
    time.advance(5000)
    expect(await addresses.get('hook')).toMatchObject({ encryptionKey: 'new' })
  })

  it('treat an empty encryption key as none', async () => {
    if (stored) stored.configuration = { encryptionKey: '' }
    expect(await addresses.get('hook')).toMatchObject({ encryptionKey: undefined })
  })

  it('are not found when they are unknown or switched off', async () => {
    if (stored) stored.enabled = false
    await expect(addresses.get('hook')).rejects.toMatchObject(absent)
    stored = undefined
    await expect(addresses.get('hook')).rejects.toMatchObject(absent)
  })

  it('of a removed bot are refused at once', async () => {
    await addresses.get('hook')
    stored = undefined
    addresses.forget('another')
    expect(addresses.get('hook')).toMatchObject({ botId: 'bot' })
    addresses.forget('bot')
    await expect(addresses.get('hook')).rejects.toMatchObject(absent)
  })

  it('are not cached after a change when they were read before it', async () => {
    const early = addresses.get('hook')
    stored = undefined
    addresses.forget('bot')
    await early
    await expect(addresses.get('hook')).rejects.toMatchObject(absent)
  })
})
