import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { existingClient } from '../existing-clients.js'
import { startServerProcess } from '../processes.js'
import { deployBot, program } from './hosted.js'

const token = 'a-token-for-tests-only'

it('runs code where the folder for temporary files has a path that is too long for sockets', async () => {
  await using place = await createCommandPlace()
  for (const length of [1, 60, 70, 200]) {
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
    const bot = await deployBot(server, program('return { length: input.length }'))
    expect(await bot.call({ length })).toEqual({ length })
  }
})
