import { expect, it } from 'vitest'
import { runAsPasted, tourOf } from '../documents.js'
import { sqliteEngine } from '../engines.js'
import { startTestServer } from '../harness.js'
import { settle } from '../tenant.js'

it('the commands of the guide back a running server up, verify it and restore it', async () => {
  const server = await startTestServer(sqliteEngine)
  try {
    await settle(server, server)
    const tour = await tourOf('docs/guides/backup.md')
    // The commands report on standard error.
    const written = await runAsPasted(`exec 2>&1\n${tour}ls restored\n`, server)
    expect(written).toMatch(/The backup \S+ is in \S+backups: 0 contents/)
    expect(written).toMatch(/is complete: \d+ rows/)
    expect(written).toMatch(/was restored to \S+restored, and compared/)
    expect(written.trim().split('\n').slice(-5)).toEqual(
      expect.arrayContaining(['admin-token', 'botstead.db', 'secret']),
    )
    expect(written).not.toContain('restoring')
  } finally {
    await server.close()
  }
})
