import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { existingClient } from '../existing-clients.js'
import { startServerProcess } from '../processes.js'
import { deployBot, program } from './hosted.js'

const token = 'a-token-for-tests-only'

it('refuses code with a reason where the path of its socket would be too long, and goes on', async () => {
  await using place = await createCommandPlace()
  for (const length of [60, 70, 80, 200]) {
    const folder = join(place.dataDir, 'x'.repeat(length))
    await mkdir(folder)
    await using started = await startServerProcess({
      ...place.environment,
      TMPDIR: folder,
      BOTSTEAD_ADMIN_TOKEN: token,
      LOG_LEVEL: 'fatal',
    })
    const { workspaces } = await existingClient({
      url: started.url,
      token,
      workspaceId: '',
    }).listWorkspaces({})
    const server = { url: started.url, token, workspaceId: workspaces[0]?.id ?? '' }
    await expect(deployBot(server, program(''))).rejects.toMatchObject({
      type: 'Runtime',
      message: expect.stringMatching(/bytes too long for sockets .* in TMPDIR/),
    })
    expect((await fetch(`${started.url}/healthz`)).status).toBe(200)
  }
})
