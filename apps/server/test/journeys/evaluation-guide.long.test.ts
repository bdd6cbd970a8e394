import { expect, it } from 'vitest'
import { runAsPasted, tourOf } from '../documents.js'
import { useServer } from '../harness.js'

const server = useServer()

it('the commands of the guide to evaluation measure the questions of the checkout', async () => {
  const commands = await tourOf('docs/guides/evaluation.md', 'questions')
  // A person waits until nothing changes any more.
  const quick = commands.replaceAll('npx botstead eval', 'npx botstead eval --settle 0')
  // Temporary servers read all guides again: besides the first one, only other weights need one.
  const upload = '--documents docs/guides'
  const ofBot = '--skip-upload --bot Reader'
  const soon = quick
    .split('\n')
    .map((line) => (/--(json|baseline|off-topic) /.test(line) ? line.replace(upload, ofBot) : line))
    .join('\n')
  // The folder has pictures, which cannot be indexed: the command says so, with status 1, which ends no shell of a person.
  const sync = 'npx botstead files sync'
  expect(soon.split(sync)).toHaveLength(2)
  const written = await runAsPasted(`exec 2>&1\n${soon.replace(sync, `! ${sync}`)}`, server())
  const measured = [...written.matchAll(/^(\d+) documents, 10 questions$/gm)]
  expect(measured.length).toBeGreaterThanOrEqual(6)
  for (const [, documents] of measured) expect(Number(documents)).toBeGreaterThan(25)
  expect(written).toMatch(/^\d+ sent \(.*\), 0 unchanged, \d+ searchable, \d+ not indexed\.$/m)
  // The right documents are there, and most of them are found.
  expect(written).not.toContain('are not there and count as not found')
  const recalls = [...written.matchAll(/^Recall@10 {2}(\S+)/gm)].map(([, recall]) => Number(recall))
  for (const recall of recalls) expect(recall).toBeGreaterThan(0.5)
  expect(written).toMatch(/^separation [01]\.\d+$/m)
  expect(written).toMatch(/^weights {4}keyword 0\.4/m)
  expect(written).toMatch(/^nDCG@10 .* \(p /m)
}, 300_000)
