import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { useServer } from '../harness.js'
import { runCommand } from '../processes.js'
import { untilIndexed, uploadText } from '../tenant.js'

const lines = (...rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n')

describe('botstead eval', () => {
  const server = useServer()
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-questions-'))
    await writeFile(
      join(folder, 'corpus.jsonl'),
      lines(
        { _id: 'd1', title: 'Stopping', text: 'Press the red button.' },
        { _id: 'd2', title: 'Oil', text: 'Change the oil every 500 hours.' },
      ),
    )
    await writeFile(
      join(folder, 'queries.jsonl'),
      lines(
        { _id: 'q1', text: 'Which button is red?' },
        { _id: 'q2', text: 'When is oil changed?' },
        { _id: 'q3', text: 'Who made it?' },
      ),
    )
    await writeFile(join(folder, 'qrels.tsv'), 'q1\td1\t1\nq2\td2\t1\nq2\td7\t1\nq8\td1\t1\n')
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('measures, compares weights, and reports judgements without a document or question', async () => {
    const offTopic = join(folder, 'off-topic.jsonl')
    await writeFile(
      offTopic,
      lines({ _id: 'o1', text: 'Who wrote Faust?' }, { _id: 'o2', text: 'Red' }),
    )
    const asked = ['eval', '--dataset', folder, '--settle', '0']
    const weights = ['--weights', 'keyword=.6,grams=.4', '--weights', 'semantic=1']
    const { status, stdout, stderr } = await runCommand(
      [...asked, '--misses', '0', ...weights, '--off-topic', offTopic],
      {},
    )
    expect(status).toBe(0)
    expect(stdout).toMatch(/^2 documents, 2 questions\nweights {4}keyword 0.6, grams 0.4\n/)
    // Two passages are too few for vectors, so that nothing is found without the other retrievers.
    expect(stdout).toMatch(/weights {4}semantic 1\nnDCG@10 {4}0.0000 {2}-\d.\d+ \(p /)
    expect(stdout).toContain('Recall@10  0.7500\n')
    // One of the two finds as much as possible.
    expect(stdout).toMatch(
      /separation 0\.[5-7]\d+\n {2}answered {3}best scores: median [01]\.\d\d, /,
    )
    expect(stdout).toMatch(
      /off topic {2}best scores: median (?:1\.00|0\.9\d), highest tenth from (?:1\.00|0\.9\d)\n/,
    )
    expect(stdout).toMatch(
      / {2}minScore 0\.40 \(advised\) keeps \d+\.\d % of the answered, refuses 50\.0 % of the off topic\n/,
    )
    expect(stdout).toMatch(/ {2}minScore [01]\.\d\d \(suggested\) keeps /)
    expect(stdout).toContain('MRR@10     1.0000\n')
    expect(stdout).not.toMatch(/worst|highest off topic/)
    expect(stderr).toContain('1 judged documents are not there and count as not found: d7\n')
    expect(stderr).toContain('1 judged questions are not in queries.jsonl: q8\n')
    expect(stderr).toContain('1 questions have no right document and are left out: q3\n')
  })

  it('reads questions with their right documents in the same line', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'botstead-exported-'))
    await writeFile(join(folder, 'corpus.jsonl'), lines({ _id: 'd1', text: 'The red button.' }))
    await writeFile(
      join(folder, 'queries.jsonl'),
      lines({ _id: 'q1', text: 'Which button is red?', relevant: { d1: 1 } }),
    )
    const { status, stdout } = await runCommand(
      ['eval', '--dataset', folder, '--settle', '0', '--misses', '0'],
      {},
    )
    await rm(folder, { recursive: true, force: true })
    expect(status).toBe(0)
    expect(stdout).toContain('1 documents, 1 questions\nnDCG@10    1.0000\n')
  })

  it('suggests a threshold for a set that has questions without an answer', async () => {
    const own = await mkdtemp(join(tmpdir(), 'botstead-threshold-'))
    await using _ = { [Symbol.asyncDispose]: () => rm(own, { recursive: true }) }
    await writeFile(
      join(own, 'corpus.jsonl'),
      lines(
        { _id: 'd1', title: 'Stopping', text: 'Press the red button.' },
        { _id: 'd2', title: 'Oil', text: 'Change the oil every 500 hours.' },
      ),
    )
    await writeFile(
      join(own, 'queries.jsonl'),
      lines(
        { _id: 'q1', text: 'Which button is red?', relevant: { d1: 1 } },
        { _id: 'q2', text: 'When is oil changed?', relevant: { d2: 1 } },
        { _id: 'q3', text: 'Who wrote Faust?', relevant: {} },
        { _id: 'q4', text: 'What is love?' },
      ),
    )
    const { status, stdout, stderr } = await runCommand(
      ['eval', '--dataset', own, '--settle', '0', '--json', '-'],
      {},
    )
    expect(status).toBe(0)
    expect(stderr).toContain('1 questions have no right document and are left out: q4\n')
    const results = JSON.parse(stdout)
    expect(results).toMatchObject({
      questions: 2,
      thresholds: {
        advised: { minScore: 0.4, kept: 1, refused: 1 },
        suggested: { kept: 1, refused: 1 },
      },
      offTopic: [{ id: 'q3', found: [] }],
    })
    const { minScore } = results.thresholds.suggested
    expect(minScore).toBeGreaterThan(0)
    for (const { found } of results.answers) expect(found[0].score).toBeGreaterThan(minScore)
  })

  it('prints what it measured even if the file for the results cannot be written', async () => {
    const nowhere = join(folder, 'none', 'results.json')
    const { status, stdout, stderr } = await runCommand(
      ['eval', '--dataset', folder, '--settle', '0', '--json', nowhere],
      {},
    )
    expect(status).toBe(1)
    expect(stderr).toContain(nowhere)
    expect(stdout).toContain('nDCG@10')
  })

  it('searches the files of a folder, and those that a bot has', async () => {
    const own = await mkdtemp(join(tmpdir(), 'botstead-own-'))
    await using _ = { [Symbol.asyncDispose]: () => rm(own, { recursive: true }) }
    await mkdir(join(own, 'documents', 'deep'), { recursive: true })
    await writeFile(join(own, 'documents', 'deep', 'stop now.html'), '<p>Press the red button.</p>')
    await writeFile(join(own, 'documents', 'oil.md'), '# Oil\n\nChange it every 500 hours.')
    await writeFile(
      join(own, 'queries.jsonl'),
      lines(
        { _id: 'q1', text: 'Which button is red?', relevant: { 'deep/stop now.html': 1 } },
        { _id: 'q2', text: 'When is oil changed?', relevant: { 'oil.md': 1, 'gone.md': 1 } },
      ),
    )
    const asked = ['eval', '--dataset', own, '--settle', '0', '--misses', '0']
    const fresh = await runCommand([...asked, '--documents', join(own, 'documents')], {})
    expect(fresh.stderr).toContain('1 judged documents are not there')
    expect(fresh.stdout).toMatch(/^2 documents, 2 questions\n/)
    expect(fresh.stdout).toContain('Recall@10  0.7500\n')

    const { bot } = await server().client().createBot()
    const client = server().client({ botId: bot.id })
    const button = { key: 'deep/stop now.html', text: '<p>Press the red button.</p>' }
    const { id } = await uploadText(client, button.key, button.text, true)
    await untilIndexed(client, id)
    const { url, token } = server()
    const there = await runCommand(
      [...asked, '--skip-upload', '--url', url, '--token', token, '--bot', bot.id],
      {},
    )
    expect(there.stderr).toContain(
      '2 judged documents are not there and count as not found: oil.md',
    )
    expect(there.stdout).toMatch(/^1 documents, 2 questions\n/)
    expect(there.stdout).toContain('Recall@10  0.5000\n')
  })

  it('lists the worst questions, and compares with files that lack them', async () => {
    const wrong = join(folder, 'wrong')
    await mkdir(wrong)
    await copyFile(join(folder, 'corpus.jsonl'), join(wrong, 'corpus.jsonl'))
    const lengthy = `Is oil ${'really '.repeat(20)}red?`
    await writeFile(
      join(wrong, 'queries.jsonl'),
      lines(
        { _id: 'q1', text: 'Which button is red?' },
        { _id: 'q2', text: 'When is oil changed?' },
        { _id: 'q3', text: 'Zebra crossing' },
        { _id: 'q4', text: lengthy },
      ),
    )
    const grades = ['q1\td1\t1', 'q2\td1\t1', 'q3\td2\t1', 'q4\td1\t1', 'q4\td2\t1', 'q4\td7\t2']
    await writeFile(join(wrong, 'qrels.tsv'), grades.join('\n'))
    const offTopic = join(wrong, 'off-topic.jsonl')
    await writeFile(
      offTopic,
      lines({ _id: 'o1', text: 'Who wrote Faust?' }, { _id: 'o2', text: 'Red' }),
    )
    const json = join(wrong, 'results.json')
    const options = ['eval', '--dataset', wrong, '--settle', '0', '--off-topic', offTopic]
    const { status, stdout } = await runCommand([...options, '--json', json], {})
    expect(status).toBe(0)
    const [, questions = ''] = stdout.split(/^(?=worst)/m)
    expect(questions).toMatch(
      /^worst questions, 3 of 3 with nDCG below 1\n {2}0\.00 {2}q2 {2}When is oil/,
    )
    expect(questions).toMatch(
      / expected d1 not in the first 10; first came d2 \(0\.\d\d\) instead\n/,
    )
    expect(questions).toContain('expected d2 not in the first 10; nothing was found\n')
    expect(questions).toMatch(
      /q4 {2}Is oil (really )+…\n.* expected d7 not in the first 10, d1 at [12], d2 at [12]; /,
    )
    expect(questions).toMatch(
      /\nhighest off topic, 1 of 1 that found something\n {2}(?:1\.00|0\.9\d) {2}o2 {2}Red\n +found d1\n$/,
    )

    const results = JSON.parse(await readFile(json, 'utf8'))
    const score = expect.any(Number)
    expect(results.answers).toHaveLength(4)
    expect(results.answers.slice(0, 3)).toMatchObject([
      { id: 'q1', ndcg: 1, rank: 1, expected: ['d1'], found: [{ document: 'd1', score }] },
      { id: 'q2', ndcg: 0, rank: null, expected: ['d1'], found: [{ document: 'd2', score }] },
      { id: 'q3', ndcg: 0, rank: null, expected: ['d2'], found: [] },
    ])
    expect(results.offTopic).toMatchObject([
      { id: 'o1', found: [] },
      { id: 'o2', found: [{ document: 'd1', score }] },
    ])

    const { answers: _, offTopic: __, ...older } = results
    await writeFile(json, JSON.stringify(older))
    const again = await runCommand([...options, '--misses', '1', '--baseline', json], {})
    expect(again.status).toBe(0)
    expect(again.stdout).toMatch(/^nDCG@10 .* \+0\.0000 \(p 1\.0000: may be chance\)$/m)
    expect(again.stdout).toContain('worst questions, 1 of 3 with nDCG below 1\n')
    expect(again.stdout).not.toContain('q3')
  })

  it('refuses what it cannot measure before it starts a server', async () => {
    const unknown = await runCommand(['eval', '--dataset', folder, '--legs', 'keyword,magic'], {})
    expect(unknown).toMatchObject({ status: 1, stdout: '' })
    expect(unknown.stderr).toContain('It is a list of keyword, grams, semantic')
    const none = await runCommand(['eval', '--dataset', folder, '--weights', 'keyword=0'], {})
    expect(none).toMatchObject({ status: 1, stdout: '' })
    expect(none.stderr).toContain('some retriever must weigh more than 0')
    const nowhere = await runCommand(['eval', '--dataset', join(folder, 'none')], {})
    expect(nowhere).toMatchObject({ status: 1, stdout: '' })
    const missing = `There is no file ${join(folder, 'none', 'corpus.jsonl')}: name the folder`
    expect(nowhere.stderr).toContain(missing)
    const { url, token } = server()
    const there = ['eval', '--dataset', folder, '--url', url, '--token', token]
    const unnamed = await runCommand(there, {})
    expect(unnamed).toMatchObject({ status: 1, stdout: '' })
    expect(unnamed.stderr).toBe('With --url, give --bot too: the bot that gets the documents.\n')
    const noFile = await runCommand(['eval', '--dataset', folder, '--off-topic', folder], {})
    expect(noFile).toEqual({
      status: 1,
      stdout: '',
      stderr: `${folder} is a folder: name a file.\n`,
    })
    const noFolder = await runCommand(
      ['eval', '--dataset', folder, '--documents', join(folder, 'none')],
      {},
    )
    expect(noFolder.stderr).toBe(
      `There is no folder ${join(folder, 'none')}: check the name, and the folder in which you run the command.\n`,
    )
  })

  it('names the file and line of a malformed judgement, and a malformed baseline', async () => {
    const other = join(folder, 'other')
    await mkdir(other)
    for (const name of ['corpus.jsonl', 'queries.jsonl']) {
      await copyFile(join(folder, name), join(other, name))
    }
    await writeFile(join(other, 'qrels.tsv'), 'query-id\tcorpus-id\tscore\nq1\td1\t1\nq2 d2 1\n')
    const spaces = await runCommand(['eval', '--dataset', other], {})
    expect(spaces).toMatchObject({ status: 1, stdout: '' })
    expect(spaces.stderr).toBe(
      `${join(other, 'qrels.tsv')}, line 3: a question, a document and a grade up to 100, with tabs between them, belong here.\n`,
    )
    const baselines = [
      ['corpus.jsonl', 'is no result of "botstead eval --json".'],
      ['several.json', 'is of several weightings: a baseline has one.'],
    ] as const
    await writeFile(join(folder, 'several.json'), '[{"each":{}},{"each":{}}]')
    for (const [name, reason] of baselines) {
      const file = join(folder, name)
      const refused = await runCommand(['eval', '--dataset', folder, '--baseline', file], {})
      expect(refused).toMatchObject({ status: 1, stdout: '', stderr: `${file} ${reason}\n` })
    }
    const file = join(folder, 'none.json')
    const missing = await runCommand(['eval', '--dataset', folder, '--baseline', file], {})
    expect(missing).toMatchObject({ status: 1, stderr: `There is no file ${file}.\n` })
  })
})

