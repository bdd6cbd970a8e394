import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { addAccount } from '../../../../test/tenant.js'
import { describeSettings } from '../../../config/config.js'

const secret = 'a secret that nobody may read, 32 characters and more'

describeEachEngine('the state of the server', (engine) => {
  const server = useServer(engine, {
    BOTSTEAD_SECRET: secret,
    BOTSTEAD_MAX_MESSAGE_BYTES: ' 64KiB ',
    BOTSTEAD_DELIVERIES: '',
  })

  it('says what runs, where and since when', async () => {
    const client = server().client({ workspaceId: undefined })
    const state = await client.getServer()
    expect(state).toMatchObject({
      node: process.versions.node,
      address: server().url,
      contents: 'disk',
      database: { engine: engine.name, version: expect.stringMatching(/^\d+\./) },
    })
    expect(state.version).toMatch(/^\d+\.\d+\.\d+/)
    expect(state.database.usedBytes).toBeGreaterThan(0)
    for (const { freeBytes, usedBytes, totalBytes } of state.disks) {
      expect(freeBytes + usedBytes).toBe(totalBytes)
    }
    server().clock.advance(60_000)
    const later = await client.getServer()
    expect(later.startedAt).toBe(state.startedAt)
    expect(later.uptimeSeconds - state.uptimeSeconds).toBeGreaterThanOrEqual(60)
  })

  it('has the parts that the probe checks', async () => {
    const { checks } = await server().client().getReadiness()
    const { parts } = await server().client().getServer()
    expect(parts).toEqual(checks)
    expect(parts.map(({ name }) => name)).toEqual(expect.arrayContaining(['database', 'contents']))
  })

  it('says which part fails, and why', async () => {
    const { dataDir } = server().server.config
    await rename(join(dataDir, 'blobs'), join(dataDir, 'away'))
    try {
      const { parts } = await server().client().getServer()
      expect(parts).toContainEqual({ name: 'database', status: 'ok' })
      expect(parts.find(({ name }) => name === 'contents')).toMatchObject({
        status: 'failed',
        detail: expect.stringContaining('blobs'),
      })
    } finally {
      await rename(join(dataDir, 'away'), join(dataDir, 'blobs'))
    }
  })

  it('lists all settings with their origin, and no secret', async () => {
    const state = await server().client().getServer()
    const { settings } = state
    const ofCommands = ['BOTSTEAD_URL', 'BOTSTEAD_TOKEN', 'BOTSTEAD_BOT']
    const names = describeSettings().map(({ name }) => name)
    expect(settings.map(({ name }) => name)).toEqual(
      names.filter((name) => !ofCommands.includes(name)),
    )
    const of = (name: string) => settings.find((each) => each.name === name)
    expect(of('BOTSTEAD_SECRET')).toMatchObject({ value: '(set)', source: 'environment' })
    expect(of('BOTSTEAD_MAX_MESSAGE_BYTES')).toMatchObject({
      value: '64KiB',
      default: '128KiB',
      source: 'environment',
      needsRestart: true,
      meaning: 'Payload of one message.',
    })
    expect(of('BOTSTEAD_DELIVERIES')).toMatchObject({ value: '128', source: 'default' })
    expect(JSON.stringify(state)).not.toContain(secret)
  })

  it('is for the operator alone', async () => {
    const other = server().client(await addAccount(server()))
    await expect(other.getServer()).rejects.toMatchObject({
      type: 'Forbidden',
      message: expect.stringContaining('the account of the first start'),
    })
  })
})