describe('botstead eval --set', () => {
  const server = useServer()

  it('runs a set of the server, and compares with the run before', async () => {
    const { bot } = await server().client().createBot({ name: 'Press operator' })
    const client = server().client({ botId: bot.id })
    const button = await uploadText(client, 'button.txt', 'Press the red button.', true)
    const oil = await uploadText(client, 'oil.txt', 'Change the oil every 500 hours.', true)
    for (const { id } of [button, oil]) await untilIndexed(client, id)
    const { evaluationSet } = await client.createEvaluationSet({ name: 'Operators' })
    const cases = lines(
      { _id: 'q1', text: 'Which button is red?', relevant: { 'button.txt': 1 } },
      { _id: 'q2', text: 'When is oil changed?', relevant: { 'oil.txt': 1 } },
    )
    await client.importEvaluationCases({ id: evaluationSet.id, lines: cases })
    const { url, token } = server()
    const run = (...words: string[]) =>
      runCommand(['eval', '--url', url, '--token', token, '--bot', bot.id, ...words], {})
    const first = await run('--set', 'Operators')
    expect(first).toMatchObject({ status: 0 })
    expect(first.stdout).toMatch(/^2 cases, 2 with an answer\nnDCG@10 {4}1\.0000\n/)
    expect(first.stdout).toContain('misses: 0 of 2 with an answer\n')
    // As the dashboard prints it: a name, and the server of the environment.
    const printed = await runCommand(['eval', '--set', 'Operators', '--bot', 'Press operator'], {
      BOTSTEAD_URL: url,
      BOTSTEAD_TOKEN: token,
    })
    expect(printed).toMatchObject({ status: 0 })
    await client.deleteFile({ id: oil.id })
    // A run with other parameters is nothing to compare with.
    const { evaluationRun } = await client.startEvaluationRun({
      id: evaluationSet.id,
      parameters: { minScore: 1 },
    })
    await vi.waitFor(async () => {
      const found = await client.getEvaluationRun({ id: evaluationSet.id, runId: evaluationRun.id })
      expect(found.evaluationRun.state).toBe('completed')
    })
    const second = await run('--set', evaluationSet.id)
    expect(second.stdout).toMatch(/nDCG@10 {4}0\.5000 {2}-0\.5000 \(p /)
    expect(second.stdout).toContain('1 cases have lost what they refer to\n')
    expect(second.stdout).toContain('0 better, 1 worse, 1 documents changed\n  oil.txt (removed)\n')
    expect(second.stdout).toContain('When is oil changed?\n        oil.txt is gone; ')
    const unknown = await run('--set', 'None')
    expect(unknown).toMatchObject({ status: 1, stdout: '' })
    expect(unknown.stderr).toContain('no evaluation set with the name or id None')
  })
})
